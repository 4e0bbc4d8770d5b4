// Convolutions as products of matrices against the plain loops, for all that a convolution may
// have.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <dnnl.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/convolution/gemm_convolution.h"
#include "tests/devices/cpu/definition/definition_support.h"
#include "tests/devices/cpu/run_support.h"

namespace millrace::devices::cpu::testing {
namespace {

struct Case {
  const char* name;
  ConvolutionDims dims;
  std::vector<std::int64_t> lhs, rhs, result;
};

// Features behind the places of an image, or before them.
ConvolutionDims features_last() {
  return {.input_batch = 0,
          .input_feature = 3,
          .kernel_input_feature = 2,
          .kernel_output_feature = 3,
          .output_batch = 0,
          .output_feature = 3,
          .input_spatial = {1, 2},
          .kernel_spatial = {0, 1},
          .output_spatial = {1, 2},
          .strides = {1, 1},
          .pad_low = {1, 1},
          .pad_high = {1, 1},
          .lhs_dilation = {1, 1},
          .rhs_dilation = {1, 1},
          .reversal = {false, false}};
}
ConvolutionDims features_first() {
  ConvolutionDims d = features_last();
  d.input_feature = d.output_feature = 1;
  d.kernel_output_feature = 0;
  d.kernel_input_feature = 1;
  d.input_spatial = d.output_spatial = d.kernel_spatial = {2, 3};
  return d;
}

std::vector<Case> cases() {
  std::vector<Case> all = {
      {"FeaturesLast", features_last(), {2, 12, 11, 5}, {3, 3, 5, 7}, {2, 12, 11, 7}},
      {"FeaturesFirst", features_first(), {2, 5, 12, 17}, {7, 5, 3, 3}, {2, 7, 12, 17}},
      {"ManyChunks", features_first(), {1, 3, 40, 40}, {4, 3, 3, 3}, {1, 4, 40, 40}},
      {"OneOutputFeature", features_first(), {1, 3, 40, 40}, {1, 3, 3, 3}, {1, 1, 40, 40}}};
  Case strides{
      "StridesAndDilations", features_first(), {2, 3, 20, 21}, {6, 3, 3, 2}, {2, 6, 9, 21}};
  strides.dims.strides = {2, 1};
  strides.dims.rhs_dilation = {2, 3};
  strides.dims.pad_high = {1, 2};
  all.push_back(strides);
  Case transposed{"GapsAndReversal", features_last(), {2, 7, 6, 4}, {3, 3, 4, 5}, {2, 13, 16, 5}};
  transposed.dims.lhs_dilation = {2, 3};
  transposed.dims.reversal = {true, false};
  all.push_back(transposed);
  Case grouped{"Groups", features_first(), {2, 6, 12, 17}, {9, 2, 3, 3}, {2, 9, 12, 17}};
  grouped.dims.feature_groups = 3;
  all.push_back(grouped);
  Case cut{"NegativePadding", features_first(), {1, 5, 14, 17}, {7, 5, 3, 3}, {1, 7, 12, 12}};
  cut.dims.pad_low = {-1, 1};
  cut.dims.pad_high = {1, -4};
  all.push_back(cut);
  // One dimension and one feature, as numpy.convolve has them, and less signal than window.
  Case signal{"Signal", features_first(), {1, 1, 700}, {1, 1, 31}, {1, 1, 730}};
  for (auto* spatial :
       {&signal.dims.input_spatial, &signal.dims.kernel_spatial, &signal.dims.output_spatial})
    *spatial = {2};
  signal.dims.strides = signal.dims.lhs_dilation = signal.dims.rhs_dilation = {1};
  signal.dims.pad_low = signal.dims.pad_high = {30};
  signal.dims.reversal = {false};
  all.push_back(signal);
  Case narrow = signal;
  narrow = {"NarrowSignal", signal.dims, {3, 1, 5}, {1, 1, 65}, {3, 1, 23}};
  narrow.dims.strides = {3};
  narrow.dims.pad_low = narrow.dims.pad_high = {63};
  all.push_back(narrow);
  return all;
}

template <class T>
T number(std::int64_t i) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(i * 7 % 23 - 11);
  else
    return T(static_cast<typename T::value_type>(i * 7 % 23 - 11),
             static_cast<typename T::value_type>(i * 5 % 17 - 8));
}
template <class T>
std::vector<T> numbers(std::int64_t n, std::int64_t seed) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(number<T>(i + seed));
  return values;
}

template <class T>
std::vector<T> convolved(const Case& c, DType type, Parallel& parallel, T before) {
  const Shape lhs(type, c.lhs), rhs(type, c.rhs), result(type, c.result);
  EXPECT_TRUE(GemmConvolution::fits(c.dims, lhs, rhs, result));
  const GemmConvolution convolution(c.dims, lhs, rhs, result);
  const auto a = numbers<T>(lhs.elements(), 1), b = numbers<T>(rhs.elements(), 2);
  std::vector<T> out(static_cast<std::size_t>(result.elements()), before);
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  // What was there before is not read: it would be NaN.
  std::vector<Line> scratch(convolution.scratch_bytes() / sizeof(Line) + 1);
  std::ranges::for_each(scratch, [](Line& l) { std::ranges::fill(l.bytes, std::byte{0xff}); });
  convolution.run(a.data(), b.data(), out.data(), scratch.front().bytes, parallel);
  return out;
}
template <class T>
std::vector<T> plain(const Case& c, DType type) {
  const Shape lhs(type, c.lhs), rhs(type, c.rhs), result(type, c.result);
  const auto a = numbers<T>(lhs.elements(), 1), b = numbers<T>(rhs.elements(), 2);
  std::vector<T> out(static_cast<std::size_t>(result.elements()));
  const auto serial = make_serial_parallel();
  convolution_plain(c.dims, lhs, rhs, result, a.data(), b.data(), out.data(), *serial);
  return out;
}

TEST(GemmConvolutionTest, GivesWhatThePlainLoopsGive) {
  const auto serial = make_serial_parallel();
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(convolved<double>(c, DType::kF64, *serial, std::numeric_limits<double>::quiet_NaN()),
              plain<double>(c, DType::kF64));
    EXPECT_EQ(convolved<std::int8_t>(c, DType::kI8, *serial, 77),
              plain<std::int8_t>(c, DType::kI8));
    EXPECT_EQ(convolved<std::int32_t>(c, DType::kI32, *serial, 77),
              plain<std::int32_t>(c, DType::kI32));
  }
}

TEST(GemmConvolutionTest, AnyNumberOfThreadsGivesTheSameBits) {
  const auto executor = make_executor(ExecutorBackend::kThreads, 3, "convolution");
  const auto serial = make_serial_parallel(), several = make_parallel_on(*executor, 4);
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(convolved<double>(c, DType::kF64, *several, 0.0),
              convolved<double>(c, DType::kF64, *serial, 0.0));
  }
}

// The real parts of products of complex numbers are differences of products of their parts.
TEST(GemmConvolutionTest, ComplexNumbersAreTheirParts) {
  using Z = std::complex<double>;
  const auto serial = make_serial_parallel();
  const Case c = cases()[1];
  const auto whole = convolved<Z>(c, DType::kC128, *serial, Z());
  const Shape lhs(DType::kF64, c.lhs), rhs(DType::kF64, c.rhs), result(DType::kF64, c.result);
  const auto a = numbers<Z>(lhs.elements(), 1), b = numbers<Z>(rhs.elements(), 2);
  const auto part = [](const std::vector<Z>& from, bool imaginary) {
    std::vector<double> to;
    for (const Z z : from) to.push_back(imaginary ? z.imag() : z.real());
    return to;
  };
  const auto of = [&](bool left, bool right) {
    std::vector<double> out(static_cast<std::size_t>(result.elements()));
    convolution_plain(c.dims, lhs, rhs, result, part(a, left).data(), part(b, right).data(),
                      out.data(), *serial);
    return out;
  };
  const auto rr = of(false, false), ii = of(true, true), ri = of(false, true), ir = of(true, false);
  for (std::size_t i = 0; i < whole.size(); ++i)
    ASSERT_EQ(whole[i], Z(rr[i] - ii[i], ri[i] + ir[i])) << i;
}

TEST(GemmConvolutionTest, BatchGroupsAndSmallOnesAreLeftToOthers) {
  const ConvolutionDims d = features_first();
  const auto fits = [](const ConvolutionDims& dims, DType type, std::int64_t n) {
    return GemmConvolution::fits(dims, Shape(type, {2, 5, n, n}), Shape(type, {7, 5, 3, 3}),
                                 Shape(type, {2, 7, n, n}));
  };
  EXPECT_TRUE(fits(d, DType::kF64, 12));
  EXPECT_FALSE(fits(d, DType::kF64, 2));
  EXPECT_TRUE(fits(d, DType::kF32, 12));
  EXPECT_FALSE(fits(d, DType::kF16, 12));
  ConvolutionDims grouped = d;
  grouped.batch_groups = 2;
  EXPECT_FALSE(fits(grouped, DType::kF64, 12));
}

// Whether oneDNN has code of its own for a signal of one feature. Processors differ in it.
bool onednn_convolves_a_signal() {
  using dnnl::memory;
  const auto any = [](memory::dims dims) {
    return memory::desc(std::move(dims), memory::data_type::f32, memory::format_tag::any);
  };
  const dnnl::convolution_forward::desc signal(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, any({1, 1, 700}),
      any({1, 1, 31}), any({1, 1, 730}), {1}, {0}, {30}, {30});
  const dnnl::convolution_forward::primitive_desc made(signal,
                                                       dnnl::engine(dnnl::engine::kind::cpu, 0));
  return !std::string(made.impl_info_str()).starts_with("ref");
}

// numpy.convolve: never by oneDNN's reference, which is slow.
TEST(GemmConvolutionTest, AProgramConvolvesASignalOfFloats) {
  for (const std::string type : {"f32", "bf16"}) {
    TestProgram program("func.func @main(%a: tensor<1x1x700x" + type + ">, %b: tensor<1x1x31x" +
                        type + ">) -> tensor<1x1x730x" + type + R"(> {
  %r = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],
    window = {pad = [[30, 30]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x1x700x)" +
                        type + ">, tensor<1x1x31x" + type + ">) -> tensor<1x1x730x" + type +
                        ">\n  return %r : tensor<1x1x730x" + type + ">\n}");
    EXPECT_EQ(
        program.step_names(),
        std::vector<std::string>{onednn_convolves_a_signal() ? "stablehlo.convolution forward"
                                                             : "stablehlo.convolution as gemm"});
    std::vector<float> a, b, sums;
    for (int i = 0; i < 700; ++i) a.push_back(static_cast<float>(i % 5 - 2));
    for (int i = 0; i < 31; ++i) b.push_back(static_cast<float>(i % 3 - 1));
    for (int i = 0; i < 730; ++i) {
      float sum = 0;
      for (int k = 0; k < 31; ++k) {
        const int at = i + k - 30;
        if (at >= 0 && at < 700)
          sum += a[static_cast<std::size_t>(at)] * b[static_cast<std::size_t>(k)];
      }
      sums.push_back(sum);
    }
    const auto bytes = [&](const std::vector<float>& values) {
      if (type == "f32") return bytes_of(values);
      std::vector<std::uint16_t> bits;
      for (const float v : values) bits.push_back(BFloat16(v).bits);
      return bytes_of(bits);
    };
    EXPECT_EQ(program.run({bytes(a), bytes(b)})[0], bytes(sums));
  }
}

// Matrices, a vector, batches and convolutions: planned() counts the allocations of a second run.
TEST(GemmConvolutionTest, LaterRunsOfProgramsAllocateNothing) {
  for (const std::string element : {"f64", "complex<f32>", "i32", "bf16"}) {
    const auto of = [&](const std::string& dims) { return "tensor<" + dims + "x" + element + ">"; };
    const auto dot = [&](const std::string& name, const std::string& a, const std::string& b,
                         const std::string& to, const std::string& dims) {
      return "%" + name + " = stablehlo.dot_general " + a + ", " + b + ", " + dims + " : (" + to +
             "\n";
    };
    const std::string image = of("1x8x20x20"), kernel = of("8x8x3x3");
    const std::string text =
        "func.func @main(%a: " + of("130x130") + ", %v: " + of("130") + ", %b: " + of("40x12x12") +
        ", %i: " + image + ", %k: " + kernel + ") -> (" + of("130x130") + ", " + of("130") + ", " +
        of("40x12x12") + ", " + image + ") {\n" +
        dot("m", "%a", "%a", of("130x130") + ", " + of("130x130") + ") -> " + of("130x130"),
            "contracting_dims = [1] x [0]") +
        dot("u", "%a", "%v", of("130x130") + ", " + of("130") + ") -> " + of("130"),
            "contracting_dims = [1] x [0]") +
        dot("n", "%b", "%b", of("40x12x12") + ", " + of("40x12x12") + ") -> " + of("40x12x12"),
            "batching_dims = [0] x [0], contracting_dims = [2] x [1]") +
        "%c = stablehlo.convolution(%i, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], "
        "window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : "
        "i64} : (" +
        image + ", " + kernel + ") -> " + image + "\nreturn %m, %u, %n, %c : " + of("130x130") +
        ", " + of("130") + ", " + of("40x12x12") + ", " + image + "\n}\n";
    SCOPED_TRACE(element);
    const auto module = stablehlo::text::read_text(text);
    ASSERT_TRUE(module.has_value()) << module.error().to_string();
    Arrays inputs;
    for (const ir::Type type : module->find("main")->inputs()) {
      const Shape shape(type.dtype(), type.dims());
      inputs.push_back({shape, std::vector<std::byte>(shape.size_bytes())});
    }
    const auto made = planned(*module, "main", inputs);
    EXPECT_TRUE(made.has_value()) << made.error().to_string();
  }
}

}  // namespace
}  // namespace millrace::devices::cpu::testing
