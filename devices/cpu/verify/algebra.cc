// Linear algebra, Fourier transforms, random numbers and normalisation.
#include <map>
#include <string>

#include "millrace/devices/cpu/ir/einsum.h"
#include "millrace/devices/cpu/verify/rules.h"

namespace millrace::devices::cpu::verify {
namespace {

constexpr unsigned kFloatOrComplex = kFloat | kComplex;

Dims dims_of(ir::Type type) { return {type.dims().begin(), type.dims().end()}; }

bool rank_at_least(Check& c, int operand, int rank) {
  return c.operand(operand).rank() >= rank ||
         c.fail("operand " + std::to_string(operand) + " is " + c.operand(operand).to_string() +
                ", expected at least " + std::to_string(rank) + " dimensions");
}

bool square_matrices(Check& c) {
  if (!rank_at_least(c, 0, 2)) return false;
  const auto dims = c.operand(0).dims();
  return agree(dims[dims.size() - 1], dims[dims.size() - 2]) ||
         c.fail("operand 0 is " + c.operand(0).to_string() + ", expected square matrices");
}

bool same_as_operand(Check& c, int operand) {
  return c.result_like(0, c.operand(operand), "the result");
}

// A vector of one element per feature.
bool per_feature(Check& c, ir::Type type, std::int64_t features, const std::string& what) {
  const std::int64_t expected[] = {features};
  return c.same_element(type, c.operand(0), what) && c.same_dims(type.dims(), expected, what);
}

// The extent of the features, after the checks that all three kinds share.
bool check_features(Check& c, int operands, std::int64_t* features) {
  std::int64_t index = 0;
  if (!c.operands(operands) || !c.element_in(c.operand(0), kFloat, "operand 0") ||
      !rank_at_least(c, 0, 1) || !c.integer("feature_index", 0, c.operand(0).rank() - 1, &index)) {
    return false;
  }
  if (c.op.attr<ir::FloatAttr>("epsilon") == nullptr)
    return c.fail("the attribute epsilon is missing or no float");
  *features = c.operand(0).dims()[static_cast<std::size_t>(index)];
  return true;
}

bool results_per_feature(Check& c, std::int64_t features) {
  const std::int64_t dims[] = {features};
  for (int i = 1; i <= 2; ++i) {
    const std::string what = "result " + std::to_string(i);
    if (!c.same_element(c.result(i), c.operand(0), what) || !c.result_dims(i, dims, what))
      return false;
  }
  return true;
}

bool operands_per_feature(Check& c, int first, int last, std::int64_t features) {
  for (int i = first; i <= last; ++i) {
    if (!per_feature(c, c.operand(i), features, "operand " + std::to_string(i))) return false;
  }
  return true;
}

}  // namespace

bool check_cholesky(Check& c) {
  return c.operands(1) && c.results(1) &&
         c.element_in(c.operand(0), kFloatOrComplex, "operand 0") && square_matrices(c) &&
         same_as_operand(c, 0);
}

bool check_triangular_solve(Check& c) {
  if (!c.operands(2) || !c.results(1) ||
      !c.element_in(c.operand(0), kFloatOrComplex, "operand 0") || !square_matrices(c) ||
      !c.same_element(c.operand(1), c.operand(0), "operand 1")) {
    return false;
  }
  if (c.op.enum_or("transpose_a", ir::Transpose::kNoTranspose) == ir::Transpose::kInvalid)
    return c.fail("found transpose_a = TRANSPOSE_INVALID, expected one that says something");
  const Dims a = dims_of(c.operand(0));
  Dims expected = dims_of(c.operand(1));
  if (expected.size() != a.size()) return c.fail("operand 1 has another rank than operand 0");
  const std::size_t side = c.op.bool_or("left_side", true) ? a.size() - 2 : a.size() - 1;
  const std::size_t other = side == a.size() - 2 ? a.size() - 1 : a.size() - 2;
  Dims wanted = a;
  wanted[other] = expected[other];
  return c.same_dims(expected, wanted, "operand 1") && same_as_operand(c, 1);
}

bool check_fft(Check& c) {
  Dims length;
  if (!c.operands(1) || !c.results(1) || !c.required_ints("fft_length", &length)) return false;
  const auto* type = c.op.attr<ir::EnumAttr>("fft_type");
  if (type == nullptr || type->enum_class != ir::EnumClass::kFftType)
    return c.fail("the attribute fft_type is missing or no type of a transform");
  const auto kind = static_cast<ir::FftType>(type->value);
  const bool from_real = kind == ir::FftType::kRfft, to_real = kind == ir::FftType::kIrfft;
  if (length.empty() || length.size() > 3) {
    return c.fail("found " + std::to_string(length.size()) +
                  " lengths, expected one to three dimensions");
  }
  if (!rank_at_least(c, 0, static_cast<int>(length.size()))) return false;
  // The elements: both of the same precision.
  const DType in = c.operand(0).dtype(), out = c.result().dtype();
  const DType real = from_real ? in : out, complex = from_real ? out : in;
  const bool fits = from_real || to_real ? (real == DType::kF32 && complex == DType::kC64) ||
                                               (real == DType::kF64 && complex == DType::kC128)
                                         : is_complex(in) && in == out;
  if (!fits) {
    return c.fail("found elements of " + std::string(to_string(in)) + " and " +
                  std::string(to_string(out)) + ", which do not go with this transform");
  }
  Dims operand = dims_of(c.operand(0)), result = operand;
  for (std::size_t i = 0; i < length.size(); ++i) {
    const std::size_t d = operand.size() - length.size() + i;
    const bool last = i + 1 == length.size();
    if (length[i] < 0) return c.fail("found a negative length");
    const std::int64_t half = length[i] == 0 ? 0 : length[i] / 2 + 1;
    const std::int64_t expected = to_real && last ? half : length[i];
    // Of nothing there is half a spectrum of one element, or none.
    const bool nothing = to_real && last && length[i] == 0 && operand[d] == 1;
    if (!nothing && !agree(operand[d], expected)) {
      return c.fail("dimension " + std::to_string(d) + " of the operand is " +
                    std::to_string(operand[d]) + ", expected " + std::to_string(expected));
    }
    result[d] = from_real && last ? half : length[i];
  }
  return c.result_dims(0, result);
}

bool check_dot(Check& c) {
  if (!c.operands(2) || !c.results(1) || !rank_at_least(c, 0, 1) || !rank_at_least(c, 1, 1))
    return false;
  const Dims left = dims_of(c.operand(0)), right = dims_of(c.operand(1));
  if (left.size() > 2 || right.size() > 2 || !agree(left.back(), right.front())) {
    return c.fail("the operands have the shapes " + to_string(left) + " and " + to_string(right) +
                  ", expected vectors or matrices that can be multiplied");
  }
  Dims expected(left.begin(), left.end() - 1);
  expected.insert(expected.end(), right.begin() + 1, right.end());
  return c.result_dims(0, expected);
}

bool check_einsum(Check& c) {
  const int operands = c.op.kind() == ir::OpKind::kEinsum ? 2 : 1;
  if (!c.operands(operands) || !c.results(1)) return false;
  const std::string text(c.op.string_or("einsum_config", ""));
  const auto config = ir::parse_einsum(text, operands);
  if (!config) {
    return c.fail("found the config \"" + text +
                  "\", expected letters for the dimensions, as in \"ab,bc->ac\"");
  }
  std::map<char, std::int64_t> extents;
  if (!c.not_quantised(c.result(), "the result")) return false;
  for (int i = 0; i < operands; ++i) {
    if (!c.not_quantised(c.operand(i), "operand " + std::to_string(i))) return false;
    const std::string& labels = config->operands[static_cast<std::size_t>(i)];
    const auto dims = c.operand(i).dims();
    if (labels.size() != dims.size()) {
      return c.fail("operand " + std::to_string(i) + " is " + c.operand(i).to_string() +
                    ", expected one dimension for each of \"" + labels + "\"");
    }
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const auto [it, inserted] = extents.emplace(labels[d], dims[d]);
      if (!agree(it->second, dims[d])) {
        return c.fail(std::string("the extents of dimension '") + labels[d] + "' differ");
      }
    }
  }
  Dims expected;
  for (char label : config->result) expected.push_back(extents.at(label));
  return c.result_dims(0, expected);
}

bool check_rng(Check& c) {
  if (!c.operands(3) || !c.results(1) || !c.scalar(c.operand(0), "operand 0") ||
      !c.scalar(c.operand(1), "operand 1") ||
      !c.same_element(c.operand(1), c.operand(0), "operand 1") ||
      !c.element_in(c.operand(0), kBool | kInteger | kFloat, "operand 0") ||
      !c.not_quantised(c.operand(0), "operand 0") ||
      !c.element_in(c.operand(2), kInteger, "operand 2")) {
    return false;
  }
  const auto distribution = c.op.enum_or("rng_distribution", ir::RngDistribution::kUniform);
  if (distribution == ir::RngDistribution::kNormal &&
      !c.element_in(c.operand(0), kFloat, "operand 0 of a normal distribution")) {
    return false;
  }
  const std::int64_t rank[] = {c.result().rank()};
  return c.same_dims(c.operand(2).dims(), rank, "operand 2") &&
         c.same_element(c.result(), c.operand(0), "the result");
}

bool check_rng_bit_generator(Check& c) {
  if (!c.operands(1) || !c.results(2) || !c.element_in(c.operand(0), kUnsigned, "operand 0") ||
      !c.element_in(c.result(1), kInteger | kFloat, "result 1") ||
      !c.not_quantised(c.result(1), "result 1") || !c.result_like(0, c.operand(0), "result 0")) {
    return false;
  }
  const auto elements = c.operand(0).elements();
  const std::int64_t words = elements ? *elements * bit_width(c.operand(0).dtype()) / 64 : 2;
  if (words == 2 || words == 3) return true;
  return c.fail("the state is " + c.operand(0).to_string() + ", expected 128 or 192 bits");
}

bool check_batch_norm_inference(Check& c) {
  std::int64_t features = 0;
  return c.results(1) && check_features(c, 5, &features) &&
         operands_per_feature(c, 1, 4, features) && same_as_operand(c, 0);
}

bool check_batch_norm_training(Check& c) {
  std::int64_t features = 0;
  return c.results(3) && check_features(c, 3, &features) &&
         operands_per_feature(c, 1, 2, features) && same_as_operand(c, 0) &&
         results_per_feature(c, features);
}

bool check_batch_norm_grad(Check& c) {
  std::int64_t features = 0;
  return c.results(3) && check_features(c, 5, &features) &&
         operands_per_feature(c, 1, 3, features) &&
         c.same_shape_and_element(c.operand(4), c.operand(0), "operand 4") &&
         same_as_operand(c, 0) && results_per_feature(c, features);
}

}  // namespace millrace::devices::cpu::verify
