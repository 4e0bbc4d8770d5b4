// Linear algebra, Fourier transforms, random numbers and normalisation.
#include <map>
#include <string>

#include "millrace/devices/stablehlo/ir/contraction_dims.h"
#include "millrace/devices/stablehlo/verify/rules.h"

namespace millrace::devices::stablehlo::verify {
namespace {

constexpr unsigned kFloatOrComplex = kFloat | kComplex;

bool rank_at_least(Check& c, int operand, int rank) {
  return c.operand(operand).rank() >= rank ||
         c.fail("operand ", operand, " is ", c.operand(operand), ", expected at least ", rank,
                " dimensions");
}

bool square_matrices(Check& c) {
  if (!c.element_in(0, kFloatOrComplex) || !rank_at_least(c, 0, 2)) return false;
  const auto dims = c.operand(0).dims();
  return agree(dims[dims.size() - 1], dims[dims.size() - 2]) ||
         c.fail("operand 0 is ", c.operand(0), ", expected square matrices");
}

}  // namespace

bool check_cholesky(Check& c) {
  return c.counts(1, 1) && square_matrices(c) && c.result_like(0, c.operand(0));
}

bool check_triangular_solve(Check& c) {
  if (!c.counts(2, 1) || !square_matrices(c) || !c.same_element(1, c.operand(0))) return false;
  if (c.op.enum_or("transpose_a", ir::Transpose::kNoTranspose) == ir::Transpose::kInvalid)
    return c.fail("found transpose_a = TRANSPOSE_INVALID, expected one that says something");
  Dims wanted = dims_of(c.operand(0));
  if (c.operand(1).dims().size() != wanted.size())
    return c.fail("operand 1 has another rank than operand 0");
  const std::size_t other = wanted.size() - (c.op.bool_or("left_side", true) ? 1 : 2);
  wanted[other] = c.operand(1).dims()[other];
  return c.same_dims(1, wanted) && c.result_like(0, c.operand(1));
}

bool check_fft(Check& c) {
  Dims length;
  if (!c.counts(1, 1) || !c.required_ints("fft_length", &length) ||
      !c.enumerated("fft_type", ir::EnumClass::kFftType, "type of a transform")) {
    return false;
  }
  const auto kind = c.op.enum_or("fft_type", ir::FftType::kFft);
  const bool from_real = kind == ir::FftType::kRfft, to_real = kind == ir::FftType::kIrfft;
  if (length.empty() || length.size() > 3)
    return c.fail("found ", length.size(), " lengths, expected one to three dimensions");
  if (!rank_at_least(c, 0, static_cast<int>(length.size()))) return false;
  // The elements: both of the same precision.
  const DType in = c.operand(0).dtype(), out = c.result().dtype();
  const DType real = from_real ? in : out, complex = from_real ? out : in;
  const bool fits =
      is_complex(complex) && (from_real || to_real ? real == part_of(complex) : in == out);
  if (!fits) {
    return c.fail("found elements of ", in, " and ", out, ", which do not go with this transform");
  }
  const Dims operand = dims_of(c.operand(0));
  Dims result = operand;
  for (std::size_t i = 0; i < length.size(); ++i) {
    const std::size_t d = operand.size() - length.size() + i;
    const bool last = i + 1 == length.size();
    if (length[i] < 0) return c.fail("found a negative length");
    const std::int64_t half = length[i] == 0 ? 0 : length[i] / 2 + 1;
    const std::int64_t expected = to_real && last ? half : length[i];
    // Half a spectrum of nothing has one element, or none.
    const bool nothing = to_real && last && length[i] == 0 && operand[d] == 1;
    if (!nothing && !agree(operand[d], expected)) {
      return c.fail("dimension ", d, " of the operand is ", operand[d], ", expected ", expected);
    }
    result[d] = from_real && last ? half : length[i];
  }
  return c.result_dims(0, result);
}

bool check_dot(Check& c) {
  if (!c.counts(2, 1) || !rank_at_least(c, 0, 1) || !rank_at_least(c, 1, 1)) return false;
  const Dims left = dims_of(c.operand(0)), right = dims_of(c.operand(1));
  if (left.size() > 2 || right.size() > 2 || !agree(left.back(), right.front())) {
    return c.fail("the operands have the shapes ", left, " and ", right,
                  ", expected vectors or matrices that can be multiplied");
  }
  Dims expected(left.begin(), left.end() - 1);
  expected.insert(expected.end(), right.begin() + 1, right.end());
  return c.result_dims(0, expected);
}

bool check_einsum(Check& c) {
  const int operands = c.op.kind() == ir::OpKind::kEinsum ? 2 : 1;
  if (!c.counts(operands, 1)) return false;
  const std::string_view text = c.op.string_or("einsum_config", "");
  const auto config = ir::parse_einsum(text, operands);
  if (!config) {
    return c.fail("found the config \"", text,
                  "\", expected letters for the dimensions, as in \"ab,bc->ac\"");
  }
  std::map<char, std::int64_t> extents;
  if (!c.not_quantised(c.result(), "the result")) return false;
  for (int i = 0; i < operands; ++i) {
    if (!c.not_quantised(i)) return false;
    const std::string& labels = config->operands[static_cast<std::size_t>(i)];
    const auto dims = c.operand(i).dims();
    if (labels.size() != dims.size()) {
      return c.fail("operand ", i, " is ", c.operand(i), ", expected one dimension for each of \"",
                    labels, "\"");
    }
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const auto [it, inserted] = extents.emplace(labels[d], dims[d]);
      if (!agree(it->second, dims[d]))
        return c.fail("the extents of dimension '", labels.substr(d, 1), "' differ");
    }
  }
  Dims expected;
  for (char label : config->result) expected.push_back(extents.at(label));
  return c.result_dims(0, expected);
}

bool check_rng(Check& c) {
  if (!c.counts(3, 1) || !c.scalar(0) || !c.scalar(1) || !c.same_element(1, c.operand(0)) ||
      !c.element_in(0, kBool | kInteger | kFloat) || !c.not_quantised(0) ||
      !c.element_in(2, kInteger)) {
    return false;
  }
  const auto distribution = c.op.enum_or("rng_distribution", ir::RngDistribution::kUniform);
  if (distribution == ir::RngDistribution::kNormal &&
      !c.element_in(c.operand(0), kFloat, "operand 0 of a normal distribution")) {
    return false;
  }
  return c.same_dims(2, Dims{c.result().rank()}) && c.keeps_element();
}

bool check_rng_bit_generator(Check& c) {
  if (!c.counts(1, 2) || !c.element_in(0, kUnsigned) ||
      !c.element_in(c.result(1), kInteger | kFloat, "result 1") ||
      !c.not_quantised(c.result(1), "result 1") || !c.result_like(0, c.operand(0))) {
    return false;
  }
  const auto elements = c.operand(0).elements();
  const std::int64_t words = elements ? *elements * bit_width(c.operand(0).dtype()) / 64 : 2;
  return words == 2 || words == 3 ||
         c.fail("the state is ", c.operand(0), ", expected 128 or 192 bits");
}

// Inference, training and gradient: an array, vectors of one element per feature, and (gradient)
// an array again; out comes an array, and two vectors where it is no inference.
bool check_batch_norm(Check& c) {
  const bool inference = c.op.kind() == ir::OpKind::kBatchNormInference;
  const bool gradient = c.op.kind() == ir::OpKind::kBatchNormGrad;
  std::int64_t index = 0;
  if (!c.counts(inference || gradient ? 5 : 3, inference ? 1 : 3) || !c.element_in(0, kFloat) ||
      !rank_at_least(c, 0, 1) || !c.integer("feature_index", 0, c.operand(0).rank() - 1, &index)) {
    return false;
  }
  if (c.op.attr<ir::FloatAttr>("epsilon") == nullptr)
    return c.fail("the attribute epsilon is missing or no float");
  const Dims features{c.operand(0).dim(index)};
  const int vectors = c.op.operand_count() - (gradient ? 2 : 1);
  return all(vectors,
             [&](int i) {
               return c.same_element(i + 1, c.operand(0)) && c.same_dims(i + 1, features);
             }) &&
         (!gradient || c.same_shape_and_element(c.operand(4), c.operand(0), "operand 4")) &&
         c.result_like(0, c.operand(0)) && all(c.op.result_count() - 1, [&](int i) {
           return c.same_element(c.result(i + 1), c.operand(0), result_name(i + 1)) &&
                  c.result_dims(i + 1, features);
         });
}

}  // namespace millrace::devices::stablehlo::verify
