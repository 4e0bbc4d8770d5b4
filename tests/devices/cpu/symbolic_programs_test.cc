// Programs that JAX exports with symbolic shapes (tools/models/export_symbolic.py), as text and as
// bytecode, through the CPU client: each case gives what JAX computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "millrace/devices/cpu/client.h"
#include "millrace/devices/cpu/compile/compile.h"
#include "millrace/devices/shape.h"
#include "tests/support/paths.h"

namespace millrace::devices::cpu {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kFolder = millrace::testing::source_folder() + "/tools/models/symbolic/";

// An array as the files write it.
struct Array {
  Shape shape;
  std::vector<std::byte> bytes;
};

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

DType dtype_of(const std::string& name) {
  if (name == "float32") return DType::kF32;
  if (name == "int32") return DType::kI32;
  if (name == "uint32") return DType::kU32;
  return name == "bool" ? DType::kI1 : DType::kInvalid;
}

Array array_of(const json& from) {
  const std::vector<std::int64_t> dims = from["dims"];
  Array array{Shape(dtype_of(from["dtype"]), dims), {}};
  for (const json& value : from["values"]) {
    if (array.shape.dtype() == DType::kF32)
      append(array.bytes, value.get<float>());
    else if (array.shape.dtype() == DType::kI1)
      append(array.bytes, value.get<bool>());
    else if (array.shape.dtype() == DType::kU32)
      append(array.bytes, value.get<std::uint32_t>());
    else
      append(array.bytes, value.get<std::int32_t>());
  }
  return array;
}

std::string difference(const Array& found, const Array& expected) {
  if (!(found.shape == expected.shape))
    return found.shape.to_string() + ", expected " + expected.shape.to_string();
  if (found.shape.dtype() != DType::kF32)
    return found.bytes == expected.bytes ? "" : "other elements";
  for (std::size_t at = 0; at < found.bytes.size(); at += sizeof(float)) {
    float a = 0, b = 0;
    std::memcpy(&a, &found.bytes[at], sizeof a);
    std::memcpy(&b, &expected.bytes[at], sizeof b);
    if (std::abs(a - b) > 2e-5f * (1 + std::abs(b)) || std::isnan(a) != std::isnan(b)) {
      return "element " + std::to_string(at / sizeof a) + " is " + std::to_string(a) +
             ", expected " + std::to_string(b);
    }
  }
  return "";
}

// One thread, the test's.
class SymbolicProgramsTest : public ::testing::TestWithParam<std::string> {
 protected:
  SymbolicProgramsTest() {
    CpuClientOptions options{.compile = &cpu::compile};
    for (int i = 0; i < 2; ++i)
      options.threads.push_back({.executor = &executor_, .parallel = parallel_.get()});
    client_.emplace(std::move(options));
  }
  ~SymbolicProgramsTest() override {
    const Future<void> closed = client_->close();
    executor_.run_until_idle();
    EXPECT_TRUE(closed.ready());
  }

  static Program program(const std::string& file) {
    return Program::from_file(kFolder + file).value();
  }
  static json cases(const std::string& name) {
    return json::parse(program(name + ".json").code())["cases"];
  }
  Executable compile(const Program& program) {
    Result<Executable> made = client_->compile(program, {.deterministic = true});
    EXPECT_TRUE(made) << made.error().to_string();
    return made ? *made : Executable();
  }
  std::vector<Buffer> put(const json& arrays) {
    std::vector<Buffer> buffers;
    for (const json& from : arrays) {
      const Array array = array_of(from);
      buffers.push_back(client_
                            ->put({.data = array.bytes.data(), .shape = array.shape},
                                  HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1)
                            .value()
                            .buffer);
    }
    return buffers;
  }
  Result<Buffers> launch(const Executable& executable, std::span<const Buffer> arguments) {
    const DeviceId device{0};
    LaunchResult result;
    MILLRACE_TRY_STATUS(executable.body()->launch(
        {.devices = {&device, 1}, .arguments = {&arguments, 1}}, {&result, 1}));
    return std::move(result.outputs);
  }
  Array fetch(const Buffer& buffer) {
    executor_.run_until_idle();
    Array array{buffer.shape(), std::vector<std::byte>(buffer.shape().size_bytes())};
    const Future<void> copied = buffer.body()->copy_to_host(array.bytes, nullptr);
    executor_.run_until_idle();
    const Status status = copied.result();
    EXPECT_TRUE(status) << status.error().to_string();
    return array;
  }
  void check(const Executable& executable, const json& one) {
    const Result<Buffers> outputs = launch(executable, put(one["inputs"]));
    ASSERT_TRUE(outputs) << outputs.error().to_string();
    ASSERT_EQ(outputs->size(), one["outputs"].size());
    for (std::size_t i = 0; i < outputs->size(); ++i) {
      const Array expected = array_of(one["outputs"][i]);
      EXPECT_EQ((*outputs)[i].shape(), expected.shape) << "result " << i << ", before it runs";
      EXPECT_EQ(difference(fetch((*outputs)[i]), expected), "") << "result " << i;
    }
  }

  SerialExecutor executor_{SerialExecutor::InOrder{}};
  std::unique_ptr<Parallel> parallel_ = make_serial_parallel();
  std::optional<CpuClient> client_;
};

TEST_P(SymbolicProgramsTest, EachCaseGivesWhatJaxComputes) {
  for (const std::string suffix : {".mlir", ".mlirbc"}) {
    const Executable executable = compile(program(GetParam() + suffix));
    ASSERT_TRUE(executable);
    EXPECT_FALSE(are_complete(executable.input_shapes()));
    const json all = cases(GetParam());
    // Twice: as refined now, and as found again.
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        SCOPED_TRACE(GetParam() + suffix + ", case " + std::to_string(i));
        check(executable, all[i]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, SymbolicProgramsTest,
                         ::testing::Values("attention", "convolutions", "dimensions", "indexing",
                                           "loops", "mlp", "platforms", "random_numbers",
                                           "train_step"),
                         [](const auto& info) { return info.param; });

using SymbolicProgramTest = SymbolicProgramsTest;

TEST_F(SymbolicProgramTest, ShapesThatBreakAConstraintAreRefusedInTheProgramsWords) {
  const Executable executable = compile(program("dimensions.mlirbc"));
  for (const auto& [rows, message] : std::vector<std::pair<std::int64_t, std::string>>{
           {1, "b >= 2"}, {3, "2*floordiv(b, 2) == b"}}) {
    const json inputs = {{{"dtype", "float32"},
                          {"dims", {rows, 4}},
                          {"values", std::vector<float>(static_cast<std::size_t>(rows * 4))}}};
    const Result<Buffers> outputs = launch(executable, put(inputs));
    ASSERT_FALSE(outputs) << rows;
    EXPECT_EQ(outputs.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(outputs.error().message(), HasSubstr(message));
    EXPECT_THAT(outputs.error().message(), HasSubstr("@shape_assertion"));
  }
}

TEST_F(SymbolicProgramTest, AnArgumentThatDoesNotFitIsNamedWithItsDimension) {
  const Executable executable = compile(program("mlp.mlir"));
  json inputs = cases("mlp")[0]["inputs"];
  inputs[0]["dims"] = {1, 5};
  inputs[0]["values"] = std::vector<float>(5);
  const Result<Buffers> outputs = launch(executable, put(inputs));
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(outputs.error().message(), HasSubstr("argument 0 of "));
  EXPECT_THAT(outputs.error().message(),
              HasSubstr("should be tensor<?x4xf32>: dimension 1 is 5, not 4"));
}

TEST_F(SymbolicProgramTest, WhatIsLoadedIsRefinedAgain) {
  const Executable executable = compile(program("attention.mlirbc"));
  const Result<std::string> bytes = executable.body()->serialize();
  ASSERT_TRUE(bytes) << bytes.error().to_string();
  const Result<Executable> loaded = client_->load(*bytes);
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  for (const json& one : cases("attention")) check(*loaded, one);
}

TEST_F(SymbolicProgramTest, ADonatedArgumentGoesAndItsMemoryBecomesTheResult) {
  const Executable executable = compile(program("train_step.mlir"));
  ASSERT_EQ(executable.donated_inputs().size(), 3u);
  EXPECT_TRUE(executable.donated_inputs()[1]);
  std::vector<Buffer> arguments = put(cases("train_step")[0]["inputs"]);
  executor_.run_until_idle();
  const void* memory = arguments[1].host_access().value().bytes.data();
  const Result<Buffers> outputs = launch(executable, arguments);
  ASSERT_TRUE(outputs) << outputs.error().to_string();
  executor_.run_until_idle();
  EXPECT_TRUE(arguments[1].removed());
  EXPECT_FALSE(arguments[0].removed());
  EXPECT_EQ((*outputs)[0].host_access().value().bytes.data(), memory);
}

}  // namespace
}  // namespace millrace::devices::cpu
