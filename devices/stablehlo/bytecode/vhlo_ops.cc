#include "millrace/devices/stablehlo/bytecode/vhlo_ops.h"

#include <algorithm>
#include <ranges>
#include <string>
#include <unordered_map>

#include "millrace/devices/stablehlo/ir/records.h"

namespace millrace::devices::stablehlo::bytecode {
namespace {

using K = ir::OpKind;

constexpr Version kLatest = {999999, 0, 0};

Version version_of(int number) { return {number / 100, number % 100, 0}; }

// The attributes that are not plain or have a default. An attribute that is not listed has neither.
struct Rule {
  Role role;
  Default value;
  std::string_view names;
  K only = K::kOther;  // kOther: of any operation
};
constexpr Rule kRules[] = {
    {Role::kPlain, Default::kMinusOne, "dimension", K::kSort},
    {Role::kPlain, Default::kFalse, "lower", K::kCholesky},
    {Role::kPlain, Default::kNoInts, "source_target_pairs", K::kRecv},
    {Role::kPlain, Default::kNoInts, "source_target_pairs", K::kSend},
    {Role::kApiVersion, Default::kOriginal, "api_version"},
    {Role::kBools, Default::kFalses, "window_reversal"},
    {Role::kChannelId, Default::kZero, "channel_id"},
    {Role::kInts, Default::kNone,
     "broadcast_dimensions broadcast_sizes dimensions edge_padding_high edge_padding_low "
     "fft_length interior_padding limit_indices permutation slice_sizes start_indices strides "
     "window_dimensions"},
    {Role::kInts, Default::kNoInts, "known_expanding_dimensions known_nonexpanding_dimensions"},
    {Role::kInts, Default::kOnes,
     "base_dilations lhs_dilation rhs_dilation window_dilations window_strides"},
    {Role::kPlain, Default::kAccuracy, "result_accuracy"},
    {Role::kPlain, Default::kEmptyArray,
     "layout operand_layouts output_operand_aliases result_layouts result_tilings"},
    {Role::kPlain, Default::kEmptyConfig, "backend_config"},
    {Role::kPlain, Default::kEmptyDict, "composite_attributes"},
    {Role::kPlain, Default::kEmptyString, "infeed_config outfeed_config"},
    {Role::kPlain, Default::kFalse,
     "has_side_effect indices_are_sorted is_host_transfer is_stable unique_indices"},
    {Role::kPlain, Default::kNoType, "compare_type"},
    {Role::kPlain, Default::kPrecision, "precision_config"},
    {Role::kPlain, Default::kZero, "version"},
    {Role::kPlain, Default::kZeros, "padding"},
    {Role::kSymbol, Default::kNone, "callee decomposition"},
    {Role::kSymbols, Default::kEmptyArray, "called_computations"},
    {Role::kUnit, Default::kFalse, "has_dynamic_root use_global_device_ids"},
};

VhloAttribute attribute_of(K kind, std::string_view name) {
  VhloAttribute made{name};
  ir::for_each_vhlo_record(kind, [&]<class R>(std::string_view, const R&) {
    for (const auto& field : ir::kRecordFields<R>) {
      if (field.vhlo == name) made.role = Role::kField;
    }
  });
  if (made.role == Role::kField) return made;
  for (const Rule& rule : kRules) {
    if (rule.only != K::kOther && rule.only != kind) continue;
    for (const auto word : std::views::split(rule.names, ' ')) {
      if (std::string_view(word) == name) return {name, rule.role, rule.value};
    }
  }
  return made;
}

// By the full name, "add_v1".
class Index {
 public:
  Index() {
#define MILLRACE_OP_VHLO(kind, name, since, revised, attributes) \
  add(name, K::kind, since, revised, attributes);
#include "millrace/devices/stablehlo/ir/ops.inc"
    add("call", K::kCall, 9, 0, "callee");
    add("func", K::kOther, 9, 0, "arg_attrs function_type res_attrs sym_name sym_visibility");
  }
  const VhloOp* find(const std::string& name) const {
    const auto found = ops_.find(name);
    return found == ops_.end() ? nullptr : &found->second;
  }

 private:
  void add(std::string_view name, K kind, int since, int revised, std::string_view attributes) {
    const auto put = [&](int revision, int first, Version last) {
      VhloOp op{name, revision, kind, version_of(first), last, {}};
      for (const auto part : std::views::split(attributes, ' ')) {
        std::string_view word(part);
        if (word.starts_with(revision == 1 ? '+' : '-')) continue;
        if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
        op.attributes.push_back(attribute_of(kind, word));
      }
      ops_.emplace(std::string(name) + "_v" + std::to_string(revision), std::move(op));
    };
    put(1, since, revised == 0 ? kLatest : version_of(revised - 1));
    if (revised != 0) put(2, revised, kLatest);
  }

  std::unordered_map<std::string, VhloOp> ops_;
};

}  // namespace

const VhloAttribute* VhloOp::find(std::string_view attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &VhloAttribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

const VhloOp* find_vhlo_op(std::string_view name) {
  static const Index* const index = new Index;
  return index->find(std::string(name));
}

const VhloOp* find_vhlo_op(std::string_view name, Version version) {
  version.patch_part = 0;
  for (int revision = 1; revision <= 2; ++revision) {
    const VhloOp* op = find_vhlo_op(std::string(name) + "_v" + std::to_string(revision));
    if (op != nullptr && op->since <= version && version <= op->until) return op;
  }
  return nullptr;
}

}  // namespace millrace::devices::stablehlo::bytecode
