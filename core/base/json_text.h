// json_text: the one way in which JSON is written. Bytes of names and paths need not be UTF-8,
// which JSON is: a damaged trace or a file's name may hold any.
#pragma once

#include <string>

namespace millrace {

// The text of a value of nlohmann::json: one line, or indented. What is no UTF-8 becomes U+FFFD.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// The same for what must be read back as it was: throws Json::type_error where a text is no UTF-8.
template <class Json>
std::string exact_json_text(const Json& json, int indent = -1) {
  return json.dump(indent);
}

}  // namespace millrace
