#include "millrace/devices/stablehlo/bytecode/read_bytecode.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <vector>

#include "millrace/devices/stablehlo/bytecode/entries.h"
#include "millrace/devices/stablehlo/bytecode/op_attributes.h"

namespace millrace::devices::stablehlo::bytecode {
namespace {

ir::Location location_of(std::size_t offset) {
  return {0, static_cast<std::uint32_t>(
                 std::min<std::size_t>(offset, std::numeric_limits<std::uint32_t>::max()))};
}

// The operations of a file: regions, blocks, values and ops, made in the module as they are read.
// Thread-safety: confined.
class Operations {
 public:
  Operations(Problem& problem, const Container& container, ir::Module& module)
      : problem_(problem),
        container_(container),
        module_(module),
        entries_(problem, container, module),
        to_stablehlo_(problem, module) {}

  bool read() {
    ByteCursor in(problem_, container_.file, container_.operations);
    std::uint64_t n = 0;
    bool arguments = false;
    if (!in.flagged(&n, &arguments)) return false;
    if (arguments) return in.fail("a file with arguments");
    scopes_.push_back({0, in.remaining(), true, {}});
    if (!read_block_ops(in, n, Place::kFile, nullptr)) return false;
    problem_.set_op({});
    return module_seen_ || in.fail("the bytecode holds no module");
  }

 private:
  // What stands around an op.
  enum class Place { kFile, kModule, kFunction, kRegion };

  // An op up to its regions. Kept and reused for each depth.
  struct Draft {
    std::size_t offset = 0;
    const OpName* name = nullptr;
    const VhloOp* vhlo = nullptr;  // nullptr for other dialects
    std::uint64_t parts = 0;
    Attributes encoded;
    Attributes attributes;
    std::vector<ir::Type> results;
    std::vector<ir::Value*> operands;
    std::uint64_t regions = 0;
    bool isolated = false;

    void clear() {
      name = nullptr;
      vhlo = nullptr;
      parts = 0;
      encoded.clear();
      attributes.clear();
      results.clear();
      operands.clear();
      regions = 0;
      isolated = false;
    }
  };

  // The values of one region that is being read: numbers from `first` on, in order of definition.
  struct Scope {
    std::uint64_t first = 0;
    std::uint64_t size = 0;
    bool isolated = false;  // what stands around it is not seen
    std::vector<ir::Value*> values;
  };

  bool is_module(const Draft& d) const {
    return container_.dialects[d.name->dialect] == "builtin" && d.name->name == "module";
  }

  std::string full_name(const OpName& name) const {
    return std::string(container_.dialects[name.dialect]) + "." + std::string(name.name);
  }

  bool read_block_ops(ByteCursor& in, std::uint64_t n, Place place, ir::Block* to) {
    for (; n != 0; --n) {
      if (!read_op(in, place, to)) return false;
    }
    return true;
  }

  bool read_op(ByteCursor& in, Place place, ir::Block* to) {
    if (depth_ >= kMaxDepth) return in.fail("regions that are nested too deeply");
    if (drafts_.size() == static_cast<std::size_t>(depth_)) drafts_.emplace_back();
    Draft& d = drafts_[static_cast<std::size_t>(depth_)];
    d.clear();
    ++depth_;
    const bool good = read_head(in, d) && finish_op(in, d, place, to);
    --depth_;
    return good;
  }

  bool read_head(ByteCursor& in, Draft& d) {
    d.offset = in.offset();
    std::size_t name = 0;
    std::uint64_t where = 0;
    problem_.set_op({});
    if (!in.reference("operation name", container_.op_names.size(), &name)) return false;
    d.name = &container_.op_names[name];
    problem_.set_op(d.name->name);
    const std::string_view dialect = container_.dialects[d.name->dialect];
    if (dialect == "vhlo") {
      d.vhlo = find_vhlo_op(d.name->name);
      if (d.vhlo == nullptr) {
        return problem_.fail(d.offset,
                             "an unknown operation of VHLO; this reader knows versions up to " +
                                 to_string(kNewestVersion),
                             ErrorCode::kUnimplemented);
      }
    } else if (dialect == "stablehlo" || dialect == "chlo" || dialect == "func") {
      return problem_.fail(
          d.offset,
          "bytecode of the dialect " + std::string(dialect) +
              " itself, which no version promises to read: export a portable "
              "artifact (stablehlo.serialize_portable_artifact, jax.export) or text",
          ErrorCode::kUnimplemented);
    }
    std::uint8_t parts = 0;
    if (!in.byte(&parts) || !in.varint(&where)) return false;
    d.parts = parts;
    return ((d.parts & kHasAttributes) == 0 || read_attributes(in, d)) &&
           ((d.parts & kHasProperties) == 0 || read_properties(in, d)) &&
           ((d.parts & kHasResults) == 0 || entries_.read(in, &d.results)) &&
           ((d.parts & kHasOperands) == 0 || read_operands(in, d)) &&
           ((d.parts & kHasSuccessors) == 0 ||
            in.fail("an operation with successors: programs have no branches between blocks")) &&
           ((d.parts & kHasUseOrders) == 0 || skip_use_orders(in, d.results.size())) &&
           ((d.parts & kHasRegions) == 0 || in.flagged(&d.regions, &d.isolated));
  }

  bool read_attributes(ByteCursor& in, Draft& d) {
    ir::Attribute value;
    if (!entries_.read(in, &value)) return false;
    const auto* dict = value.as<ir::DictAttr>();
    if (dict == nullptr) return in.fail("the attributes of an operation are no dictionary");
    d.encoded.assign(dict->values.begin(), dict->values.end());
    return true;
  }

  // One reference for each inherent attribute, in the order of their names.
  bool read_properties(ByteCursor& in, Draft& d) {
    std::size_t index = 0;
    if (!in.reference("properties", container_.properties.size(), &index)) return false;
    ByteCursor record(problem_, container_.file, container_.properties[index]);
    if (is_module(d)) {
      ir::Attribute name;
      if (!entries_.read_optional(record, &name)) return false;
      if (name) d.encoded.push_back({"sym_name", name});
      return true;
    }
    if (d.vhlo == nullptr) return true;
    for (const VhloAttribute& attribute : d.vhlo->attributes) {
      ir::NamedAttribute& named = d.encoded.emplace_back(attribute.name);
      if (!entries_.read(record, &named.value)) return false;
    }
    return record.at_end() || record.fail("more properties than the operation has");
  }

  bool read_operands(ByteCursor& in, Draft& d) {
    std::size_t n = 0;
    if (!in.count(&n)) return false;
    d.operands.reserve(n);
    for (; n != 0; --n) {
      if (!value(in, &d.operands.emplace_back())) return false;
    }
    return true;
  }

  // The order that the uses of values had in memory is not needed here.
  bool skip_use_orders(ByteCursor& in, std::size_t values) {
    std::uint64_t n = 1;
    if (values != 1 && !in.varint(&n)) return false;
    for (; n != 0; --n) {
      std::uint64_t ignored = 0;
      std::uint64_t numbers = 0;
      bool pairs = false;
      if (values != 1 && !in.varint(&ignored)) return false;
      if (!in.flagged(&numbers, &pairs)) return false;
      for (; numbers != 0; --numbers) {
        if (!in.varint(&ignored)) return false;
      }
    }
    return true;
  }

  // Numbers count from the outermost region that sees nothing around it.
  bool value(ByteCursor& in, ir::Value** out) {
    const std::size_t from = in.offset();
    std::uint64_t number = 0;
    if (!in.varint(&number)) return false;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (number >= scope->first) {
        if (number - scope->first >= scope->values.size()) break;
        *out = scope->values[static_cast<std::size_t>(number - scope->first)];
        if (*out == nullptr) break;
        return true;
      }
      if (scope->isolated) break;
    }
    return problem_.fail(from,
                         "value " + std::to_string(number) + " is used but not defined before");
  }

  bool define(ByteCursor& in, std::span<ir::Value> values) {
    Scope& scope = scopes_.back();
    if (values.size() > scope.size - scope.values.size())
      return in.fail("more values than the region has");
    for (ir::Value& v : values) scope.values.push_back(&v);
    return true;
  }

  bool finish_op(ByteCursor& in, Draft& d, Place place, ir::Block* to) {
    const bool is_function = d.vhlo != nullptr && d.vhlo->name == "func";
    if (place == Place::kFile || is_module(d)) {
      if (place != Place::kFile || !is_module(d) || module_seen_)
        return problem_.fail(d.offset, "expected one module, and it around everything else");
      return read_module(in, d);
    }
    if (is_function) {
      return place == Place::kModule
                 ? read_function(in, d)
                 : problem_.fail(d.offset, "a function inside another operation");
    }
    if (d.vhlo == nullptr) {
      d.attributes = d.encoded;
    } else if (!to_stablehlo_.convert(*d.vhlo, d.offset, d.encoded, &d.attributes)) {
      return false;
    }
    const bool returns = d.vhlo != nullptr && d.vhlo->kind == ir::OpKind::kReturn;
    const ir::OpKind kind = d.vhlo == nullptr                      ? ir::OpKind::kOther
                            : returns && place == Place::kFunction ? ir::OpKind::kFuncReturn
                                                                   : d.vhlo->kind;
    if (d.regions > in.remaining() + 1)
      return in.fail(std::to_string(d.regions) + " regions, more than the bytes that are left");
    ir::Op* op = module_.create_op({.kind = kind,
                                    .name = d.vhlo == nullptr ? full_name(*d.name) : std::string(),
                                    .location = location_of(d.offset),
                                    .operands = d.operands,
                                    .result_types = d.results,
                                    .attributes = d.attributes,
                                    .regions = static_cast<int>(d.regions),
                                    .successors = {}});
    to->append(op);
    if (!define(in, op->results())) return false;
    if (d.regions == 0) return true;
    // Its results have their numbers by now, but its own regions cannot see them.
    const auto own = [&] { return std::span(scopes_.back().values).last(op->results().size()); };
    std::ranges::fill(own(), nullptr);
    std::vector<std::vector<ir::Block*>> regions;
    if (!read_regions(in, d, Place::kRegion, &regions)) return false;
    std::ranges::transform(op->results(), own().begin(), [](ir::Value& v) { return &v; });
    for (std::size_t i = 0; i < regions.size(); ++i)
      module_.set_blocks(op->regions()[i], regions[i]);
    return true;
  }

  bool read_module(ByteCursor& in, Draft& d) {
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
    if (d.regions != 1) return problem_.fail(d.offset, "a module needs one region");
    std::vector<std::vector<ir::Block*>> regions;
    return read_regions(in, d, Place::kModule, &regions);
  }

  bool read_function(ByteCursor& in, Draft& d) {
    const auto* name = find(d.encoded, "sym_name").as<ir::StringAttr>();
    const auto* type = find(d.encoded, "function_type").as<ir::TypeAttr>();
    const auto* visibility = find(d.encoded, "sym_visibility").as<ir::StringAttr>();
    if (name == nullptr || type == nullptr || type->value.kind() != ir::TypeKind::kFunction ||
        d.regions != 1 || name->value.empty()) {
      return problem_.fail(d.offset, "a function needs its name, its type and one region");
    }
    const std::string_view seen = visibility == nullptr ? std::string_view() : visibility->value;
    if (!seen.empty() && seen != "public" && seen != "private" && seen != "nested")
      return problem_.fail(d.offset, "a visibility that is not public, private or nested");
    if (module_.find(name->value) != nullptr)
      return problem_.fail(d.offset,
                           "the function @" + std::string(name->value) + " is defined twice");
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
    for (const ir::NamedAttribute& a : d.encoded) {
      if (d.vhlo->find(a.name) == nullptr) d.attributes.push_back(a);
    }
    ir::Function& f = module_.create_function({.name = name->value,
                                               .visibility = seen,
                                               .location = location_of(d.offset),
                                               .inputs = type->value.members(),
                                               .results = type->value.results(),
                                               .arg_attributes = arguments,
                                               .result_attributes = results,
                                               .attributes = d.attributes});
    std::vector<std::vector<ir::Block*>> regions;
    if (!read_regions(in, d, Place::kFunction, &regions)) return false;
    module_.set_blocks(f.body(), regions[0]);
    if (f.is_declaration()) return true;
    return std::ranges::equal(f.body().block().arguments(), f.inputs(), {}, &ir::Value::type) ||
           problem_.fail(d.offset, "the body of @" + std::string(name->value) +
                                       " has other arguments than its type");
  }

  // Regions that see nothing around them are together in a section of their own.
  bool read_regions(ByteCursor& in, const Draft& d, Place inside,
                    std::vector<std::vector<ir::Block*>>* out) {
    const std::uint64_t n = d.regions;
    const bool isolated = d.isolated;
    ByteCursor* from = &in;
    std::optional<ByteCursor> section;
    if (isolated && container_.format >= kRegionSections) {
      SectionId id{};
      Range contents;
      if (!read_section(in, &id, &contents)) return false;
      if (id != SectionId::kOperations) return in.fail("a section that holds no regions");
      from = &section.emplace(problem_, container_.file, contents);
    }
    if (n > from->remaining())
      return from->fail(std::to_string(n) + " regions, more than the bytes that are left");
    out->resize(static_cast<std::size_t>(n));
    for (std::vector<ir::Block*>& region : *out) {
      if (!read_region(*from, isolated, inside, &region)) return false;
    }
    return true;
  }

  bool read_region(ByteCursor& in, bool isolated, Place inside, std::vector<ir::Block*>* out) {
    std::size_t blocks = 0;
    std::uint64_t values = 0;
    if (!in.count(&blocks)) return false;
    if (blocks == 0) return true;
    if (inside == Place::kModule && blocks != 1) return in.fail("a module needs one block");
    if (!in.varint(&values)) return false;
    if (values > in.remaining()) {
      return in.fail("a region of " + std::to_string(values) + " values, but " +
                     std::to_string(in.remaining()) + " bytes are left");
    }
    const std::uint64_t first = isolated ? 0 : scopes_.back().first + scopes_.back().size;
    scopes_.push_back({first, values, isolated, {}});
    bool good = true;
    for (; good && blocks != 0; --blocks) good = read_block(in, inside, out);
    scopes_.pop_back();
    return good;
  }

  bool read_block(ByteCursor& in, Place inside, std::vector<ir::Block*>* out) {
    std::uint64_t ops = 0;
    bool has_arguments = false;
    std::vector<ir::Type> types;
    if (!in.flagged(&ops, &has_arguments)) return false;
    if (has_arguments && !read_block_arguments(in, &types)) return false;
    if (inside == Place::kModule) {
      if (has_arguments) return in.fail("a module with arguments");
      return read_block_ops(in, ops, inside, &module_.top_level());
    }
    if (ops == 0) return in.fail("a block without operations: it must end with one");
    ir::Block* block = module_.create_block(types);
    out->push_back(block);
    return define(in, block->arguments()) && read_block_ops(in, ops, inside, block);
  }

  bool read_block_arguments(ByteCursor& in, std::vector<ir::Type>* types) {
    std::size_t n = 0;
    if (!in.count(&n)) return false;
    types->reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t from = in.offset();
      std::uint64_t type = 0;
      std::uint64_t ignored = 0;
      bool located = true;
      if (!(container_.format >= kElidedLocations ? in.flagged(&type, &located)
                                                  : in.varint(&type)) ||
          !entries_.type(type, from, &types->emplace_back()) || (located && !in.varint(&ignored))) {
        return false;
      }
    }
    std::uint8_t ordered = 0;
    if (container_.format < kUseListOrders) return true;
    return in.byte(&ordered) && (ordered == 0 || skip_use_orders(in, n));
  }

  Problem& problem_;
  const Container& container_;
  ir::Module& module_;
  Entries entries_;
  ToStablehlo to_stablehlo_;
  std::deque<Draft> drafts_;
  std::vector<Scope> scopes_;
  int depth_ = 0;
  bool module_seen_ = false;
};

}  // namespace

bool is_bytecode(std::string_view bytes) { return bytes.starts_with(kMagic); }

Result<ir::Module> read_bytecode(std::string_view bytes) {
  Problem problem;
  Container container;
  ir::Module module;
  if (!read_container(problem, bytes, &container) ||
      !Operations(problem, container, module).read()) {
    return std::unexpected(*problem.error());
  }
  return module;
}

}  // namespace millrace::devices::stablehlo::bytecode
