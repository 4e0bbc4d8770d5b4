#include "millrace/transfer/formats/npy.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"
#include "tests/transfer/formats/bytes.h"

namespace millrace::transfer {
namespace {

using devices::DType;
using devices::Shape;
using millrace::testing::TempFolder;

Bytes bytes_of_text(const std::string& text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return Bytes(data, data + text.size());
}

// A file of version 1.0 around this dictionary.
Bytes npy(const std::string& dict, const Bytes& elements = {}) {
  std::string header = "\x93NUMPY";
  header += '\1';
  header += '\0';
  header += static_cast<char>(dict.size() & 0xff);
  header += static_cast<char>(dict.size() >> 8);
  return bytes_of_text(header + dict) + elements;
}

std::string dict_of(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

Result<devices::HostArray> read(const Bytes& bytes, const NpyOptions& options = {}) {
  MemorySource source("f.npy", bytes);
  return read_npy(source, options);
}

template <class T>
std::vector<T> values(const devices::HostArray& array) {
  std::vector<T> out(static_cast<std::size_t>(array.shape().elements()));
  std::memcpy(out.data(), array.bytes().data(), array.bytes().size());
  return out;
}

TEST(NpyTest, EveryTypeThatNumPyKnowsIsWrittenAndReadBack) {
  TempFolder folder;
  for (const DType type :
       {DType::kI1, DType::kI8, DType::kI16, DType::kI32, DType::kI64, DType::kU8, DType::kU16,
        DType::kU32, DType::kU64, DType::kF16, DType::kBF16, DType::kF32, DType::kF64, DType::kC64,
        DType::kC128, DType::kF8E4M3FN, DType::kF8E5M2, DType::kF6E2M3FN, DType::kF4E2M1FN}) {
    const Shape shape(type, {3, 5});
    const Bytes content = counting(shape.size_bytes());
    const std::string path = folder.file("a.npy");
    ASSERT_TRUE(write_npy_file(path, shape, content).has_value()) << shape.to_string();
    const Result<devices::HostArray> array = read_npy_file(path, {.as = type});
    ASSERT_TRUE(array.has_value()) << array.error().message();
    EXPECT_EQ(array->shape(), shape);
    EXPECT_TRUE(std::ranges::equal(array->bytes(), content));
  }
}

// The bytes that numpy.save writes for arange(6, dtype=float32).reshape(2, 3), as far as they are
// header.
TEST(NpyTest, HeaderIsWhatNumPyWrites) {
  const std::string header = make_npy_header(Shape(DType::kF32, {2, 3})).value();
  EXPECT_EQ(header.size(), 128u);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(header.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(header.back(), '\n');
}

TEST(NpyTest, ShapesOfNoneOneAndManyDimensions) {
  EXPECT_EQ(read(npy(dict_of("<i2", "()"), counting(2)))->shape(), Shape(DType::kI16, {}));
  EXPECT_EQ(read(npy(dict_of("<i2", "(3,)"), counting(6)))->shape(), Shape(DType::kI16, {3}));
  EXPECT_EQ(read(npy(dict_of("<i2", "(3, 0, 2)")))->shape(), Shape(DType::kI16, {3, 0, 2}));
}

TEST(NpyTest, KeysComeInAnyOrderWithAnyBlanksAndQuotes) {
  const Bytes file =
      npy("{ \"shape\":(2 , 1),'fortran_order' : False,'descr':'|u1'}  \n", counting(2));
  EXPECT_EQ(read(file)->shape(), Shape(DType::kU8, {2, 1}));
}

TEST(NpyTest, VersionTwoHasAWideHeaderLength) {
  const std::string dict = dict_of("|u1", "(2,)");
  std::string header = "\x93NUMPY";
  header += std::string("\2\0", 2);
  header += static_cast<char>(dict.size());
  header += std::string("\0\0\0", 3);
  EXPECT_EQ(read(bytes_of_text(header + dict) + counting(2))->shape(), Shape(DType::kU8, {2}));
}

TEST(NpyTest, OtherByteOrderIsSwappedWithinEachNumber) {
  EXPECT_EQ(values<std::int32_t>(*read(npy(dict_of(">i4", "(1,)"), bytes_of({0, 0, 1, 2})))),
            std::vector<std::int32_t>{258});
  const Bytes one_and_two = bytes_of({0x3f, 0x80, 0, 0, 0x40, 0, 0, 0});
  EXPECT_EQ(values<float>(
                Result<devices::HostArray>(read(npy(dict_of(">f4", "(2,)"), one_and_two))).value()),
            (std::vector<float>{1, 2}));
  const devices::HostArray complex = read(npy(dict_of(">c8", "(1,)"), one_and_two)).value();
  float parts[2];
  std::memcpy(parts, complex.bytes().data(), sizeof parts);
  EXPECT_EQ(parts[0], 1);
  EXPECT_EQ(parts[1], 2);
}

TEST(NpyTest, FortranOrderIsBroughtIntoRowMajorOrder) {
  const devices::HostArray array =
      read(npy(dict_of("|i1", "(2, 3)", true), bytes_of({1, 4, 2, 5, 3, 6}))).value();
  EXPECT_EQ(values<std::int8_t>(array), (std::vector<std::int8_t>{1, 2, 3, 4, 5, 6}));
  const Bytes cube = counting(24);
  const devices::HostArray c = read(npy(dict_of("|u1", "(2, 3, 4)", true), cube)).value();
  // Element (1, 2, 3) lies at 1 + 2 * 2 + 3 * 6 in the file and last in memory.
  EXPECT_EQ(c.bytes().back(), cube[23]);
  EXPECT_EQ(c.bytes()[1], cube[6]);
}

TEST(NpyTest, EveryBadFileNamesItsByte) {
  const Bytes good = npy(dict_of("<f4", "(2,)"), counting(8));
  const std::size_t elements = good.size() - 8;
  struct Row {
    Bytes bytes;
    ErrorCode code;
    std::string words;
  };
  for (const Row& row : {
           Row{{}, ErrorCode::kDataLoss, "byte 0: no NPY file"},
           Row{with_byte(good, 1, 'X'), ErrorCode::kDataLoss, "byte 0: no NPY file"},
           Row{first(good, 9), ErrorCode::kDataLoss, "byte 9: truncated"},
           Row{first(good, 30), ErrorCode::kDataLoss, "byte 30: truncated"},
           Row{first(good, elements + 5), ErrorCode::kDataLoss, "truncated: its header asks"},
           Row{good + bytes_of({1}), ErrorCode::kDataLoss, "oversized"},
           Row{with_byte(good, 6, 2), ErrorCode::kResourceExhausted, "claims"},
           Row{with_byte(good, 6, 0), ErrorCode::kUnimplemented, "byte 6: NPY version 0;"},
           Row{with_byte(good, 6, 9), ErrorCode::kUnimplemented, "byte 6: NPY version 9;"},
           Row{npy(dict_of("<U7", "(2,)")), ErrorCode::kUnimplemented,
               "byte 20: element type '<U7'"},
           Row{npy(dict_of("<V2", "(2,)")), ErrorCode::kUnimplemented, "'<V2'"},
           Row{npy(dict_of("?f4", "(2,)")), ErrorCode::kUnimplemented, "'?f4'"},
           Row{npy(dict_of("<f4", "(-2,)")), ErrorCode::kDataLoss, "a dimension"},
           Row{npy(dict_of("<f4", "(99999999999999999999,)")), ErrorCode::kDataLoss, "a dimension"},
           Row{npy(dict_of("<f4", "(9999999999, 9999999999)")), ErrorCode::kResourceExhausted,
               "limit"},
           Row{npy(dict_of("<f4", "(1,1,1,1,1,1,1,1,1,1,1,1,1)")), ErrorCode::kDataLoss,
               "more dimensions"},
           Row{npy(dict_of("<f4", "(2 3)")), ErrorCode::kDataLoss, "',' or ')'"},
           Row{npy("{'descr': [('a', '<f4')], }"), ErrorCode::kDataLoss, "named fields"},
           Row{npy("{'descr': '<f4', 'shape': (2,)}"), ErrorCode::kDataLoss, "lacks"},
           Row{npy("{'descr': '<f4', 'descr': '<f4'}"), ErrorCode::kDataLoss, "twice"},
           Row{npy("{'descr: 2"), ErrorCode::kDataLoss, "no end"},
           Row{npy(dict_of("<f4", "(2,)") + "x"), ErrorCode::kDataLoss, "nothing may follow"},
       }) {
    const Result<devices::HostArray> array = read(row.bytes);
    ASSERT_FALSE(array.has_value()) << row.words;
    EXPECT_EQ(array.error().code(), row.code) << array.error().message();
    EXPECT_NE(array.error().message().find(row.words), std::string::npos)
        << array.error().message();
    EXPECT_NE(array.error().detail<FilePosition>(), nullptr);
  }
}

TEST(NpyTest, ExpectedTypeMustBeThere) {
  const Bytes file = npy(dict_of("<f4", "(1,)"), counting(4));
  EXPECT_TRUE(read(file, {.as = DType::kF32}).has_value());
  EXPECT_EQ(read(file, {.as = DType::kI32}).error().code(), ErrorCode::kInvalidArgument);
  const Bytes raw = npy(dict_of("<V2", "(1,)"), counting(2));
  EXPECT_EQ(read(raw, {.as = DType::kBF16})->shape(), Shape(DType::kBF16, {1}));
  EXPECT_EQ(read(raw, {.as = DType::kF32}).error().code(), ErrorCode::kUnimplemented);
}

// What numpy.save writes of ml_dtypes' float8_e5m2; NumPy itself refuses such a file, so that ours
// hold raw bytes.
TEST(NpyTest, FloatsOfEightBitsWithANameOfMlDtypesAreRead) {
  const Bytes file = npy(dict_of("<f1", "(3,)"), bytes_of({0x3c, 0x3c, 0x3c}));
  EXPECT_EQ(read(file)->shape(), Shape(DType::kF8E5M2, {3}));
  EXPECT_EQ(read(file, {.as = DType::kF8E5M2})->shape(), Shape(DType::kF8E5M2, {3}));
  EXPECT_EQ(read(file, {.as = DType::kF8E4M3}).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(make_npy_header(Shape(DType::kF8E5M2, {3}))->find("'|V1'"), std::string::npos);
}

TEST(NpyTest, IntegersOfLessThanAByteAreWrittenAsBytesAndReadBack) {
  TempFolder folder;
  struct Row {
    DType type;
    const char* descr;
    Bytes content;
  };
  for (const Row& row : {Row{DType::kI4, "'|i1'", bytes_of({0xf8, 0xff, 0, 7})},
                         Row{DType::kI2, "'|i1'", bytes_of({0xfe, 0xff, 0, 1})},
                         Row{DType::kU4, "'|u1'", bytes_of({0, 1, 8, 15})},
                         Row{DType::kU2, "'|u1'", bytes_of({0, 1, 2, 3})}}) {
    const Shape shape(row.type, {4});
    EXPECT_NE(make_npy_header(shape)->find(row.descr), std::string::npos) << shape.to_string();
    const std::string path = folder.file("a.npy");
    ASSERT_TRUE(write_npy_file(path, shape, row.content).has_value());
    const Result<devices::HostArray> array = read_npy_file(path, {.as = row.type});
    ASSERT_TRUE(array.has_value()) << array.error().message();
    EXPECT_EQ(array->shape(), shape);
    EXPECT_TRUE(std::ranges::equal(array->bytes(), row.content));
  }
}

// ml_dtypes' int4 has only the low four bits: -3 is 0x0d.
TEST(NpyTest, RawIntegersOfLessThanAByteAreTheirLowBits) {
  const Bytes raw = npy(dict_of("<V1", "(2,)"), bytes_of({0x0d, 0x07}));
  EXPECT_EQ(values<std::int8_t>(read(raw, {.as = DType::kI4}).value()),
            (std::vector<std::int8_t>{-3, 7}));
  EXPECT_EQ(values<std::uint8_t>(read(raw, {.as = DType::kU4}).value()),
            (std::vector<std::uint8_t>{13, 7}));
}

TEST(NpyTest, BytesThatAreTooLargeForTheTypeAskedForAreRefusedWithTheirPlace) {
  const Bytes file = npy(dict_of("|i1", "(3,)"), bytes_of({7, 8, 0}));
  const auto array = read(file, {.as = DType::kI4});
  ASSERT_FALSE(array.has_value());
  EXPECT_EQ(array.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(array.error().message().find("byte " + std::to_string(file.size() - 2)),
            std::string::npos)
      << array.error().message();
  EXPECT_EQ(read(file, {.as = DType::kU4}).error().code(), ErrorCode::kInvalidArgument);
}

TEST(NpyTest, TypesWithoutCounterpartAreNotWritten) {
  EXPECT_EQ(make_npy_header(Shape(DType::kToken, {2})).error().code(), ErrorCode::kUnimplemented);
}

}  // namespace
}  // namespace millrace::transfer
