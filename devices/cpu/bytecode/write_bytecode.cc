#include "millrace/devices/cpu/bytecode/write_bytecode.h"

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

#include "millrace/devices/cpu/bytecode/chlo_expansion.h"
#include "millrace/devices/cpu/bytecode/container.h"
#include "millrace/devices/cpu/bytecode/to_vhlo.h"
#include "millrace/devices/cpu/read/read_text.h"

namespace millrace::devices::cpu::bytecode {
namespace {

constexpr int kMaxRegions = 200;  // inside each other

constexpr std::uint64_t kHasAttributes = 1;
constexpr std::uint64_t kHasResults = 2;
constexpr std::uint64_t kHasOperands = 4;
constexpr std::uint64_t kHasRegions = 16;
constexpr std::uint64_t kHasProperties = 64;

constexpr std::string_view kFunctionAttributes[] = {"arg_attrs", "function_type", "res_attrs",
                                                    "sym_name", "sym_visibility"};

class Writer {
 public:
  Writer(const ir::Module& module, Version version)
      : module_(module), version_(version), format_(bytecode_format(version)), pool_(version) {}

  Result<std::string> write() {
    if (!module_.top_level().empty()) {
      return fail(ErrorCode::kUnimplemented,
                  module_.top_level().front()->where() + ": has no form in a portable artifact");
    }
    for (const ir::Function& f : module_.functions()) MILLRACE_TRY_STATUS(expand(f.body()));
    ByteWriter operations;
    operations.flagged(1, false);
    MILLRACE_TRY_STATUS(write_module(operations));
    ByteWriter out;
    out.text(kMagic);
    out.varint(static_cast<std::uint64_t>(format_));
    out.text("StableHLO_v" + to_string(version_));
    out.byte(0);
    const std::string dialects = dialect_section();
    const auto section = [&out](SectionId id, const std::string& contents) {
      out.section(static_cast<int>(id), contents);
    };
    section(SectionId::kDialect, dialects);
    section(SectionId::kOffsets, pool_.offsets());
    section(SectionId::kAttributesAndTypes, pool_.entries());
    section(SectionId::kOperations, operations.bytes());
    section(SectionId::kString, pool_.strings());
    if (format_ >= kNativeProperties) section(SectionId::kProperties, properties_section());
    return out.take();
  }

 private:
  // The number of an operation's name; names of VHLO come behind builtin.module.
  std::uint64_t name(const VhloOp& row) {
    const auto [it, added] = names_.emplace(&row, names_.size() + 1);
    if (added) rows_.push_back(&row);
    return it->second;
  }

  std::string dialect_section() {
    ByteWriter out;
    const std::string_view dialects[] = {"builtin", "vhlo"};
    const auto named = [&](std::string_view text, bool flag, bool plain) {
      const std::uint64_t index = pool_.string(text);
      plain ? out.varint(index) : out.flagged(index, flag);
    };
    out.varint(std::size(dialects));
    for (const std::string_view d : dialects) named(d, false, format_ < kDialectVersions);
    if (format_ >= kElidedLocations) out.varint(rows_.size() + 1);
    out.varint(static_cast<std::uint64_t>(Dialect::kBuiltin));
    out.varint(1);
    named("module", true, format_ < kNativeProperties);
    if (rows_.empty()) return out.take();
    out.varint(static_cast<std::uint64_t>(Dialect::kVhlo));
    out.varint(rows_.size());
    for (const VhloOp* row : rows_) {
      named(std::string(row->name) + "_v" + std::to_string(row->revision), true,
            format_ < kNativeProperties);
    }
    return out.take();
  }

  std::string properties_section() const {
    ByteWriter out;
    out.varint(properties_.size());
    for (const std::string& record : properties_) {
      out.varint(record.size());
      out.text(record);
    }
    return out.take();
  }

  std::uint64_t property(std::string record) {
    const auto [it, added] = property_numbers_.emplace(record, properties_.size());
    if (added) properties_.push_back(std::move(record));
    return it->second;
  }

  // Name, parts and attributes; from format 5 on the inherent ones are apart.
  void write_head(ByteWriter& out, std::uint64_t name, std::uint64_t parts,
                  const OpAttributes& attributes) {
    Encoded in_dict = attributes.others;
    ByteWriter record;
    if (format_ < kNativeProperties) {
      in_dict.insert(in_dict.end(), attributes.inherent.begin(), attributes.inherent.end());
      std::ranges::sort(in_dict);
    } else {
      for (const auto& [ignored, index] : attributes.inherent) record.varint(index);
    }
    const bool has_record = !record.bytes().empty();
    out.varint(name);
    out.byte(parts | (in_dict.empty() ? 0 : kHasAttributes) | (has_record ? kHasProperties : 0));
    out.varint(pool_.unknown_location());
    if (!in_dict.empty()) out.varint(pool_.dictionary(in_dict));
    if (has_record) out.varint(property(record.take()));
  }

  Status write_module(ByteWriter& out) {
    Encoded attributes;
    for (const ir::NamedAttribute& a : module_.attributes()) {
      MILLRACE_TRY(const std::uint64_t index, pool_.builtin_attribute(a.value));
      attributes.emplace_back(a.name, index);
    }
    std::string record;
    if (!module_.name().empty()) {
      const std::uint64_t name = pool_.builtin_string(module_.name());
      if (format_ < kNativeProperties) {
        attributes.emplace_back("sym_name", name);
        std::ranges::sort(attributes);
      } else {
        // Name and visibility, each there or not.
        ByteWriter both;
        both.flagged(name, true);
        both.varint(0);
        record = both.take();
      }
    }
    const std::uint64_t parts = kHasRegions | (attributes.empty() ? 0 : kHasAttributes) |
                                (record.empty() ? 0 : kHasProperties);
    out.varint(0);
    out.byte(parts);
    out.varint(pool_.unknown_location());
    if (!attributes.empty()) out.varint(pool_.dictionary(attributes));
    if (!record.empty()) out.varint(property(std::move(record)));
    out.flagged(1, true);
    ByteWriter region;
    region.varint(1);
    region.varint(0);
    region.flagged(module_.functions().size() + expansions_.size() + scans_.size(), false);
    for (const ir::Function& f : module_.functions())
      MILLRACE_TRY_STATUS(write_function(region, f, f.body()));
    for (const ir::Module& expansion : expansions_) {
      const ir::Function& f = expansion.functions().front();
      MILLRACE_TRY_STATUS(write_function(region, f, f.body()));
    }
    for (const auto& [function, body] : scans_)
      MILLRACE_TRY_STATUS(write_function(region, *function, *body));
    put_isolated(out, region.bytes());
    return {};
  }

  // Makes composites of the chlo operations in the region that have an expansion. Equal ones share
  // it.
  Status expand(const ir::Region& region) {
    for (const ir::Block* block : region.blocks()) {
      for (const ir::Op& op : *block) {
        for (const ir::Region& inner : op.regions()) MILLRACE_TRY_STATUS(expand(inner));
        if (!op.name().starts_with("chlo.")) continue;
        if (op.kind() == ir::OpKind::kChloScan) {
          MILLRACE_TRY_STATUS(expand_one_scan(op));
          continue;
        }
        const auto text = expand_chlo(op, "");
        if (!text) continue;
        std::string& name = expansion_names_[*text];
        if (name.empty()) {
          name = free_name(op);
          MILLRACE_TRY(ir::Module made, read::read_text(*expand_chlo(op, name)));
          expansions_.push_back(std::move(made));
        }
        composites_[&op] = composite(op, name);
      }
    }
    return {};
  }
  Status expand_one_scan(const ir::Op& op) {
    const std::string name = free_name(op);
    std::vector<const ir::Value*> outer = values_from_outside(op.region());
    const auto text = expand_scan(op, name, outer);
    if (!text) return {};
    MILLRACE_TRY(ir::Module made, read::read_text(*text));
    scans_.emplace_back(&made.functions().back(), &op.region());
    more_arguments_[&op.region().block()] = outer;
    more_operands_[&op] = std::move(outer);
    expansions_.push_back(std::move(made));
    composites_[&op] = composite(op, name);
    return {};
  }
  std::string free_name(const ir::Op& op) const {
    std::string name = std::string(op.name()) + ".impl";
    for (int n = 0; is_taken(name) || is_taken(name + ".body"); ++n)
      name = std::string(op.name()) + ".impl_" + std::to_string(n);
    return name;
  }
  bool is_taken(std::string_view name) const {
    return module_.find(name) != nullptr ||
           std::ranges::any_of(expansions_, [name](const ir::Module& made) {
             return made.functions().front().name() == name;
           });
  }
  // Its attributes count only. Those of chlo.broadcast_, ragged_dot and scan are in the expansion:
  // VHLO has no words for a ragged dot's numbers. XLA makes the operation again of a composite that
  // is named as one of the latter two, and would miss them; so these have another name.
  const ir::Op* composite(const ir::Op& op, std::string_view decomposition) {
    using K = ir::OpKind;
    const std::string_view path[] = {made_.intern(decomposition)};
    const bool renamed = op.kind() == K::kChloRaggedDot || op.kind() == K::kChloScan;
    const bool alone = renamed || op.name().starts_with("chlo.broadcast_");
    const auto shared = alone ? std::span<const ir::NamedAttribute>() : op.attributes();
    const std::string_view name =
        renamed ? made_.intern("millrace." + std::string(op.name())) : op.name();
    const ir::NamedAttribute attributes[] = {
        {"name", made_.attribute(ir::StringAttr{{}, name})},
        {"decomposition",
         made_.attribute(ir::SymbolAttr{{}, made_.copy(std::span<const std::string_view>(path))})},
        {"composite_attributes", made_.attribute(ir::DictAttr{{}, shared})},
        {"version", made_.attribute(ir::IntegerAttr{{}, 1, made_.types().scalar(DType::kI32)})}};
    return made_.create_op({.kind = ir::OpKind::kComposite,
                            .name = {},
                            .location = op.location(),
                            .operands = {},
                            .result_types = {},
                            .attributes = attributes,
                            .successors = {}});
  }

  // Regions that see nothing around them are a section of their own from format 2 on.
  void put_isolated(ByteWriter& out, const std::string& region) const {
    if (format_ >= kRegionSections) {
      out.section(static_cast<int>(SectionId::kOperations), region);
    } else {
      out.text(region);
    }
  }

  // [] if no argument or result has attributes, else a dictionary for each.
  Result<std::uint64_t> attribute_lists(std::span<const std::span<const ir::NamedAttribute>> all) {
    std::vector<ir::Attribute> dicts;
    if (std::ranges::any_of(all, [](const auto& one) { return !one.empty(); })) {
      for (const auto& one : all) dicts.push_back(made_.attribute(ir::DictAttr{{}, one}));
    }
    return pool_.attribute(
        made_.attribute(ir::ArrayAttr{{}, made_.copy(std::span<const ir::Attribute>(dicts))}));
  }

  Result<OpAttributes> function_attributes(const ir::Function& f) {
    std::vector<std::span<const ir::NamedAttribute>> arguments;
    std::vector<std::span<const ir::NamedAttribute>> results;
    for (std::size_t i = 0; i < f.inputs().size(); ++i)
      arguments.push_back(f.arg_attributes(static_cast<int>(i)));
    for (std::size_t i = 0; i < f.results().size(); ++i)
      results.push_back(f.result_attributes(static_cast<int>(i)));
    const ir::Type type = made_.types().function(f.inputs(), f.results());
    const auto text = [this](std::string_view s) {
      return pool_.attribute(made_.attribute(ir::StringAttr{{}, s}));
    };
    Result<std::uint64_t> values[] = {
        attribute_lists(arguments), pool_.attribute(made_.attribute(ir::TypeAttr{{}, type})),
        attribute_lists(results), text(f.name()), text(f.visibility())};
    OpAttributes out;
    for (std::size_t i = 0; i < std::size(values); ++i) {
      MILLRACE_TRY(const std::uint64_t index, std::move(values[i]));
      out.inherent.emplace_back(kFunctionAttributes[i], index);
    }
    for (const ir::NamedAttribute& a : f.attributes()) {
      MILLRACE_TRY(const std::uint64_t index, pool_.attribute(a.value));
      out.others.emplace_back(a.name, index);
    }
    return out;
  }

  // Values that stand for further arguments of the block, or operands of the operation.
  template <class Key>
  using Values = std::unordered_map<const Key*, std::vector<const ir::Value*>>;
  template <class Key>
  static std::span<const ir::Value* const> more(const Values<Key>& values, const Key& key) {
    const auto found = values.find(&key);
    if (found == values.end()) return {};
    return found->second;
  }

  Status write_function(ByteWriter& out, const ir::Function& f, const ir::Region& body) {
    const auto attributes = function_attributes(f);
    if (!attributes) {
      return std::unexpected(attributes.error().with_context(
          to_string(f.location()) + ": func.func @" + std::string(f.name())));
    }
    write_head(out, name(*find_vhlo_op("func", version_)), kHasRegions, *attributes);
    out.flagged(1, true);
    ByteWriter region;
    numbers_.clear();
    next_ = 0;
    MILLRACE_TRY_STATUS(write_region(region, body, 0));
    put_isolated(out, region.bytes());
    return {};
  }

  // Numbers of values go on inside; behind the region, they start where they did.
  Status write_region(ByteWriter& out, const ir::Region& region, int depth) {
    if (depth >= kMaxRegions)
      return fail(ErrorCode::kUnimplemented, "regions that are nested so deeply are not written");
    out.varint(region.blocks().size());
    if (region.empty()) return {};
    std::uint64_t values = 0;
    for (const ir::Block* block : region.blocks()) {
      values += block->arguments().size() + more(more_arguments_, *block).size();
      for (const ir::Op& op : *block) values += op.results().size();
    }
    out.varint(values);
    std::uint64_t mine = next_;
    next_ += values;
    for (const ir::Block* block : region.blocks()) {
      MILLRACE_TRY_STATUS(write_block(out, *block, &mine, depth));
    }
    next_ -= values;
    return {};
  }

  Status write_block(ByteWriter& out, const ir::Block& block, std::uint64_t* number, int depth) {
    const auto ops = static_cast<std::uint64_t>(std::distance(block.begin(), block.end()));
    std::vector<const ir::Value*> arguments;
    for (const ir::Value& argument : block.arguments()) arguments.push_back(&argument);
    for (const ir::Value* value : more(more_arguments_, block)) arguments.push_back(value);
    out.flagged(ops, !arguments.empty());
    if (!arguments.empty()) {
      out.varint(arguments.size());
      for (const ir::Value* argument : arguments) {
        MILLRACE_TRY(const std::uint64_t type, pool_.type(argument->type()));
        if (format_ >= kElidedLocations) {
          out.flagged(type, false);
        } else {
          out.varint(type);
          out.varint(pool_.unknown_location());
        }
        numbers_[argument] = (*number)++;
      }
      if (format_ >= kUseListOrders) out.byte(0);
    }
    for (const ir::Op& op : block) {
      const Status done = write_op(out, op, number, depth);
      if (!done && !std::exchange(located_, true)) {
        return std::unexpected(done.error().with_context(op.where()));
      }
      MILLRACE_TRY_STATUS(done);
    }
    return {};
  }

  Status write_op(ByteWriter& out, const ir::Op& op, std::uint64_t* number, int depth) {
    const auto composite = composites_.find(&op);
    const std::string_view base = composite != composites_.end()         ? "composite"
                                  : op.kind() == ir::OpKind::kCall       ? "call"
                                  : op.kind() == ir::OpKind::kFuncReturn ? "return"
                                  : op.name().starts_with("stablehlo.")
                                      ? op.name().substr(std::string_view("stablehlo.").size())
                                      : "";
    const VhloOp* row = base.empty() ? nullptr : find_vhlo_op(base, version_);
    if (row == nullptr || !op.successors().empty()) {
      return fail(ErrorCode::kUnimplemented,
                  "it has no form in version " + to_string(version_) + " of VHLO");
    }
    // Of the collectives' first revisions, each takes one operand.
    const bool single = row->revision == 1 && row->until < Version{1, 5, 0} &&
                        row->since < Version{0, 10, 0} && base.starts_with("all_");
    if (single && op.operand_count() != 1) {
      return fail(ErrorCode::kUnimplemented, "several operands need version 1.5.0 of VHLO");
    }
    const ir::Op& form = composite != composites_.end() ? *composite->second : op;
    MILLRACE_TRY(const OpAttributes attributes, to_vhlo(pool_, form, *row));
    const auto further = more(more_operands_, op);
    const std::size_t operands = op.operands().size() + further.size();
    const std::uint64_t parts = (op.result_count() != 0 ? kHasResults : 0) |
                                (operands != 0 ? kHasOperands : 0) |
                                (form.regions().empty() ? 0 : kHasRegions);
    write_head(out, name(*row), parts, attributes);
    if (op.result_count() != 0) out.varint(op.results().size());
    for (const ir::Value& result : op.results()) {
      MILLRACE_TRY(const std::uint64_t type, pool_.type(result.type()));
      out.varint(type);
      numbers_[&result] = (*number)++;
    }
    if (operands != 0) out.varint(operands);
    for (const ir::Value* operand : op.operands()) out.varint(numbers_.at(operand));
    for (const ir::Value* operand : further) out.varint(numbers_.at(operand));
    if (form.regions().empty()) return {};
    out.flagged(op.regions().size(), false);
    for (const ir::Region& region : op.regions()) {
      MILLRACE_TRY_STATUS(write_region(out, region, depth + 1));
    }
    return {};
  }

  const ir::Module& module_;
  const Version version_;
  const int format_;
  EntryPool pool_;
  ir::Module made_;  // for attributes that the program does not have as such
  std::unordered_map<std::string, std::string> expansion_names_;  // by text without name
  std::deque<ir::Module> expansions_;  // of one function each, but for the declarations of scans_
  std::vector<std::pair<const ir::Function*, const ir::Region*>> scans_;  // with their bodies
  Values<ir::Block> more_arguments_;                                      // of the bodies of scans
  Values<ir::Op> more_operands_;                                          // of scans
  std::unordered_map<const ir::Op*, const ir::Op*> composites_;           // what is written instead
  std::unordered_map<const VhloOp*, std::uint64_t> names_;
  std::vector<const VhloOp*> rows_;
  std::vector<std::string> properties_;
  std::unordered_map<std::string, std::uint64_t> property_numbers_;
  std::unordered_map<const ir::Value*, std::uint64_t> numbers_;
  std::uint64_t next_ = 0;
  bool located_ = false;  // the error says which op
};

// The versions from which on something has a form, from the oldest that is asked for on.
constexpr Version kSteps[] = {{1, 0, 0},  {1, 2, 0},  {1, 4, 0},  {1, 6, 0},     {1, 9, 0},
                              {1, 10, 0}, {1, 14, 0}, {1, 18, 0}, kNewestVersion};

}  // namespace

Result<std::string> write_bytecode(const ir::Module& module, std::optional<Version> version) {
  if (version) {
    if (*version < kOldestVersion || *version > kNewestVersion) {
      return fail(ErrorCode::kInvalidArgument,
                  "there is no version " + to_string(*version) + " of VHLO here; there are " +
                      to_string(kOldestVersion) + " to " + to_string(kNewestVersion));
    }
    return Writer(module, *version).write();
  }
  Result<std::string> written = fail(ErrorCode::kInternal, "no version was tried");
  for (const Version step : kSteps) {
    written = Writer(module, step).write();
    if (written || written.error().code() != ErrorCode::kUnimplemented) return written;
  }
  return written;
}

}  // namespace millrace::devices::cpu::bytecode
