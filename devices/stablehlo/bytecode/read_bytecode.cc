#include "millrace/devices/stablehlo/bytecode/read_bytecode.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "millrace/devices/stablehlo/bytecode/entries.h"
#include "millrace/devices/stablehlo/bytecode/op_attributes.h"

namespace millrace::devices::stablehlo::bytecode {
namespace {

using Blocks = std::vector<ir::Block*>;

// The inherent attributes of an operation of Shardy, in the order in which they lie.
struct SdyOp {
  std::string_view name;
  std::array<std::string_view, 3> attributes;
};
constexpr SdyOp kSdyOps[] = {
    {"mesh", {"mesh", "sym_name"}},
    {"sharding_constraint", {"sharding"}},
    {"reshard", {"sharding"}},
    {"manual_computation", {"in_shardings", "manual_axes", "out_shardings"}},
    {"sharding_group", {"group_id"}},
    {"propagation_barrier", {"allowed_direction"}},
};

ir::Location location_of(std::size_t offset) {
  return {0, static_cast<std::uint32_t>(
                 std::min<std::size_t>(offset, std::numeric_limits<std::uint32_t>::max()))};
}

// The operations of a file: regions, blocks, values and ops, made in the module as they are read.
// Thread-safety: confined.
class Operations {
 public:
  Operations(File& file, const Container& container, ir::Module& module)
      : file_(file),
        container_(container),
        module_(module),
        entries_(file, container, module),
        to_stablehlo_(file, module) {}

  void read() {
    ByteCursor in(file_, container_.operations);
    const auto [n, arguments] = in.flagged();
    if (arguments) in.fail("a file with arguments");
    scopes_.push_back({0, in.remaining(), true, {}});
    read_block_ops(in, n, Place::kFile, nullptr);
    file_.set_op({});
    if (!module_seen_) in.fail("the bytecode holds no module");
  }

 private:
  // What stands around an op.
  enum class Place { kFile, kModule, kFunction, kRegion };

  // An op up to its regions.
  struct Draft {
    std::size_t offset = 0;
    const OpName* name = nullptr;
    const VhloOp* vhlo = nullptr;  // nullptr for other dialects
    Attributes encoded;
    std::vector<ir::Type> results;
    std::vector<ir::Value*> operands;
    Flagged regions = {};  // how many; whether they see nothing around them
  };

  // The values of one region that is being read: numbers from `first` on, in order of definition.
  struct Scope {
    std::uint64_t first = 0;
    std::uint64_t size = 0;
    bool isolated = false;  // what stands around it is not seen
    std::vector<ir::Value*> values;
  };

  std::string_view dialect_of(const OpName& name) const {
    return container_.dialects[name.dialect];
  }
  bool is_module(const Draft& d) const {
    return dialect_of(*d.name) == "builtin" && d.name->name == "module";
  }

  void read_block_ops(ByteCursor& in, std::uint64_t n, Place place, ir::Block* to) {
    for (; n != 0; --n) read_op(in, place, to);
  }

  void read_op(ByteCursor& in, Place place, ir::Block* to) {
    if (depth_ >= kMaxDepth) in.fail("regions that are nested too deeply");
    ++depth_;
    finish_op(in, read_head(in), place, to);
    --depth_;
  }

  Draft read_head(ByteCursor& in) {
    Draft d;
    d.offset = in.offset();
    file_.set_op({});
    d.name = &container_.op_names[in.reference("operation name", container_.op_names.size())];
    file_.set_op(d.name->name);
    const std::string_view dialect = dialect_of(*d.name);
    if (dialect == "vhlo") {
      d.vhlo = find_vhlo_op(d.name->name);
      if (d.vhlo == nullptr) {
        file_.fail(d.offset,
                   "an unknown operation of VHLO; this reader knows versions up to " +
                       to_string(kNewestVersion),
                   ErrorCode::kUnimplemented);
      }
    } else if (dialect == "stablehlo" || dialect == "chlo" || dialect == "func") {
      file_.fail(d.offset,
                 "bytecode of the dialect " + std::string(dialect) +
                     " itself, which no version promises to read: export a portable "
                     "artifact (stablehlo.serialize_portable_artifact, jax.export) or text",
                 ErrorCode::kUnimplemented);
    }
    const std::uint8_t parts = in.byte();
    in.varint();  // its location
    if ((parts & kHasAttributes) != 0) read_attributes(in, d);
    if ((parts & kHasProperties) != 0) read_properties(in, d);
    if ((parts & kHasResults) != 0) d.results = entries_.types(in);
    if ((parts & kHasOperands) != 0) d.operands = in.list([&] { return value(in); });
    if ((parts & kHasSuccessors) != 0)
      in.fail("an operation with successors: programs have no branches between blocks");
    if ((parts & kHasUseOrders) != 0) skip_use_orders(in, d.results.size());
    if ((parts & kHasRegions) != 0) d.regions = in.flagged();
    return d;
  }

  void read_attributes(ByteCursor& in, Draft& d) {
    const ir::Attribute value = entries_.attribute(in);
    const auto* dict = value.as<ir::DictAttr>();
    if (dict == nullptr) in.fail("the attributes of an operation are no dictionary");
    d.encoded.assign(dict->values.begin(), dict->values.end());
  }

  // One reference for each inherent attribute, in the order of their names.
  void read_properties(ByteCursor& in, Draft& d) {
    const std::size_t index = in.reference("properties", container_.properties.size());
    ByteCursor record(file_, container_.properties[index]);
    if (is_module(d)) {
      const std::size_t from = record.offset();
      const auto [name, named] = record.flagged();
      if (named) d.encoded.push_back({"sym_name", entries_.attribute(name, from)});
      return;
    }
    if (d.vhlo == nullptr) return read_sdy_properties(record, d);
    for (const VhloAttribute& attribute : d.vhlo->attributes)
      d.encoded.push_back({attribute.name, entries_.attribute(record)});
    if (!record.at_end()) record.fail("more properties than the operation has");
  }

  // Those of Shardy's operations that frontends write; those of others are skipped.
  void read_sdy_properties(ByteCursor& record, Draft& d) {
    if (dialect_of(*d.name) != "sdy") return;
    for (const SdyOp& op : kSdyOps) {
      if (op.name != d.name->name) continue;
      for (const std::string_view name : op.attributes) {
        if (!name.empty()) d.encoded.push_back({name, entries_.attribute(record)});
      }
      if (!record.at_end()) record.fail("more properties than the operation has");
      return;
    }
  }

  // Between the types of two dialects, which are the same types here: what it gives is what it
  // takes.
  bool is_cast(const Draft& d) const {
    return dialect_of(*d.name) == "builtin" && d.name->name == "unrealized_conversion_cast" &&
           !d.operands.empty() && d.regions.number == 0 &&
           std::ranges::equal(d.operands, d.results, {}, &ir::Value::type);
  }

  // The order that the uses of values had in memory is not needed here.
  void skip_use_orders(ByteCursor& in, std::size_t values) {
    for (std::uint64_t n = values != 1 ? in.varint() : 1; n != 0; --n) {
      if (values != 1) in.varint();
      for (std::uint64_t numbers = in.flagged().number; numbers != 0; --numbers) in.varint();
    }
  }

  // Numbers count from the outermost region that sees nothing around it.
  ir::Value* value(ByteCursor& in) const {
    const std::size_t from = in.offset();
    const std::uint64_t number = in.varint();
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (number >= scope->first) {
        if (number - scope->first >= scope->values.size()) break;
        ir::Value* const found = scope->values[static_cast<std::size_t>(number - scope->first)];
        if (found == nullptr) break;
        return found;
      }
      if (scope->isolated) break;
    }
    file_.fail(from, "value " + std::to_string(number) + " is used but not defined before");
  }

  void define(const ByteCursor& in, std::span<ir::Value> values) {
    Scope& scope = room_for(in, values.size());
    for (ir::Value& v : values) scope.values.push_back(&v);
  }
  void define(const ByteCursor& in, std::span<ir::Value* const> values) {
    Scope& scope = room_for(in, values.size());
    scope.values.insert(scope.values.end(), values.begin(), values.end());
  }
  Scope& room_for(const ByteCursor& in, std::size_t values) {
    Scope& scope = scopes_.back();
    if (values > scope.size - scope.values.size()) in.fail("more values than the region has");
    return scope;
  }

  void finish_op(ByteCursor& in, const Draft& d, Place place, ir::Block* to) {
    if (place == Place::kFile || is_module(d)) {
      if (place != Place::kFile || !is_module(d) || module_seen_)
        file_.fail(d.offset, "expected one module, and it around everything else");
      return read_module(in, d);
    }
    if (d.vhlo != nullptr && d.vhlo->name == "func") {
      if (place != Place::kModule) file_.fail(d.offset, "a function inside another operation");
      return read_function(in, d);
    }
    if (is_cast(d)) return define(in, d.operands);
    const Attributes attributes =
        d.vhlo == nullptr ? d.encoded : to_stablehlo_.convert(*d.vhlo, d.offset, d.encoded);
    const bool returns = d.vhlo != nullptr && d.vhlo->kind == ir::OpKind::kReturn;
    const ir::OpKind kind = d.vhlo == nullptr                      ? ir::OpKind::kOther
                            : returns && place == Place::kFunction ? ir::OpKind::kFuncReturn
                                                                   : d.vhlo->kind;
    if (d.regions.number > in.remaining() + 1) fail_regions(in, d);
    const std::string name =
        d.vhlo != nullptr ? std::string()
                          : std::string(dialect_of(*d.name)) + "." + std::string(d.name->name);
    ir::Op* op = module_.create_op({.kind = kind,
                                    .name = name,
                                    .location = location_of(d.offset),
                                    .operands = d.operands,
                                    .result_types = d.results,
                                    .attributes = attributes,
                                    .regions = static_cast<int>(d.regions.number)});
    to->append(op);
    define(in, op->results());
    if (d.regions.number == 0) return;
    // Its results have their numbers by now, but its own regions cannot see them.
    const auto own = [&] { return std::span(scopes_.back().values).last(op->results().size()); };
    std::ranges::fill(own(), nullptr);
    const std::vector<Blocks> regions = read_regions(in, d, Place::kRegion);
    std::ranges::transform(op->results(), own().begin(), [](ir::Value& v) { return &v; });
    for (std::size_t i = 0; i < regions.size(); ++i)
      module_.set_blocks(op->regions()[i], regions[i]);
  }

  void read_module(ByteCursor& in, const Draft& d) {
    module_seen_ = true;
    Attributes attributes;
    for (const ir::NamedAttribute& a : d.encoded) {
      const auto* text = a.value.as<ir::StringAttr>();
      if (a.name == "sym_name" && text != nullptr) {
        module_.set_name(text->value);
      } else if (a.name != "sym_visibility") {
        attributes.push_back(a);
      }
    }
    module_.set_attributes(attributes);
    if (d.regions.number != 1) file_.fail(d.offset, "a module needs one region");
    read_regions(in, d, Place::kModule);
  }

  void read_function(ByteCursor& in, const Draft& d) {
    const auto* name = find(d.encoded, "sym_name").as<ir::StringAttr>();
    const auto* type = find(d.encoded, "function_type").as<ir::TypeAttr>();
    const auto* visibility = find(d.encoded, "sym_visibility").as<ir::StringAttr>();
    if (name == nullptr || type == nullptr || type->value.kind() != ir::TypeKind::kFunction ||
        d.regions.number != 1 || name->value.empty()) {
      file_.fail(d.offset, "a function needs its name, its type and one region");
    }
    const std::string_view seen = visibility == nullptr ? std::string_view() : visibility->value;
    if (!seen.empty() && seen != "public" && seen != "private" && seen != "nested")
      file_.fail(d.offset, "a visibility that is not public, private or nested");
    if (module_.find(name->value) != nullptr)
      file_.fail(d.offset, "the function @" + std::string(name->value) + " is defined twice");
    const auto lists = [&](std::string_view of, std::size_t n) {
      std::vector<std::span<const ir::NamedAttribute>> out(n);
      const auto* array = find(d.encoded, of).as<ir::ArrayAttr>();
      for (std::size_t i = 0; array != nullptr && i < std::min(n, array->values.size()); ++i) {
        if (const auto* dict = array->values[i].as<ir::DictAttr>()) out[i] = dict->values;
      }
      return out;
    };
    const auto arguments = lists("arg_attrs", type->value.members().size());
    const auto results = lists("res_attrs", type->value.results().size());
    Attributes others = d.encoded;
    std::erase_if(others, [&](const auto& a) { return d.vhlo->find(a.name) != nullptr; });
    ir::Function& f = module_.create_function({.name = name->value,
                                               .visibility = seen,
                                               .location = location_of(d.offset),
                                               .inputs = type->value.members(),
                                               .results = type->value.results(),
                                               .arg_attributes = arguments,
                                               .result_attributes = results,
                                               .attributes = others});
    module_.set_blocks(f.body(), read_regions(in, d, Place::kFunction)[0]);
    if (f.is_declaration()) return;
    if (!std::ranges::equal(f.body().block().arguments(), f.inputs(), {}, &ir::Value::type)) {
      file_.fail(d.offset,
                 "the body of @" + std::string(name->value) + " has other arguments than its type");
    }
  }

  // Regions that see nothing around them are together in a section of their own.
  std::vector<Blocks> read_regions(ByteCursor& in, const Draft& d, Place inside) {
    if (!d.regions.flag || container_.format < kRegionSections) return regions_at(in, d, inside);
    const auto [id, contents] = read_section(in);
    if (id != SectionId::kOperations) in.fail("a section that holds no regions");
    ByteCursor section(file_, contents);
    return regions_at(section, d, inside);
  }

  std::vector<Blocks> regions_at(ByteCursor& in, const Draft& d, Place inside) {
    if (d.regions.number > in.remaining()) fail_regions(in, d);
    std::vector<Blocks> regions(static_cast<std::size_t>(d.regions.number));
    for (Blocks& region : regions) region = read_region(in, d.regions.flag, inside);
    return regions;
  }

  [[noreturn]] static void fail_regions(const ByteCursor& in, const Draft& d) {
    in.fail(std::to_string(d.regions.number) + " regions, more than the bytes that are left");
  }

  Blocks read_region(ByteCursor& in, bool isolated, Place inside) {
    std::size_t blocks = in.count();
    if (blocks == 0) return {};
    if (inside == Place::kModule && blocks != 1) in.fail("a module needs one block");
    const std::uint64_t values = in.varint();
    if (values > in.remaining()) {
      in.fail("a region of " + std::to_string(values) + " values, but " +
              std::to_string(in.remaining()) + " bytes are left");
    }
    const std::uint64_t first = isolated ? 0 : scopes_.back().first + scopes_.back().size;
    scopes_.push_back({first, values, isolated, {}});
    Blocks made;
    for (; blocks != 0; --blocks) read_block(in, inside, made);
    scopes_.pop_back();
    return made;
  }

  void read_block(ByteCursor& in, Place inside, Blocks& made) {
    const auto [ops, has_arguments] = in.flagged();
    const std::vector<ir::Type> types =
        has_arguments ? read_block_arguments(in) : std::vector<ir::Type>();
    if (inside == Place::kModule) {
      if (has_arguments) in.fail("a module with arguments");
      return read_block_ops(in, ops, inside, &module_.top_level());
    }
    if (ops == 0) in.fail("a block without operations: it must end with one");
    ir::Block* block = module_.create_block(types);
    made.push_back(block);
    define(in, block->arguments());
    read_block_ops(in, ops, inside, block);
  }

  std::vector<ir::Type> read_block_arguments(ByteCursor& in) {
    const std::vector<ir::Type> types = in.list([&] {
      const std::size_t from = in.offset();
      const auto [index, located] = in.flagged_if(container_.format >= kElidedLocations, true);
      const ir::Type type = entries_.type(index, from);
      if (located) in.varint();
      return type;
    });
    if (container_.format >= kUseListOrders && in.byte() != 0) skip_use_orders(in, types.size());
    return types;
  }

  File& file_;
  const Container& container_;
  ir::Module& module_;
  Entries entries_;
  ToStablehlo to_stablehlo_;
  std::vector<Scope> scopes_;
  int depth_ = 0;
  bool module_seen_ = false;
};

}  // namespace

bool is_bytecode(std::string_view bytes) { return bytes.starts_with(kMagic); }

Result<ir::Module> read_bytecode(std::string_view bytes) {
  File file(bytes);
  try {
    const Container container = read_container(file);
    ir::Module module;
    Operations(file, container, module).read();
    return module;
  } catch (const Error& error) {
    return std::unexpected(error);
  }
}

}  // namespace millrace::devices::stablehlo::bytecode
