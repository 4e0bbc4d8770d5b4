#include "millrace/devices/stablehlo/propagate/rule.h"

#include <algorithm>
#include <charconv>

#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/text/cursor.h"

namespace millrace::devices::stablehlo::propagate {
namespace {

using text::Cursor;
using text::TokenKind;

std::vector<TensorFactors> mappings_of(std::span<const ir::Type> types) {
  std::vector<TensorFactors> out;
  for (const ir::Type type : types)
    out.emplace_back(type.is_tensor() ? static_cast<std::size_t>(type.rank()) : 0);
  return out;
}

// A dimension has its factors once, and none of size 1 beside another.
void map_dims(std::vector<TensorFactors>& tensors, std::span<const int> dims, int factor,
              std::int64_t size) {
  for (std::size_t i = 0; i < std::min(tensors.size(), dims.size()); ++i) {
    if (dims[i] == kNoDim) continue;
    auto& of = tensors[i][static_cast<std::size_t>(dims[i])];
    if (size != 1 || of.empty()) of.push_back(factor);
  }
}

void map_all(std::vector<TensorFactors>& tensors, int dim, int factor) {
  for (TensorFactors& tensor : tensors) {
    if (static_cast<std::size_t>(dim) < tensor.size())
      tensor[static_cast<std::size_t>(dim)].push_back(factor);
  }
}

// The letters of factors: i to z, then z_1, z_2, ...; takes one off the word.
bool take_factor(Cursor& in, std::string_view& word, std::size_t factors, int* out) {
  const auto bad = [&] { return in.fail("there is no factor ", word.substr(0, 20)); };
  if (word.empty() || word[0] < 'i' || word[0] > 'z') return bad();
  std::int64_t number = word[0] - 'i';
  std::size_t used = 1;
  if (word.starts_with("z_")) {
    std::int64_t more = 0;
    const auto [end, code] = std::from_chars(word.data() + 2, word.data() + word.size(), more);
    if (code != std::errc() || more < 1 || more > 100'000) return bad();
    number += more;
    used = static_cast<std::size_t>(end - word.data());
  }
  if (static_cast<std::size_t>(number) >= factors) return bad();
  word.remove_prefix(used);
  *out = static_cast<int>(number);
  return true;
}

// [ij, *, k] of a tensor; the number of factors is not known yet.
constexpr std::size_t kMaxFactors = 100'000;

bool read_mapping(Cursor& in, TensorFactors* out) {
  return in.list('[', ']', [&] {
    std::vector<int>& dim = out->emplace_back();
    if (in.accept('*')) return true;
    if (in.token().kind != TokenKind::kBareId) return in.unexpected("the factors of a dimension");
    std::string_view word = in.token().text;
    while (!word.empty()) {
      if (!take_factor(in, word, kMaxFactors, &dim.emplace_back())) return false;
    }
    return in.advance();
  });
}

bool read_mappings(Cursor& in, std::vector<TensorFactors>* out) {
  return in.list('(', ')', [&] { return read_mapping(in, &out->emplace_back()); });
}

// {i=8, j=16}
bool read_sizes(Cursor& in, std::vector<FactorKind>* out) {
  if (!in.token().is('{')) return true;
  return in.list('{', '}', [&] {
    std::string_view word = in.token().text;
    int factor = 0;
    if (!take_factor(in, word, out->size() + 1, &factor) || !word.empty() ||
        static_cast<std::size_t>(factor) != out->size()) {
      return in.error() ? false : in.unexpected("the next factor");
    }
    in.advance();
    FactorKind kind;
    if (!in.expect('=') || !in.integer(&kind.size)) return false;
    if (kind.size < 0) return in.fail("a factor of size ", kind.size);
    out->push_back(kind);
    return true;
  });
}

// reduction={k} need_replication={i}, custom
bool read_kinds(Cursor& in, std::vector<FactorKind>* factors) {
  while (in.token().kind == TokenKind::kBareId) {
    const bool blocks = in.token().is_id("blocked_propagation");
    if (!blocks && !in.token().is_id("reduction") && !in.token().is_id("need_replication") &&
        !in.token().is_id("permutation")) {
      return in.unexpected("a kind of factors");
    }
    in.advance();
    const auto one = [&] {
      std::string_view word = in.token().text;
      int factor = 0;
      if (!take_factor(in, word, factors->size(), &factor)) return false;
      FactorKind& kind = (*factors)[static_cast<std::size_t>(factor)];
      blocks ? kind.blocked = true : kind.passes = false;
      return in.advance();
    };
    if (!in.expect('=') || !in.list('{', '}', one)) return false;
  }
  return !in.accept(',') || in.expect_word("custom");
}

// Each factor is there, and at most once in a tensor.
bool check_mappings(Cursor& in, const std::vector<TensorFactors>& tensors,
                    std::vector<FactorKind>& factors) {
  for (const TensorFactors& tensor : tensors) {
    std::vector<bool> seen(factors.size());
    for (const std::vector<int>& dim : tensor) {
      for (const int factor : dim) {
        const auto f = static_cast<std::size_t>(factor);
        if (f >= seen.size()) return in.fail("a factor without a size");
        if (seen[f]) return in.fail("a factor that stands twice in a tensor");
        seen[f] = true;
      }
    }
  }
  return true;
}

bool have_ranks(const std::vector<TensorFactors>& tensors, const auto& values) {
  return std::ranges::equal(tensors, values, [](const TensorFactors& tensor, ir::Type type) {
    return tensor.size() == (type.is_tensor() ? static_cast<std::size_t>(type.rank()) : 0);
  });
}

}  // namespace

RuleBuilder::RuleBuilder(const ir::Op& op)
    : RuleBuilder(ir::types_of(op.operands()), ir::types_of(op.results())) {}

RuleBuilder::RuleBuilder(std::span<const ir::Type> operands, std::span<const ir::Type> results) {
  rule_.operands = mappings_of(operands);
  rule_.results = mappings_of(results);
}

int RuleBuilder::make_factor(std::int64_t size, Cut cut, bool blocked) {
  rule_.factors.push_back({size, cut == Cut::kPasses, blocked});
  return static_cast<int>(rule_.factors.size()) - 1;
}

RuleBuilder& RuleBuilder::add(std::span<const int> operands, std::span<const int> results,
                              std::int64_t size, Cut cut, bool blocked) {
  const int factor = make_factor(size, cut, blocked);
  map_dims(rule_.operands, operands, factor, size);
  map_dims(rule_.results, results, factor, size);
  return *this;
}

RuleBuilder& RuleBuilder::add_to_all(int dim, std::int64_t size, Cut cut, bool blocked) {
  const int factor = make_factor(size, cut, blocked);
  map_all(rule_.operands, dim, factor);
  map_all(rule_.results, dim, factor);
  return *this;
}

RuleBuilder& RuleBuilder::add_to_operands(int dim, std::int64_t size, Cut cut) {
  map_all(rule_.operands, dim, make_factor(size, cut, false));
  return *this;
}

RuleBuilder& RuleBuilder::add_to_results(int dim, std::int64_t size, Cut cut) {
  map_all(rule_.results, dim, make_factor(size, cut, false));
  return *this;
}

RuleBuilder& RuleBuilder::add_pointwise(std::span<const std::int64_t> shape) {
  for (std::size_t d = 0; d < shape.size(); ++d) add_to_all(static_cast<int>(d), shape[d]);
  return *this;
}

RuleBuilder& RuleBuilder::add_where_equal(std::span<const std::int64_t> in,
                                          std::span<const std::int64_t> out, Cut differing,
                                          bool blocked) {
  for (std::size_t d = 0; d < in.size(); ++d) {
    const bool equal = in[d] == out[d];
    add_to_all(static_cast<int>(d), in[d], equal ? Cut::kPasses : differing, !equal && blocked);
  }
  return *this;
}

Rule RuleBuilder::build() {
  for (std::vector<TensorFactors>* tensors : {&rule_.operands, &rule_.results}) {
    for (TensorFactors& tensor : *tensors) {
      for (std::vector<int>& dim : tensor) {
        if (dim.empty()) dim.push_back(make_factor(1, Cut::kPasses, false));
      }
    }
  }
  return std::move(rule_);
}

Rule identity_rule(ir::Type type, int operands, int results) {
  const std::vector<ir::Type> in(static_cast<std::size_t>(operands), type),
      out(static_cast<std::size_t>(results), type);
  RuleBuilder builder(in, out);
  if (type.is_tensor()) builder.add_pointwise(type.dims());
  return builder.build();
}

Result<Rule> read_rule(std::string_view text, const ir::Op& op) {
  Cursor in(text);
  Rule rule;
  const bool good = in.token().text == "#sdy.op_sharding_rule" && in.advance() && in.expect('<') &&
                    read_mappings(in, &rule.operands) && in.expect(TokenKind::kArrow, "'->'") &&
                    read_mappings(in, &rule.results) && read_sizes(in, &rule.factors) &&
                    read_kinds(in, &rule.factors) && in.expect('>') &&
                    check_mappings(in, rule.operands, rule.factors) &&
                    check_mappings(in, rule.results, rule.factors);
  if (!good) {
    return ir::invalid(op, "its sharding rule ", text.substr(0, 200), ": ",
                       in.error() ? in.error()->message() : "no sharding rule");
  }
  if (!have_ranks(rule.operands, ir::types_of(op.operands())) ||
      !have_ranks(rule.results, ir::types_of(op.results()))) {
    return ir::invalid(op, "its sharding rule ", text.substr(0, 200),
                       " is of other operands or results, or of other ranks");
  }
  // What the text leaves to no factor has one of its own.
  for (std::vector<TensorFactors>* tensors : {&rule.operands, &rule.results}) {
    for (TensorFactors& tensor : *tensors) {
      for (std::vector<int>& dim : tensor) {
        if (!dim.empty()) continue;
        dim.push_back(static_cast<int>(rule.factors.size()));
        rule.factors.push_back({});
      }
    }
  }
  return rule;
}

}  // namespace millrace::devices::stablehlo::propagate
