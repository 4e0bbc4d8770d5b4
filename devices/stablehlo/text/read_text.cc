#include "millrace/devices/stablehlo/text/read_text.h"

#include <utility>

#include "millrace/devices/stablehlo/text/attributes.h"
#include "millrace/devices/stablehlo/text/ops.h"
#include "millrace/devices/stablehlo/text/state.h"
#include "millrace/devices/stablehlo/text/types.h"

namespace millrace::devices::stablehlo::text {
namespace {

// Reads what an alias stands for by `read` and keeps it, with its size and depth, under the name at
// the cursor.
template <class T>
bool read_alias(State& s, bool (*read)(State&, T*),
                std::unordered_map<std::string_view, Alias<T>>* aliases) {
  const Token name = s.in.token();
  s.in.advance();
  if (!s.in.expect('=')) return false;
  if (s.in.token().is_id("loc")) return s.in.skip_location();
  const std::size_t begin = s.in.begin();
  const std::size_t expanded = s.expanded;
  s.in.set_deepest(s.in.depth());
  Alias<T> alias;
  if (!read(s, &alias.value)) return false;
  alias.weight = s.in.previous_end() - begin + (s.expanded - expanded);
  alias.depth = s.in.deepest() - s.in.depth();
  if (!aliases->emplace(name.name(), alias).second) {
    return s.in.fail_at(name.location, "the alias ", name.text, " is defined twice");
  }
  return true;
}

// Blobs by key: raw is the string's text between its quotes (hex digits have no escapes).
using Blobs = std::unordered_map<std::string_view, std::string_view>;

// key: value or key: { ... }, nested; the strings at dialect_resources / dialect / key are kept.
bool read_metadata_entries(State& s, int level, bool wanted, Blobs* blobs) {
  Nesting nesting(s.in);
  if (!nesting) return false;
  return s.in.commas([&] {
    std::string_view key;
    if (!s.in.key(&key) || !s.in.expect(':')) return false;
    if (s.in.accept('{')) {
      const bool below = level == 0 ? key == "dialect_resources" : wanted;
      return s.in.accept('}') ||
             (read_metadata_entries(s, level + 1, below, blobs) && s.in.expect('}'));
    }
    const std::string_view value = s.in.token().text;
    if (s.in.accept(TokenKind::kString)) {
      if (wanted && level == 2) blobs->emplace(key, value.substr(1, value.size() - 2));
      return true;
    }
    return s.in.accept(TokenKind::kBareId) ||
           s.in.expect(TokenKind::kInteger, "the value of a resource");
  });
}

// {-# ... #-}
bool read_metadata(State& s, Blobs* blobs) {
  s.in.advance();
  if (s.in.accept(TokenKind::kMetaEnd)) return true;
  return read_metadata_entries(s, 0, false, blobs) && s.in.expect(TokenKind::kMetaEnd, "'#-}'");
}

using AttributeList = std::vector<ir::NamedAttribute>;

// The signature of a function, with the attributes of each argument and result.
struct Signature {
  std::vector<Argument> arguments;
  std::vector<ir::Type> inputs;
  std::vector<ir::Type> results;
  std::vector<AttributeList> argument_attributes;
  std::vector<AttributeList> result_attributes;
};

// (%a: T {attributes} loc(...), ...), or types only, as declarations have it; then -> T,
// -> (T {attributes}, U) or nothing.
bool read_signature(State& s, Signature* out) {
  bool named = false;
  const auto argument = [&] {
    if (out->inputs.empty()) named = s.in.token().kind == TokenKind::kValueId;
    Argument a;
    a.location = s.in.location();
    if (named && (!read_value_name(s, &a.name) || !s.in.expect(':'))) return false;
    if (!read_type(s, &a.type) ||
        !read_optional_dict(s, &out->argument_attributes.emplace_back()) || !s.in.skip_location()) {
      return false;
    }
    out->inputs.push_back(a.type);
    if (named) out->arguments.push_back(a);
    return true;
  };
  if (!s.in.list('(', ')', argument)) return false;
  if (!s.in.accept(TokenKind::kArrow)) return true;
  if (s.in.token().is('(')) {
    return s.in.list('(', ')', [&] {
      return read_type(s, &out->results.emplace_back()) &&
             read_optional_dict(s, &out->result_attributes.emplace_back());
    });
  }
  out->result_attributes.emplace_back();
  return read_type(s, &out->results.emplace_back());
}

constexpr std::string_view kVisibilities[] = {"public", "private", "nested"};

bool is_signature(std::string_view attribute) {
  return attribute == "sym_name" || attribute == "function_type" || attribute == "sym_visibility";
}

std::vector<std::span<const ir::NamedAttribute>> spans(const std::vector<AttributeList>& lists) {
  return {lists.begin(), lists.end()};
}

ir::Function* make_function(State& s, ir::Location where, std::string_view name,
                            std::string_view visibility, const Signature& signature,
                            std::span<const ir::NamedAttribute> attributes) {
  if (s.module.find(name) != nullptr) {
    s.in.fail_at(where, "the function @", name, " is defined twice");
    return nullptr;
  }
  const auto argument_attributes = spans(signature.argument_attributes);
  const auto result_attributes = spans(signature.result_attributes);
  return &s.module.create_function({.name = name,
                                    .visibility = visibility,
                                    .location = where,
                                    .inputs = signature.inputs,
                                    .results = signature.results,
                                    .arg_attributes = argument_attributes,
                                    .result_attributes = result_attributes,
                                    .attributes = attributes});
}

bool read_body(State& s, const Signature& signature, ir::Location where, ir::Region& body) {
  if (!s.in.token().is('{')) return true;
  if (signature.arguments.size() != signature.inputs.size()) {
    return s.in.fail_at(where, "a function with a body needs names for its arguments");
  }
  std::vector<ir::Block*> blocks;
  if (!read_region(s, signature.arguments, &blocks, true)) return false;
  if (blocks.empty()) return s.in.fail_at(where, "a function with an empty body");
  s.module.set_blocks(body, blocks);
  return true;
}

// {a, b} of an attribute array of dictionaries, as "func.func" in generic form has it.
std::vector<AttributeList> lists_of(ir::Attribute attribute, std::size_t count) {
  std::vector<AttributeList> out(count);
  const auto* array = attribute.as<ir::ArrayAttr>();
  if (array == nullptr) return out;
  for (std::size_t i = 0; i < std::min(count, array->values.size()); ++i) {
    if (const auto* dict = array->values[i].as<ir::DictAttr>())
      out[i].assign(dict->values.begin(), dict->values.end());
  }
  return out;
}

// sdy.mesh @name = <["x"=2]>: of the dialects that travel with StableHLO, the one short form that
// modules have at their top. Its body is kept as the text of an attribute; other attributes may
// follow.
bool read_mesh(State& s) {
  const ir::Location where = s.in.location();
  s.in.advance();
  std::string name;
  if (!s.in.symbol(&name) || !s.in.expect('=')) return false;
  const std::size_t begin = s.in.begin();
  if (!s.in.skip_balanced('<')) return false;
  AttributeList attributes = {
      {"sym_name", make_string(s, name)},
      {"mesh", make_opaque(s, ir::message("#sdy.mesh", text_since(s, begin)))}};
  if (!read_optional_dict(s, &attributes)) return false;
  s.module.top_level().append(
      s.module.create_op({.name = "sdy.mesh", .location = where, .attributes = attributes}));
  return s.in.skip_location();
}

// func.func at the cursor, stepped over already: [private] @name(...) -> ... attributes {...} {...}
bool read_function(State& s, ir::Location where) {
  std::string_view visibility;
  for (const std::string_view word : kVisibilities) {
    if (visibility.empty() && s.in.accept_word(word)) visibility = word;
  }
  std::string name;
  Signature signature;
  AttributeList attributes;
  if (!s.in.symbol(&name) || !read_signature(s, &signature)) return false;
  if (s.in.accept_word("attributes") && !read_attribute_dict(s, &attributes)) return false;
  for (const ir::NamedAttribute& a : attributes) {
    if (is_signature(a.name))
      return s.in.fail_at(where, a.name, " belongs to the function's first line");
  }
  ir::Function* f = make_function(s, where, name, visibility, signature, attributes);
  return f != nullptr && read_body(s, signature, where, f->body()) && s.in.skip_location();
}

// "func.func"() <{...}> ({...}) : () -> () has become an op: makes the function of it.
bool function_from_op(State& s, ir::Op& op) {
  const auto* name = op.attr<ir::StringAttr>("sym_name");
  const auto* type = op.attr<ir::TypeAttr>("function_type");
  if (name == nullptr || type == nullptr || type->value.kind() != ir::TypeKind::kFunction ||
      op.regions().size() != 1) {
    return s.in.fail_at(op.location(), "func.func needs sym_name, function_type and one region");
  }
  const ir::Attribute visibility = op.attr("sym_visibility");
  const std::string_view seen = op.string_or("sym_visibility", "");
  if (visibility && std::ranges::find(kVisibilities, seen) == std::end(kVisibilities))
    return s.in.fail_at(op.location(), "a visibility that is not public, private or nested");
  Signature signature;
  signature.inputs.assign(type->value.members().begin(), type->value.members().end());
  signature.results.assign(type->value.results().begin(), type->value.results().end());
  signature.argument_attributes = lists_of(op.attr("arg_attrs"), signature.inputs.size());
  signature.result_attributes = lists_of(op.attr("res_attrs"), signature.results.size());
  AttributeList rest;
  for (const ir::NamedAttribute& a : op.attributes()) {
    if (!is_signature(a.name) && a.name != "arg_attrs" && a.name != "res_attrs") rest.push_back(a);
  }
  ir::Function* f = make_function(s, op.location(), name->value, seen, signature, rest);
  if (f == nullptr) return false;
  s.module.set_blocks(f->body(), op.regions()[0].blocks());
  return true;
}

// Takes an op of a module's body out of its block: it becomes a function or the last at top level.
bool adopt(State& s, ir::Block& from, ir::Op& op) {
  from.remove(&op);
  if (op.name() == "func.func") return function_from_op(s, op);
  s.module.top_level().append(&op);
  return true;
}

// One function or other op of a module's body.
bool read_top_level(State& s) {
  const Token& t = s.in.token();
  if (t.is_id("func.func") || t.is_id("func")) {
    const ir::Location where = t.location;
    s.in.set_op("func.func");
    s.in.advance();
    return read_function(s, where);
  }
  if (t.is_id("sdy.mesh")) return read_mesh(s);
  ir::Block& block = s.module.top_level();
  return read_op(s, block) && adopt(s, block, *block.terminator());
}

// [builtin.]module [@name] [attributes {...}] { ... }
bool read_module(State& s) {
  s.in.set_op("module");
  s.in.advance();
  if (s.in.token().kind == TokenKind::kSymbol) {
    std::string name;
    if (!s.in.symbol(&name)) return false;
    s.module.set_name(name);
  }
  if (s.in.accept_word("attributes")) {
    AttributeList attributes;
    if (!read_attribute_dict(s, &attributes)) return false;
    s.module.set_attributes(attributes);
  }
  if (!s.in.expect('{')) return false;
  while (!s.in.accept('}')) {
    if (s.in.token().kind == TokenKind::kEnd) return s.in.unexpected("a function or '}'");
    if (!read_top_level(s)) return false;
  }
  return s.in.skip_location();
}

// "builtin.module"() <{sym_name = ...}> ({ ... }) : () -> (): its ops become those of the module.
bool module_from_op(State& s, ir::Op& op) {
  AttributeList rest;
  for (const ir::NamedAttribute& a : op.attributes()) {
    const auto* text = a.value.as<ir::StringAttr>();
    if (a.name == "sym_name" && text != nullptr) {
      s.module.set_name(text->value);
    } else {
      rest.push_back(a);
    }
  }
  s.module.set_attributes(rest);
  if (op.regions().size() != 1)
    return s.in.fail_at(op.location(), "builtin.module needs one region");
  for (ir::Block* block : op.region().blocks()) {
    while (!block->empty()) {
      if (!adopt(s, *block, *block->front())) return false;
    }
  }
  return true;
}

bool read_generic_module(State& s) {
  ir::Block& block = s.module.top_level();
  if (!read_op(s, block)) return false;
  ir::Op& op = *block.terminator();
  block.remove(&op);
  return module_from_op(s, op);
}

bool read_entry(State& s, bool* module_seen, Blobs* blobs) {
  const Token& t = s.in.token();
  s.in.set_op({});
  switch (t.kind) {
    case TokenKind::kAttrId:
      return read_alias(s, read_attribute, &s.attribute_aliases);
    case TokenKind::kTypeId:
      return read_alias(s, read_type, &s.type_aliases);
    case TokenKind::kMetaBegin:
      return read_metadata(s, blobs);
    default:
      break;
  }
  const bool generic = t.kind == TokenKind::kString && t.text == "\"builtin.module\"";
  if (!generic && !t.is_id("module") && !t.is_id("builtin.module")) return read_top_level(s);
  if (*module_seen) return s.in.fail("a second module; one is expected");
  *module_seen = true;
  return generic ? read_generic_module(s) : read_module(s);
}

bool read_file(State& s) {
  Blobs blobs;
  bool module_seen = false;
  while (s.in.token().kind != TokenKind::kEnd) {
    if (!read_entry(s, &module_seen, &blobs)) return false;
  }
  s.in.set_op({});
  for (const State::PendingResource& pending : s.resources) {
    const auto found = blobs.find(pending.key);
    if (found == blobs.end()) {
      return s.in.fail_at(pending.location, "the resource ", pending.key,
                          " is not in the text's end");
    }
    if (!fill_resource(s, pending, found->second)) return false;
  }
  return true;
}

}  // namespace

Result<ir::Module> read_text(std::string_view text) {
  State s(text);
  if (!read_file(s)) return std::unexpected(*s.in.error());
  return std::move(s.module);
}

}  // namespace millrace::devices::stablehlo::text
