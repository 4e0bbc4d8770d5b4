#include "millrace/devices/stablehlo/text/functions.h"

#include "millrace/devices/stablehlo/text/attributes.h"
#include "millrace/devices/stablehlo/text/ops.h"
#include "millrace/devices/stablehlo/text/types.h"

namespace millrace::devices::stablehlo::text {
namespace {

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

std::vector<std::span<const ir::NamedAttribute>> spans(const std::vector<AttributeList>& lists) {
  return {lists.begin(), lists.end()};
}

ir::Function* make_function(State& s, ir::Location where, std::string_view name,
                            std::string_view visibility, const Signature& signature,
                            std::span<const ir::NamedAttribute> attributes) {
  if (s.module.find(name) != nullptr) {
    s.in.fail_at(where, "the function @" + std::string(name) + " is defined twice");
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
  const Isolated inside(s.scope);
  if (!read_region(s, signature.arguments, &blocks)) return false;
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
  const std::string text = "#sdy.mesh" + std::string(text_since(s, begin));
  AttributeList attributes = {
      {"sym_name", make_string(s, name)},
      {"mesh", s.module.attribute(ir::OpaqueAttr{{}, s.module.intern(text)})}};
  if (!read_optional_dict(s, &attributes)) return false;
  s.module.top_level().append(
      s.module.create_op({.name = "sdy.mesh", .location = where, .attributes = attributes}));
  return s.in.skip_location();
}

}  // namespace

bool read_function(State& s, ir::Location where) {
  std::string visibility;
  for (std::string_view word : kVisibilities) {
    if (s.in.accept_word(word)) {
      visibility = word;
      break;
    }
  }
  std::string name;
  Signature signature;
  AttributeList attributes;
  if (!s.in.symbol(&name) || !read_signature(s, &signature)) return false;
  if (s.in.accept_word("attributes") && !read_attribute_dict(s, &attributes)) return false;
  for (const ir::NamedAttribute& a : attributes) {
    if (a.name == "sym_name" || a.name == "function_type" || a.name == "sym_visibility")
      return s.in.fail_at(where, std::string(a.name) + " belongs to the function's first line");
  }
  ir::Function* f = make_function(s, where, name, visibility, signature, attributes);
  return f != nullptr && read_body(s, signature, where, f->body()) && s.in.skip_location();
}

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
    if (a.name != "sym_name" && a.name != "function_type" && a.name != "arg_attrs" &&
        a.name != "res_attrs" && a.name != "sym_visibility") {
      rest.push_back(a);
    }
  }
  ir::Function* f = make_function(s, op.location(), name->value, seen, signature, rest);
  if (f == nullptr) return false;
  s.module.set_blocks(f->body(), op.regions()[0].blocks());
  return true;
}

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
  if (!read_op(s, block)) return false;
  ir::Op* op = block.terminator();
  if (op->name() != "func.func") return true;
  block.remove(op);
  return function_from_op(s, *op);
}

}  // namespace millrace::devices::stablehlo::text
