#include "millrace/devices/stablehlo/text/read_text.h"

#include <utility>

#include "millrace/devices/stablehlo/text/attributes.h"
#include "millrace/devices/stablehlo/text/functions.h"
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
    return s.in.fail_at(name.location, "the alias " + std::string(name.text) + " is defined twice");
  }
  return true;
}

// Blobs by key: raw is the string's text between its quotes (hex digits have no escapes).
using Blobs = std::unordered_map<std::string_view, std::string_view>;

// key: value or key: { ... }, nested; the strings at dialect_resources / dialect / key are kept.
bool read_metadata_entries(State& s, int level, bool wanted, Blobs* blobs) {
  Nesting nesting(s.in);
  if (!nesting) return false;
  do {
    const Token key = s.in.token();
    std::string_view name = key.text;
    if (key.kind == TokenKind::kString) {
      name = name.substr(1, name.size() - 2);
    } else if (key.kind != TokenKind::kBareId) {
      return s.in.unexpected("the key of a resource");
    }
    s.in.advance();
    if (!s.in.expect(':')) return false;
    if (s.in.accept('{')) {
      const bool below = level == 0 ? name == "dialect_resources" : wanted;
      if (s.in.accept('}')) continue;
      if (!read_metadata_entries(s, level + 1, below, blobs) || !s.in.expect('}')) return false;
      continue;
    }
    const Token value = s.in.token();
    if (value.kind == TokenKind::kString) {
      if (wanted && level == 2) blobs->emplace(name, value.text.substr(1, value.text.size() - 2));
    } else if (value.kind != TokenKind::kBareId && value.kind != TokenKind::kInteger) {
      return s.in.unexpected("the value of a resource");
    }
    s.in.advance();
  } while (s.in.accept(','));
  return true;
}

// {-# ... #-}
bool read_metadata(State& s, Blobs* blobs) {
  s.in.advance();
  if (s.in.accept(TokenKind::kMetaEnd)) return true;
  return read_metadata_entries(s, 0, false, blobs) && s.in.expect(TokenKind::kMetaEnd, "'#-}'");
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
    std::vector<ir::NamedAttribute> attributes;
    if (!read_attribute_dict(s, &attributes)) return false;
    s.module.set_attributes(attributes);
  }
  if (!s.in.expect('{')) return false;
  while (!s.in.token().is('}')) {
    if (s.in.token().kind == TokenKind::kEnd) return s.in.unexpected("a function or '}'");
    if (!read_top_level(s)) return false;
  }
  s.in.advance();
  return s.in.skip_location();
}

// "builtin.module"() <{sym_name = ...}> ({ ... }) : () -> (): its ops become those of the module.
bool module_from_op(State& s, ir::Op& op) {
  std::vector<ir::NamedAttribute> rest;
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
      ir::Op* inner = block->front();
      block->remove(inner);
      if (inner->name() != "func.func") {
        s.module.top_level().append(inner);
      } else if (!function_from_op(s, *inner)) {
        return false;
      }
    }
  }
  return true;
}

bool read_generic_module(State& s) {
  if (!read_op(s, s.module.top_level())) return false;
  ir::Op* op = s.module.top_level().terminator();
  s.module.top_level().remove(op);
  return module_from_op(s, *op);
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
      return s.in.fail_at(pending.location,
                          "the resource " + std::string(pending.key) + " is not in the text's end");
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
