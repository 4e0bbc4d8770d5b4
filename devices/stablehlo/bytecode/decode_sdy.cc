// The encodings of Shardy's attributes, which portable artifacts hold beside VHLO's. Each becomes
// the text that the reader of text keeps of it, so that a program is the same in either form; what
// stands inside of others becomes text in brackets, #sdy.axis_ref<"a">, and a part of theirs.
#include <string>
#include <string_view>

#include "millrace/devices/stablehlo/bytecode/entries.h"
#include "millrace/devices/stablehlo/bytecode/vhlo_codes.h"
#include "millrace/devices/stablehlo/ir/print.h"

namespace millrace::devices::stablehlo::bytecode {
namespace {

// Reads the fields of one attribute and puts its text together. Thread-safety: confined.
class SdyReader {
 public:
  SdyReader(Entries& entries, ByteCursor& in) : entries_(entries), in_(in) {}

  // What stands between the brackets of #sdy.NAME<...>; false for a code that is not known.
  bool read(std::uint64_t code, std::string_view* name) {
    switch (code) {
      case SdyCode::kManualAxes:
        *name = kSdyManualAxes;
        out_ += '{';
        list([&] { ir::append_quoted(out_, string_attribute()); });
        out_ += '}';
        return true;
      case SdyCode::kMeshAxis:
        *name = "mesh_axis";
        ir::append_quoted(out_, entries_.string(in_));
        out_ += "=" + std::to_string(in_.svarint());
        return true;
      case SdyCode::kMesh:
        return *name = "mesh", mesh();
      case SdyCode::kSubAxis:
        *name = "sub_axis_info";
        out_ += "(" + std::to_string(in_.svarint()) + ")";
        out_ += std::to_string(in_.svarint());
        return true;
      case SdyCode::kAxisRef:
        return *name = "axis_ref", axis_ref();
      case SdyCode::kDimSharding:
        return *name = "dimension_sharding", dim_sharding();
      case SdyCode::kSharding:
      case SdyCode::kUnreducedSharding:
      case SdyCode::kReducedSharding:
        return *name = "sharding", sharding(code);
      case SdyCode::kShardingPerValue:
      case SdyCode::kUnreducedPerValue:
        *name = "sharding_per_value";
        out_ += '[';
        list([&] {
          (out_ += '<') += part("sharding");
          out_ += '>';
        });
        out_ += ']';
        return true;
      default:
        return rule(code, name) || collective(code, name);
    }
  }
  std::string take() { return std::move(out_); }

 private:
  // ", " between what each writes.
  template <class Each>
  void list(Each each) {
    std::size_t n = in_.count();
    for (bool first = true; n != 0; --n, first = false) {
      if (!first) out_ += ", ";
      each();
      entries_.check_text(in_, out_.size());
    }
  }

  // The text in the brackets of an attribute of this name, to which there is a reference.
  std::string_view part(std::string_view name, std::uint64_t index, std::size_t from) {
    const ir::Attribute attribute = entries_.attribute(index, from);
    const auto* opaque = attribute.as<ir::OpaqueAttr>();
    const std::string begins = "#sdy." + std::string(name) + "<";
    if (opaque == nullptr || !opaque->text.starts_with(begins))
      in_.fail("a reference to what is no " + std::string(name) + " of Shardy");
    return opaque->text.substr(begins.size(), opaque->text.size() - begins.size() - 1);
  }
  std::string_view part(std::string_view name) {
    const std::size_t from = in_.offset();
    return part(name, in_.varint(), from);
  }

  std::string_view string_attribute() {
    const auto* text = entries_.attribute(in_).as<ir::StringAttr>();
    if (text == nullptr) in_.fail("a reference to what is no string");
    return text->value;
  }

  bool flag() {
    const std::uint8_t value = in_.byte();
    if (value > 1) in_.fail("a bool of " + std::to_string(value));
    return value == 1;
  }

  void parts(std::string_view name) {
    list([&] { out_ += part(name); });
  }

  bool mesh() {
    out_ += '[';
    parts("mesh_axis");
    out_ += ']';
    const std::vector<std::int64_t> ids = in_.svarints();
    if (!ids.empty()) ir::append_ints(out_ += ", device_ids=", ids);
    return true;
  }

  bool axis_ref() {
    ir::append_quoted(out_, entries_.string(in_));
    const std::size_t from = in_.offset();
    const auto [index, is_part] = in_.flagged();
    if (is_part) (out_ += ':') += part("sub_axis_info", index, from);
    return true;
  }

  bool dim_sharding() {
    out_ += '{';
    parts("axis_ref");
    if (!flag()) out_ += out_.ends_with('{') ? "?" : ", ?";
    out_ += '}';
    const auto [priority, given] = in_.flagged();
    if (given) out_ += "p" + std::to_string(priority);
    return true;
  }

  void mesh_or_name() {
    const ir::Attribute mesh = entries_.attribute(in_);
    if (const auto* symbol = mesh.as<ir::SymbolAttr>())
      return ir::append_symbol(out_, symbol->path[0]);
    const auto* opaque = mesh.as<ir::OpaqueAttr>();
    constexpr std::string_view kBegins = "#sdy.mesh<";
    if (opaque == nullptr || !opaque->text.starts_with(kBegins))
      in_.fail("a sharding without a mesh or the name of one");
    (out_ += "mesh<") += opaque->text.substr(kBegins.size());
  }

  bool sharding(std::uint64_t code) {
    mesh_or_name();
    out_ += ", [";
    parts("dimension_sharding");
    out_ += ']';
    named_axes(", replicated={");
    if (code == SdyCode::kSharding) return true;
    // The kind of reduction comes behind the axes.
    const std::string before = std::move(out_);
    out_.clear();
    named_axes("{");
    const std::string axes = std::move(out_);
    out_ = before;
    const std::int64_t kind = code == SdyCode::kReducedSharding ? in_.svarint() : 0;
    constexpr std::string_view kKinds[] = {"", "max", "min"};
    if (kind < 0 || kind > 2) in_.fail("an unknown reduction of unreduced axes");
    if (!axes.empty()) ((out_ += ", unreduced=") += kKinds[static_cast<std::size_t>(kind)]) += axes;
    return true;
  }

  // Nothing if there are none.
  void named_axes(std::string_view begins) {
    const std::size_t before = out_.size();
    out_ += begins;
    const std::size_t empty = out_.size();
    parts("axis_ref");
    out_.size() == empty ? out_.resize(before) : void(out_ += '}');
  }

  // i, j, ..., z, then z_1, z_2, ...
  void factor(std::int64_t number) {
    constexpr std::int64_t kLetters = 'z' - 'i';
    if (number < 0) in_.fail("a factor of a negative number");
    if (number <= kLetters) {
      out_ += static_cast<char>('i' + number);
    } else {
      out_ += "z_" + std::to_string(number - kLetters);
    }
  }

  void factors(std::string_view name) {
    const std::size_t before = out_.size();
    ((out_ += ' ') += name) += "={";
    const std::size_t empty = out_.size();
    list([&] { factor(in_.svarint()); });
    out_.size() == empty ? out_.resize(before) : void(out_ += '}');
  }

  bool rule(std::uint64_t code, std::string_view* name) {
    if (code == SdyCode::kDimMapping) {
      *name = "dim_mapping";
      const std::size_t n = in_.count();
      if (n == 0) out_ += '*';
      for (std::size_t i = 0; i < n; ++i) factor(in_.svarint());
      return true;
    }
    if (code == SdyCode::kTensorMapping) {
      *name = "tensor_mapping";
      out_ += '[';
      parts("dim_mapping");
      out_ += ']';
      return true;
    }
    if (code != SdyCode::kShardingRule) return false;
    *name = "op_sharding_rule";
    // The sizes of the factors come first, and stand behind the mappings.
    const std::vector<std::int64_t> sizes = in_.svarints();
    out_ += '(';
    parts("tensor_mapping");
    out_ += ")->(";
    parts("tensor_mapping");
    out_ += ')';
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      out_ += i == 0 ? " {" : ", ";
      factor(static_cast<std::int64_t>(i));
      out_ += "=" + std::to_string(sizes[i]);
    }
    if (!sizes.empty()) out_ += '}';
    for (const char* kind : {"reduction", "need_replication", "permutation", "blocked_propagation"})
      factors(kind);
    if (flag()) out_ += ", custom";
    return true;
  }

  // What collectives of Shardy's own have, which come of partitioning alone.
  bool collective(std::uint64_t code, std::string_view* name) {
    switch (code) {
      case SdyCode::kAxisRefList:
        *name = "axis_ref_list";
        out_ += '{';
        parts("axis_ref");
        out_ += '}';
        return true;
      case SdyCode::kAxisRefLists:
        *name = "list_of_axis_ref_lists";
        out_ += '[';
        parts("axis_ref_list");
        out_ += ']';
        return true;
      case SdyCode::kAllToAllParam:
        *name = "all_to_all_param";
        out_ += '{';
        parts("axis_ref");
        out_ += "}: " + std::to_string(in_.svarint());
        out_ += "->" + std::to_string(in_.svarint());
        return true;
      case SdyCode::kAllToAllParams:
        *name = "all_to_all_param_list";
        out_ += '[';
        parts("all_to_all_param");
        out_ += ']';
        return true;
      default:
        return false;
    }
  }

  Entries& entries_;
  ByteCursor& in_;
  std::string out_;
};

}  // namespace

ir::Attribute decode_sdy_attribute(Entries& entries, ByteCursor& in) {
  const std::uint64_t code = in.varint();
  std::string_view name;
  SdyReader reader(entries, in);
  if (!reader.read(code, &name)) {
    in.fail("an unknown attribute of Shardy, code " + std::to_string(code) +
            "; this reader knows those up to " + std::to_string(SdyCode::kReducedSharding));
  }
  if (!in.at_end()) in.fail("an attribute of Shardy that is longer than its fields");
  std::string text = "#sdy." + std::string(name) + "<" + reader.take() + ">";
  // The one whose text has its name in the brackets.
  if (name == kSdyManualAxes) text = "#sdy<manual_axes" + text.substr(17);
  return entries.keep_text(in, text);
}

}  // namespace millrace::devices::stablehlo::bytecode
