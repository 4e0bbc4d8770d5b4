#include "millrace/actors/remote/message_schema.h"

namespace millrace::actors {

std::uint64_t fingerprint_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

MessageSchema::MessageSchema(std::string_view type, std::string_view fields_and_answer)
    : name(type), lists(fields_and_answer), fingerprint(fingerprint_of(text())) {}

// The name of a type in an unnamed namespace has a brace of its own: "{anonymous}::".
std::string_view name_in(std::string_view text) {
  const std::size_t unnamed = text.rfind("}::");
  const std::size_t from = unnamed == std::string_view::npos ? 0 : unnamed;
  return text.substr(0, text.find('{', from));
}

}  // namespace millrace::actors
