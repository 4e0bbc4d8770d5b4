#include "millrace/devices/stablehlo/bytecode/write_bytecode.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "millrace/devices/stablehlo/bytecode/container.h"
#include "millrace/devices/stablehlo/bytecode/op_attributes.h"
#include "millrace/devices/stablehlo/expand/chlo_expansion.h"
#include "millrace/devices/stablehlo/ir/print.h"

namespace millrace::devices::stablehlo::bytecode {
namespace {

constexpr int kMaxRegions = 200;  // inside each other

class Writer {
 public:
  Writer(const ir::Module& module, Version version)
      : module_(module),
        version_(version),
        format_(bytecode_format(version)),
        pool_(version),
        made_(ir::Module::over(module)) {}

  Result<std::string> write() {
    try {
      return file();
    } catch (const Error& error) {
      if (op_ != nullptr) return std::unexpected(error.with_context(op_->where()));
      if (function_ == nullptr) return std::unexpected(error);
      return std::unexpected(error.with_context(to_string(function_->location()) + ": func.func @" +
                                                std::string(function_->name())));
    }
  }

 private:
  std::string file() {
    if (!module_.top_level().empty()) {
      op_ = module_.top_level().front();
      throw Error(ErrorCode::kUnimplemented, "has no form in a portable artifact");
    }
    for (const ir::Function& f : module_.functions()) expand(f.body());
    ByteWriter operations;
    operations.flagged(1, false);
    write_module(operations);
    ByteWriter out;
    out.text(kMagic);
    out.varint(static_cast<std::uint64_t>(format_));
    out.text("StableHLO_v" + to_string(version_));
    out.byte(0);
    out.section(SectionId::kDialect, dialect_section());
    out.section(SectionId::kOffsets, pool_.offsets());
    out.section(SectionId::kAttributesAndTypes, pool_.entries());
    out.section(SectionId::kOperations, operations.bytes());
    out.section(SectionId::kString, pool_.strings());
    if (format_ >= kNativeProperties) out.section(SectionId::kProperties, properties_section());
    return out.take();
  }

  std::string dialect_section() {
    ByteWriter out;
    const std::string_view dialects[] = {"builtin", "vhlo"};
    const auto op = [&](std::string_view name) {
      out.flagged_if(format_ >= kNativeProperties, pool_.string(name), true);
    };
    out.list(dialects, [&](std::string_view name) {
      out.flagged_if(format_ >= kDialectVersions, pool_.string(name), false);
    });
    if (format_ >= kElidedLocations) out.varint(rows_.all().size() + 1);
    out.varint(static_cast<std::uint64_t>(Dialect::kBuiltin));
    out.varint(1);
    op("module");
    if (rows_.all().empty()) return out.take();
    out.varint(static_cast<std::uint64_t>(Dialect::kVhlo));
    out.list(rows_.all(), [&](const VhloOp* const* row) {
      op(std::string((*row)->name) + "_v" + std::to_string((*row)->revision));
    });
    return out.take();
  }

  std::string properties_section() const {
    ByteWriter out;
    out.list(properties_.all(), [&](const std::string* record) {
      out.varint(record->size());
      out.text(*record);
    });
    return out.take();
  }

  // Name, parts and attributes; `record`: those that are apart, if any.
  void write_head(ByteWriter& out, std::uint64_t name, std::uint64_t parts, const Encoded& in_dict,
                  std::string record) {
    out.varint(name);
    out.byte(parts | (in_dict.empty() ? 0 : kHasAttributes) |
             (record.empty() ? 0 : kHasProperties));
    out.varint(pool_.unknown_location());
    if (!in_dict.empty()) out.varint(pool_.dictionary(in_dict));
    if (!record.empty()) out.varint(properties_.add(std::move(record)));
  }

  // From format 5 on the inherent attributes are apart.
  void write_head(ByteWriter& out, const VhloOp& row, std::uint64_t parts,
                  const OpAttributes& attributes) {
    Encoded in_dict = attributes.others;
    ByteWriter record;
    if (format_ < kNativeProperties) {
      in_dict.insert(in_dict.end(), attributes.inherent.begin(), attributes.inherent.end());
      std::ranges::sort(in_dict);
    } else {
      for (const auto& [ignored, index] : attributes.inherent) record.varint(index);
    }
    // Names of VHLO come behind builtin.module.
    write_head(out, rows_.add(&row) + 1, parts, in_dict, record.take());
  }

  void write_module(ByteWriter& out) {
    Encoded attributes = encoded(module_.attributes(), Dialect::kBuiltin);
    ByteWriter record;
    if (!module_.name().empty()) {
      const std::uint64_t name = pool_.builtin_string(module_.name());
      if (format_ < kNativeProperties) {
        attributes.emplace_back("sym_name", name);
        std::ranges::sort(attributes);
      } else {
        // Name and visibility, each there or not.
        record.flagged(name, true);
        record.varint(0);
      }
    }
    write_head(out, 0, kHasRegions, attributes, record.take());
    out.flagged(1, true);
    ByteWriter region;
    region.varint(1);
    region.varint(0);
    region.flagged(module_.functions().size() + made_.functions().size(), false);
    for (const ir::Module* module : {&module_, &std::as_const(made_)}) {
      for (const ir::Function& f : module->functions()) write_function(region, f);
    }
    put_isolated(out, region.bytes());
  }

  Encoded encoded(std::span<const ir::NamedAttribute> attributes, Dialect dialect) {
    Encoded out;
    for (const ir::NamedAttribute& a : attributes)
      out.emplace_back(a.name, pool_.attribute(a.value, dialect));
    return out;
  }

  // Makes composites of the chlo operations in the region that have an expansion. Equal ones share
  // it.
  void expand(const ir::Region& region) {
    for (const ir::Block* block : region.blocks()) {
      for (const ir::Op& op : *block) {
        if (!op.name().starts_with("chlo.")) {
          for (const ir::Region& inner : op.regions()) expand(inner);
          continue;
        }
        std::vector<ir::Value*> operands(op.operands().begin(), op.operands().end());
        std::string own;
        std::string* name = &own;
        if (op.regions().empty()) {
          name = &expansion_names_[signature(op)];
        } else {
          const auto outer = expand::values_from_outside(op.region());
          operands.insert(operands.end(), outer.begin(), outer.end());
        }
        if (name->empty()) *name = make_expansion(op, operands);
        if (!name->empty()) composites_[&op] = composite(op, *name, operands);
      }
    }
  }
  std::string signature(const ir::Op& op) const {
    const ir::Type type =
        made_.types().function(ir::types_of(op.operands()), ir::types_of(op.results()));
    return std::string(op.name()) + type.to_string() +
           ir::print(made_.attribute(ir::DictAttr{{}, op.attributes()}));
  }
  // The name of the function, "" if there is no expansion.
  std::string make_expansion(const ir::Op& op, std::span<ir::Value* const> operands) {
    ir::Block* const body = expand::expand_chlo(made_, op, operands.subspan(op.operands().size()));
    if (body == nullptr) return {};
    std::string name = std::string(op.name()) + ".impl";
    for (int n = 0; module_.find(name) != nullptr || made_.find(name) != nullptr; ++n)
      name = std::string(op.name()) + ".impl_" + std::to_string(n);
    const auto inputs = ir::types_of(operands), results = ir::types_of(op.results());
    ir::Function& f = made_.create_function(
        {.name = name, .visibility = "private", .inputs = inputs, .results = results});
    made_.set_blocks(f.body(), {&body, 1});
    expand(f.body());
    return name;
  }
  // Its attributes count only. Those of chlo.broadcast_, ragged_dot and scan are in the expansion:
  // VHLO has no words for a ragged dot's numbers. XLA makes the operation again of a composite that
  // is named as one of the latter two, and would miss them; so these have another name.
  const ir::Op* composite(const ir::Op& op, std::string_view decomposition,
                          std::span<ir::Value* const> operands) {
    using K = ir::OpKind;
    const bool renamed = op.kind() == K::kChloRaggedDot || op.kind() == K::kChloScan;
    const bool alone = renamed || op.name().starts_with("chlo.broadcast_");
    const auto shared = alone ? std::span<const ir::NamedAttribute>() : op.attributes();
    const std::string name = (renamed ? "millrace." : "") + std::string(op.name());
    const ir::NamedAttribute attributes[] = {
        {"name", made_.string(name)},
        {"decomposition", made_.symbol(decomposition)},
        {"composite_attributes", made_.attribute(ir::DictAttr{{}, shared})},
        {"version", made_.integer(1, DType::kI32)}};
    return made_.create_op({.kind = ir::OpKind::kComposite,
                            .location = op.location(),
                            .operands = operands,
                            .attributes = attributes});
  }

  // Regions that see nothing around them are a section of their own from format 2 on.
  void put_isolated(ByteWriter& out, const std::string& region) const {
    if (format_ >= kRegionSections) {
      out.section(SectionId::kOperations, region);
    } else {
      out.text(region);
    }
  }

  // [] if no argument or result has attributes, else a dictionary for each.
  ir::Attribute attribute_lists(std::size_t n, auto attributes_of) {
    std::vector<ir::Attribute> dicts;
    bool some = false;
    for (std::size_t i = 0; i < n; ++i) {
      const std::span<const ir::NamedAttribute> one = attributes_of(static_cast<int>(i));
      some = some || !one.empty();
      dicts.push_back(made_.attribute(ir::DictAttr{{}, one}));
    }
    if (!some) dicts.clear();
    return made_.array(dicts);
  }

  OpAttributes function_attributes(const ir::Function& f) {
    const ir::NamedAttribute inherent[] = {
        {"arg_attrs",
         attribute_lists(f.inputs().size(), [&](int i) { return f.arg_attributes(i); })},
        {"function_type",
         made_.attribute(ir::TypeAttr{{}, made_.types().function(f.inputs(), f.results())})},
        {"res_attrs",
         attribute_lists(f.results().size(), [&](int i) { return f.result_attributes(i); })},
        {"sym_name", made_.string(f.name())},
        {"sym_visibility", made_.string(f.visibility())}};
    return {encoded(inherent, Dialect::kVhlo), encoded(f.attributes(), Dialect::kVhlo)};
  }

  void write_function(ByteWriter& out, const ir::Function& f) {
    op_ = nullptr;
    function_ = &f;
    write_head(out, *find_vhlo_op("func", version_), kHasRegions, function_attributes(f));
    out.flagged(1, true);
    ByteWriter region;
    numbers_.clear();
    next_ = 0;
    write_region(region, f.body(), 0);
    put_isolated(out, region.bytes());
  }

  // Numbers of values continue inside; behind the region, they start where they did.
  void write_region(ByteWriter& out, const ir::Region& region, int depth) {
    if (depth >= kMaxRegions)
      throw Error(ErrorCode::kUnimplemented, "regions that are nested so deeply are not written");
    out.varint(region.blocks().size());
    if (region.empty()) return;
    std::uint64_t values = 0;
    for (const ir::Block* block : region.blocks()) {
      values += block->arguments().size();
      for (const ir::Op& op : *block) values += op.results().size();
    }
    out.varint(values);
    std::uint64_t mine = next_;
    next_ += values;
    for (const ir::Block* block : region.blocks()) write_block(out, *block, &mine, depth);
    next_ -= values;
  }

  void write_block(ByteWriter& out, const ir::Block& block, std::uint64_t* number, int depth) {
    const auto ops = static_cast<std::uint64_t>(std::distance(block.begin(), block.end()));
    out.flagged(ops, !block.arguments().empty());
    if (!block.arguments().empty()) {
      out.list(block.arguments(), [&](const ir::Value& argument) {
        const std::uint64_t type = pool_.type(argument.type());
        out.flagged_if(format_ >= kElidedLocations, type, false);
        if (format_ < kElidedLocations) out.varint(pool_.unknown_location());
        numbers_[&argument] = (*number)++;
      });
      if (format_ >= kUseListOrders) out.byte(0);
    }
    for (const ir::Op& op : block) write_op(out, op, number, depth);
  }

  void write_op(ByteWriter& out, const ir::Op& op, std::uint64_t* number, int depth) {
    op_ = &op;
    const auto composite = composites_.find(&op);
    const std::string_view base = composite != composites_.end()         ? "composite"
                                  : op.kind() == ir::OpKind::kCall       ? "call"
                                  : op.kind() == ir::OpKind::kFuncReturn ? "return"
                                  : op.name().starts_with("stablehlo.")
                                      ? op.name().substr(std::string_view("stablehlo.").size())
                                      : "";
    const VhloOp* row = base.empty() ? nullptr : find_vhlo_op(base, version_);
    if (row == nullptr || !op.successors().empty()) {
      throw Error(ErrorCode::kUnimplemented,
                  "it has no form in version " + to_string(version_) + " of VHLO");
    }
    // Each of the collectives' first revisions takes one operand.
    const bool single = row->revision == 1 && row->until < Version{1, 5, 0} &&
                        row->since < Version{0, 10, 0} && base.starts_with("all_");
    if (single && op.operand_count() != 1)
      throw Error(ErrorCode::kUnimplemented, "several operands need version 1.5.0 of VHLO");
    const ir::Op& form = composite != composites_.end() ? *composite->second : op;
    const auto operands = form.operands();
    const std::uint64_t parts = (op.result_count() != 0 ? kHasResults : 0) |
                                (!operands.empty() ? kHasOperands : 0) |
                                (form.regions().empty() ? 0 : kHasRegions);
    write_head(out, *row, parts, to_vhlo(pool_, made_, form, *row));
    if (op.result_count() != 0) {
      out.list(op.results(), [&](const ir::Value& result) {
        out.varint(pool_.type(result.type()));
        numbers_[&result] = (*number)++;
      });
    }
    if (!operands.empty()) {
      out.list(operands, [&](const ir::Value* operand) { out.varint(numbers_.at(operand)); });
    }
    if (form.regions().empty()) return;
    out.flagged(op.regions().size(), false);
    for (const ir::Region& region : op.regions()) {
      op_ = &op;
      write_region(out, region, depth + 1);
    }
  }

  const ir::Module& module_;
  const Version version_;
  const int format_;
  EntryPool pool_;
  ir::Module made_;  // expansions and attributes that the program does not have as such
  std::unordered_map<std::string, std::string> expansion_names_;  // by their signatures
  std::unordered_map<const ir::Op*, const ir::Op*> composites_;   // what is written instead
  Numbered<const VhloOp*> rows_;
  Numbered<std::string> properties_;
  std::unordered_map<const ir::Value*, std::uint64_t> numbers_;
  std::uint64_t next_ = 0;
  // What is being written, for errors: the op, else the function.
  const ir::Op* op_ = nullptr;
  const ir::Function* function_ = nullptr;
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

}  // namespace millrace::devices::stablehlo::bytecode
