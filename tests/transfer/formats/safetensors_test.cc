#include "millrace/transfer/formats/safetensors.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/temp_folder.h"
#include "tests/transfer/formats/bytes.h"

namespace millrace::transfer {
namespace {

using devices::DType;
using devices::Shape;
using millrace::testing::TempFolder;

constexpr DType kTypes[] = {
    DType::kI1,     DType::kI8,        DType::kI16,        DType::kI32,       DType::kI64,
    DType::kU8,     DType::kU16,       DType::kU32,        DType::kU64,       DType::kF16,
    DType::kBF16,   DType::kF32,       DType::kF64,        DType::kC64,       DType::kF8E4M3FN,
    DType::kF8E5M2, DType::kF8E8M0FNU, DType::kF8E4M3FNUZ, DType::kF8E5M2FNUZ};

// Arrays of every type, scalars and empty ones among them, with bytes of their own.
struct Sample {
  std::vector<NamedArray> arrays;
  std::vector<Bytes> contents;
};
Sample make_sample() {
  Sample sample;
  const auto add = [&](const std::string& name, const Shape& shape) {
    sample.contents.push_back(counting(shape.size_bytes()));
    if (shape.dtype() == DType::kI1) {
      for (std::byte& b : sample.contents.back()) b &= std::byte{1};
    }
    sample.arrays.push_back({name, shape, sample.contents.back()});
  };
  sample.contents.reserve(std::size(kTypes) + 3);
  for (const DType type : kTypes) add("of " + std::string(to_string(type)), Shape(type, {3, 5}));
  add("scalar", Shape(DType::kF32, {}));
  add("empty", Shape(DType::kF64, {4, 0, 2}));
  add("näme \"quoted\"\\\n", Shape(DType::kU8, {1}));
  return sample;
}

Bytes file_of(const std::string& header, std::size_t data_bytes) {
  Bytes bytes(8);
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = std::byte(header.size() >> (8 * i) & 0xff);
  const auto* text = reinterpret_cast<const std::byte*>(header.data());
  return bytes + Bytes(text, text + header.size()) + counting(data_bytes);
}
std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" +
         offsets + "}";
}

// The error of a file, which must name it.
Error error_of(const Bytes& file, const SafetensorsLimits& limits = {}) {
  const auto header = parse_safetensors(file, "f.safetensors", limits);
  if (header) {
    ADD_FAILURE() << "this was read";
    return Error(ErrorCode::kUnknown, "");
  }
  EXPECT_NE(header.error().message().find("f.safetensors"), std::string::npos);
  return header.error();
}
std::uint64_t offset_of(const Error& error) {
  const auto* position = error.detail<FilePosition>();
  return position == nullptr ? ~std::uint64_t{0} : position->offset;
}

TEST(SafetensorsTest, EveryTypeIsWrittenAndReadBack) {
  TempFolder folder;
  const Sample sample = make_sample();
  const std::string path = folder.file("a.safetensors");
  ASSERT_TRUE(write_safetensors_file(path, sample.arrays, {{"step", "7"}, {"ключ", "\"\n"}}));

  const auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_EQ(file->header().metadata, (SafetensorsMetadata{{"step", "7"}, {"ключ", "\"\n"}}));
  ASSERT_EQ(file->header().arrays.size(), sample.arrays.size());
  for (const NamedArray& wanted : sample.arrays) {
    const auto array = file->array(wanted.name);
    ASSERT_TRUE(array) << array.error().to_string();
    EXPECT_EQ(array->shape(), wanted.shape);
    EXPECT_TRUE(std::ranges::equal(array->bytes(), wanted.bytes)) << wanted.name;
    const auto address = reinterpret_cast<std::uintptr_t>(array->bytes().data());
    EXPECT_EQ(address % devices::byte_width(wanted.shape.dtype()), 0U) << wanted.name;
  }
  EXPECT_EQ(file->array("none").error().code(), ErrorCode::kNotFound);
}

TEST(SafetensorsTest, AnArrayOutlivesItsFile) {
  TempFolder folder;
  const Bytes content = counting(64);
  const NamedArray array = {"a", Shape(DType::kF32, {16}), content};
  const std::string path = folder.file("a.safetensors");
  ASSERT_TRUE(write_safetensors_file(path, {&array, 1}));
  const auto read = SafetensorsFile::open(path).value().array("a");
  ASSERT_TRUE(read);
  EXPECT_TRUE(std::ranges::equal(read->bytes(), content));
}

// A header of 57 bytes puts the arrays at byte 65 of the file.
TEST(SafetensorsTest, ArraysOfAFileWithoutPaddingAreAligned) {
  const std::string header = "{" + entry("a", "F64", "[2]", "[0,16]") + "}";
  const std::string padding(57 - header.size(), ' ');
  const Bytes file = file_of(header + padding, 16);
  ASSERT_EQ(file.size(), 8U + 57 + 16);
  TempFolder folder;
  const auto array = SafetensorsFile::open(folder.write("a", file)).value().array("a");
  ASSERT_TRUE(array);
  const auto address = reinterpret_cast<std::uintptr_t>(array->bytes().data());
  EXPECT_EQ(address % sizeof(double), 0U);
  EXPECT_TRUE(std::ranges::equal(array->bytes(), counting(16)));
  double last = 0;
  std::memcpy(&last, file.data() + 65 + sizeof last, sizeof last);
  EXPECT_EQ(array->as<double>()[1], last);  // undefined if it is misaligned
}

TEST(SafetensorsTest, HeaderIsPaddedWithSpacesToEightBytes) {
  for (std::size_t length = 1; length < 10; ++length) {
    const NamedArray array = {std::string(length, 'n'), Shape(DType::kF32, {}), {}};
    const auto layout = lay_out_safetensors({&array, 1});
    ASSERT_TRUE(layout);
    EXPECT_EQ(layout->front.size() % 8, 0U);
    EXPECT_EQ(layout->front[8], '{');
    EXPECT_EQ(layout->file_bytes, layout->front.size() + 4);
    const std::size_t brace = layout->front.find_last_not_of(' ');
    EXPECT_EQ(layout->front[brace], '}');
    EXPECT_LT(layout->front.size() - brace, 9U);
  }
}

TEST(SafetensorsTest, WhatCannotBeWrittenIsRefused) {
  const auto code = [](std::vector<NamedArray> arrays) {
    return lay_out_safetensors(arrays).error().code();
  };
  const Shape f32(DType::kF32, {});
  EXPECT_EQ(code({{"a", f32, {}}, {"a", f32, {}}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({{"__metadata__", f32, {}}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({{"\xff", f32, {}}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({{"a", Shape(DType::kU4, {2}), {}}}), ErrorCode::kUnimplemented);
  EXPECT_EQ(code({{"a", Shape(DType::kC128, {2}), {}}}), ErrorCode::kUnimplemented);
}

TEST(SafetensorsTest, AHeaderThatTheReaderRefusesIsNotWritten) {
  const NamedArray array = {"a", Shape(DType::kF32, {}), {}};
  const std::size_t length = lay_out_safetensors({&array, 1}).value().front.size() - 8;
  EXPECT_TRUE(lay_out_safetensors({&array, 1}, {}, {.header_bytes = length}));
  const auto longer = lay_out_safetensors({&array, 1}, {}, {.header_bytes = length - 1});
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_NE(longer.error().message().find("fewer or shorter names"), std::string::npos);
}

TEST(SafetensorsTest, TruncatedOrLengthenedAnywhereIsRefused) {
  const Bytes whole = file_of("{" + entry("a", "F32", "[2]", "[0,8]") + "}", 8);
  ASSERT_TRUE(parse_safetensors(whole, "f.safetensors"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Error error = error_of(first(whole, size));
    EXPECT_EQ(error.code(), ErrorCode::kDataLoss) << size;
    EXPECT_LE(offset_of(error), whole.size()) << size;
  }
  const Error longer = error_of(whole + bytes_of({0}));
  EXPECT_EQ(longer.code(), ErrorCode::kDataLoss);
  EXPECT_EQ(offset_of(longer), whole.size());
}

TEST(SafetensorsTest, HeaderLengthIsCheckedAgainstTheFileAndTheLimit) {
  const Bytes whole = file_of("{}", 0);
  EXPECT_TRUE(parse_safetensors(whole, "f.safetensors"));
  EXPECT_EQ(error_of(with_byte(whole, 7, 0x80)).code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(error_of(with_byte(whole, 0, 3)).code(), ErrorCode::kDataLoss);
  EXPECT_EQ(error_of(whole, {.header_bytes = 1}).code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(offset_of(error_of(file_of(" {}", 0))), 8U);
}

TEST(SafetensorsTest, WrongHeadersAreRefusedWithAPositionAndWords) {
  const std::string a = entry("a", "F32", "[2]", "[0,8]");
  struct Case {
    std::string header;
    std::string words;
    ErrorCode code = ErrorCode::kDataLoss;
  };
  const std::string deep(100'000, '[');
  const Case cases[] = {
      {"{" + a + "," + a + "}", "array 'a' is there twice"},
      {"{" + a, "no JSON"},
      {"{" + a + "}}", "no JSON"},
      {"{\"a\":" + deep, "list has no place"},
      {"{\"a\":1}", "number has no place"},
      {"{\"a\":{}}", "lacks"},
      {"{" + entry("a", "F32", "[2]", "[0]") + "}", "two numbers"},
      {"{" + entry("a", "F32", "[2]", "[0,8,9]") + "}", "two numbers"},
      {"{" + entry("a", "F32", "[-2]", "[0,8]") + "}", "negative"},
      {"{" + entry("a", "F32", "[2.5]", "[0,8]") + "}", "no whole number"},
      {"{" + entry("a", "F32", "[1e99]", "[0,8]") + "}", "no whole number"},
      {"{" + entry("a", "F32", "[18446744073709551616]", "[0,8]") + "}", "no whole number"},
      {"{" + entry("a", "F32", "[[2]]", "[0,8]") + "}", "list has no place"},
      {"{" + entry("a", "F32", "[\"2\"]", "[0,8]") + "}", "string has no place"},
      {"{" + entry("a", "F32", "null", "[0,8]") + "}", "null"},
      {R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "twice"},
      {R"({"a":{"dtype":"F32","more":1,"shape":[2]}})", "lacks"},
      {R"({"a":{"dtype":"F32","more":,"shape":[2],"data_offsets":[0,8]}})", "no JSON"},
      {R"({"a":{"dtype":"F32","more":[1,"shape":[2],"data_offsets":[0,8]}})", "no JSON"},
      {R"({"a":null})", "array 'a': null"},
      {R"({"__metadata__":{"a":null},)" + a + "}", "__metadata__: null"},
      {R"({"__metadata__":null,"__metadata__":{},)" + a + "}", "twice"},
      {R"({"__metadata__":{"a":"1","a":"2"},)" + a + "}", "twice"},
      {R"({"__metadata__":{},"__metadata__":{},)" + a + "}", "twice"},
      {R"({"__metadata__":{"a":1},)" + a + "}", "__metadata__: a number"},
      {R"({"__metadata__":"a",)" + a + "}", "__metadata__: a string"},
      {"{\"\xff\":{}}", "no JSON"},
      {"{" + entry("a", "F32", "[3]", "[0,8]") + "}", "takes 12"},
      {"{" + entry("a", "F64", "[2]", "[0,8]") + "}", "takes 16"},
      {"{" + entry("a", "F32", "[3]", "[0,12]") + "}", "not among"},
      {"{" + entry("a", "F32", "[2]", "[8,0]") + "}", "not among"},
      {"{" + entry("a", "F32", "[1]", "[0,4]") + "}", "oversized"},
      {"{" + entry("a", "F32", "[1]", "[4,8]") + "}", "no array has"},
      {"{" + a + "," + entry("b", "F32", "[1]", "[4,8]") + "}", "two arrays"},
      {"{" + a + "," + entry("b", "F32", "[2]", "[0,8]") + "}", "two arrays"},
      {"{" + entry("a", "F32", "[4294967296,4294967296,4]", "[0,8]") + "}", "2^63"},
      {"{" + entry("a", "F32", "[4294967296,4294967296,0]", "[0,0]") + "}", "2^63"},
      {"{" + entry("a", "F32", "[9223372036854775808]", "[0,8]") + "}", "2^63"},
      {"{" + entry("a", "F4", "[2]", "[0,8]") + "}", "counterpart", ErrorCode::kUnimplemented},
      {"{" + entry("a", "f32", "[2]", "[0,8]") + "}", "counterpart", ErrorCode::kUnimplemented},
      {"{" + entry("a", "F32", "[1,1,1,1,1,1,1,1,1,1,1,1,2]", "[0,8]") + "}", "dimensions",
       ErrorCode::kUnimplemented},
  };
  for (const Case& c : cases) {
    const Error error = error_of(file_of(c.header, 8));
    EXPECT_EQ(error.code(), c.code) << error.message();
    EXPECT_NE(error.message().find(c.words), std::string::npos)
        << error.message() << "\n  of " << c.header.substr(0, 100);
    EXPECT_GE(offset_of(error), 8U) << error.message();
    EXPECT_LE(offset_of(error), 16 + c.header.size()) << error.message();
  }
}

// The header says its length, so the check comes before all of it is in memory.
TEST(SafetensorsTest, LongListsAreRefusedWhereTheyGetTooLong) {
  std::string ones = "1";
  for (int i = 0; i < 100'000; ++i) ones += ",1";
  const Error dims = error_of(file_of("{" + entry("a", "U8", "[" + ones + "]", "[0,1]") + "}", 1));
  EXPECT_EQ(dims.code(), ErrorCode::kUnimplemented);
  EXPECT_NE(dims.message().find("array 'a': it has more than 64 dimensions"), std::string::npos)
      << dims.message();
  EXPECT_LT(offset_of(dims), 200U);
  const Error offsets = error_of(file_of("{" + entry("a", "U8", "[1]", "[" + ones + "]") + "}", 1));
  EXPECT_EQ(offsets.code(), ErrorCode::kDataLoss);
  EXPECT_LT(offset_of(offsets), 200U);
}

// As the package does.
TEST(SafetensorsTest, UnknownFieldsOfAnArrayAndMetadataOfNullAreLeftOut) {
  const std::string deep = std::string(1000, '[') + std::string(1000, ']');
  for (const std::string& value :
       {std::string("null"), std::string("true"), std::string("-1"), std::string("7"),
        std::string("0.5"), std::string(R"("text")"), std::string("[]"), std::string("{}"),
        std::string(R"({"dtype":"U8","shape":[[null,{"data_offsets":[1,2,3]}]],"x":-1e9})"),
        deep}) {
    const std::string header = R"({"__metadata__":null,"a":{"more":)" + value +
                               R"(,"dtype":"F32","more":)" + value +
                               R"(,"shape":[2],"data_offsets":[0,8],"last":)" + value + "}}";
    const auto read = parse_safetensors(file_of(header, 8), "f.safetensors");
    ASSERT_TRUE(read) << read.error().to_string();
    ASSERT_EQ(read->arrays.size(), 1U);
    EXPECT_EQ(read->arrays[0].shape, Shape(DType::kF32, {2}));
    EXPECT_TRUE(read->metadata.empty());
  }
}

TEST(SafetensorsTest, OrderOfKeysBlanksAndEmptyArraysDoNotMatter) {
  const std::string header =
      "{ " + entry("b", "U8", "[4]", "[4, 8]") + " ,\n" + entry("none", "F64", "[0]", "[4,4]") +
      R"(, "a": {"data_offsets": [0, 4], "shape": [ ], "dtype": "F32"})" + "}   ";
  const auto read = parse_safetensors(file_of(header, 8), "f.safetensors");
  ASSERT_TRUE(read) << read.error().to_string();
  ASSERT_EQ(read->arrays.size(), 3U);
  EXPECT_EQ(read->arrays[0].name, "a");
  EXPECT_EQ(read->arrays[1].name, "none");
  EXPECT_EQ(read->arrays[2].name, "b");
  EXPECT_EQ(read->arrays[2].offset, 8 + header.size() + 4);
}

// The package of PyPI reads what we write, and we read what it writes.
TEST(SafetensorsTest, ThePackageOfPyPiReadsAndWritesTheSame) {
  const std::string python = millrace::testing::source_folder() + "/.venv-peers/bin/python";
  const std::string quiet = " >/dev/null 2>&1";
  if (std::system((python + " -c 'import safetensors'" + quiet).c_str()) != 0) {
    GTEST_SKIP() << "no Python package 'safetensors' in .venv-peers: tools/peers installs it";
  }
  TempFolder folder;
  const Sample sample = make_sample();
  const std::string ours = folder.file("ours.safetensors");
  const std::string theirs = folder.file("theirs.safetensors");
  ASSERT_TRUE(write_safetensors_file(ours, sample.arrays, {{"step", "468"}}));
  // Prints a line per array, then writes the same arrays by itself.
  const std::string script = folder.file("read.py");
  std::ofstream(script) << R"(
import ctypes, sys, zlib, safetensors
with open(sys.argv[1], "rb") as file:
    arrays = safetensors.deserialize(file.read())
for name, array in sorted(arrays):
    data = bytes(array["data"])
    print(ascii(name), array["dtype"], list(array["shape"]), zlib.crc32(data))
names = {"F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu",
         "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz", "BOOL": "bool",
         "BF16": "bfloat16", "C64": "complex64"}
def name_of(dtype):
    kind = {"F": "float", "I": "int", "U": "uint"}
    return names.get(dtype) or kind[dtype[0]] + dtype[1:]
with safetensors.safe_open(sys.argv[1], framework="np") as file:
    assert file.metadata() == {"step": "468"}, file.metadata()
buffers = []
def spec(array):
    data = bytes(array["data"])
    buffers.append(ctypes.create_string_buffer(data, len(data) + 1))
    return safetensors.TensorSpec(dtype=name_of(array["dtype"]), shape=list(array["shape"]),
                                  data_ptr=ctypes.addressof(buffers[-1]), data_len=len(data))
safetensors.serialize_file({name: spec(array) for name, array in arrays}, sys.argv[2],
                           metadata={"step": "468"})
)";
  const std::string command = python + " " + script + " " + ours + " " + theirs + " 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string printed;
  for (char text[256]; std::fgets(text, sizeof text, pipe) != nullptr;) printed += text;
  ASSERT_EQ(::pclose(pipe), 0) << printed;

  EXPECT_EQ(std::ranges::count(printed, '\n'), std::ssize(sample.arrays)) << printed;
  EXPECT_NE(printed.find("'of f32' F32 [3, 5] "), std::string::npos) << printed;
  EXPECT_NE(printed.find("'of bf16' BF16 [3, 5] "), std::string::npos) << printed;
  EXPECT_NE(printed.find("'scalar' F32 [] "), std::string::npos) << printed;
  EXPECT_NE(printed.find("'empty' F64 [4, 0, 2] 0"), std::string::npos) << printed;
  const auto file = SafetensorsFile::open(theirs);
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_EQ(file->header().metadata, (SafetensorsMetadata{{"step", "468"}}));
  for (const NamedArray& wanted : sample.arrays) {
    const auto array = file->array(wanted.name);
    ASSERT_TRUE(array) << array.error().to_string() << printed;
    EXPECT_EQ(array->shape(), wanted.shape);
    EXPECT_TRUE(std::ranges::equal(array->bytes(), wanted.bytes)) << wanted.name;
  }
}

}  // namespace
}  // namespace millrace::transfer
