#include "millrace/devices/stablehlo/text/cursor.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <string>

namespace millrace::devices::stablehlo::text {
namespace {

constexpr std::string_view kOpening = "([{<", kClosing = ")]}>";

// The place of a token among these brackets, npos if it is none.
std::size_t place_of(const Token& t, std::string_view brackets) {
  return t.kind == TokenKind::kPunctuation ? brackets.find(t.text.front()) : brackets.npos;
}

}  // namespace

bool Cursor::magnitude(const Token& digits, bool negative, std::uint64_t* out) {
  std::string_view text = digits.text;
  const bool hex = text.size() > 2 && text[1] == 'x';
  if (hex) text.remove_prefix(2);
  const auto code = std::from_chars(text.data(), text.data() + text.size(), *out, hex ? 16 : 10).ec;
  return (code == std::errc() && !(negative && *out > std::uint64_t{1} << 63)) ||
         fail_at(digits.location, "the integer ", digits.text.substr(0, 40),
                 " does not fit in 64 bits");
}

bool Cursor::integer(std::int64_t* out) {
  const bool negative = accept('-');
  std::uint64_t size = 0;
  if (token_.kind != TokenKind::kInteger) return unexpected("an integer");
  if (!magnitude(token_, negative, &size)) return false;
  *out = static_cast<std::int64_t>(negative ? 0 - size : size);
  return advance();
}

bool Cursor::number(double* out) {
  const bool negative = accept('-');
  if (token_.kind != TokenKind::kInteger && token_.kind != TokenKind::kFloat)
    return unexpected("a number");
  double value = 0;
  std::size_t length = 0;
  std::uint64_t bits = 0;
  if (!negative && token_.text.starts_with("0x")) {  // the bits of infinities and NaNs
    if (!magnitude(token_, false, &bits)) return false;
    value = std::bit_cast<double>(bits);
  } else if (!read_decimal(token_.text, &value, &length) || length != token_.text.size()) {
    return unexpected("a decimal number");
  }
  *out = negative ? -value : value;
  return advance();
}

bool Cursor::boolean(bool* out) {
  *out = token_.is_id("true");
  return accept_word("true") || accept_word("false") || unexpected("true or false");
}

bool Cursor::unescape(std::string_view quoted, std::string* out) {
  const std::string_view body = quoted.substr(1, quoted.size() - 2);
  out->clear();
  out->reserve(body.size());
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      out->push_back(body[i]);
      continue;
    }
    const char c = i + 1 < body.size() ? body[i + 1] : '\0';
    if (c == 'n' || c == 't' || c == '\\' || c == '"') {
      out->push_back(c == 'n' ? '\n' : c == 't' ? '\t' : c);
      i += 1;
      continue;
    }
    const int high = hex_value(c);
    const int low = i + 2 < body.size() ? hex_value(body[i + 2]) : -1;
    if (high < 0 || low < 0)
      return fail("an unknown escape in a string; known are \\n \\t \\\\ \\\" and \\XX");
    out->push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return true;
}

bool Cursor::string(std::string* out) {
  if (token_.kind != TokenKind::kString) return unexpected("a string");
  return unescape(token_.text, out) && advance();
}

bool Cursor::symbol(std::string* out) {
  if (token_.kind != TokenKind::kSymbol) return unexpected("a @symbol");
  *out = token_.name();
  return (out->front() != '"' || unescape(token_.name(), out)) && advance();
}

bool Cursor::key(std::string_view* out) {
  *out = token_.text;
  if (token_.kind == TokenKind::kString) *out = out->substr(1, out->size() - 2);
  return accept(TokenKind::kString) || expect(TokenKind::kBareId, "the key of a resource");
}

bool Cursor::int_list(std::vector<std::int64_t>* out) {
  out->clear();
  return list('[', ']', [&] { return integer(&out->emplace_back()); });
}

bool Cursor::skip_balanced(char bracket) {
  const ir::Location start = location();
  if (bracket != 0 && !token_.is(bracket)) return unexpected(std::string("'") + bracket + "'");
  if (place_of(token_, kOpening) == kOpening.npos) return unexpected("an opening bracket");
  std::string expected;
  do {
    if (token_.kind == TokenKind::kError) return unexpected("a bracketed text");
    if (token_.kind == TokenKind::kEnd)
      return fail_at(start, "a bracket that is opened here and never closed");
    if (const std::size_t i = place_of(token_, kOpening); i != kOpening.npos) {
      expected.push_back(kClosing[i]);
    } else if (place_of(token_, kClosing) != kClosing.npos) {
      if (expected.back() != token_.text.front())
        return unexpected(std::string("'") + expected.back() + "'");
      expected.pop_back();
    }
    advance();
  } while (!expected.empty());
  return true;
}

bool Cursor::skip_location() {
  if (!token_.is_id("loc")) return true;
  advance();
  if (!token_.is('(')) return unexpected("'(' after loc");
  return skip_balanced();
}

bool Cursor::record(ir::Location where, const std::string& message) {
  if (error_) return false;
  error_.emplace(ErrorCode::kInvalidArgument,
                 ir::message(ir::to_string(where), ": ", op_, op_.empty() ? "" : ": ", message));
  return false;
}

bool Cursor::unexpected(std::string_view what) {
  if (token_.kind == TokenKind::kEnd) return fail("found the end of the text, expected ", what);
  if (token_.kind == TokenKind::kError) return fail("found ", token_.text, ", expected ", what);
  return fail("found '", token_.text.substr(0, 40), "', expected ", what);
}

bool read_decimal(std::string_view text, double* out, std::size_t* length) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), *out);
  *length = static_cast<std::size_t>(end - text.data());
  // from_chars leaves *out alone; strtod gives infinity or zero.
  if (code == std::errc::result_out_of_range)
    *out = std::strtod(std::string(text.substr(0, *length)).c_str(), nullptr);
  return code == std::errc() || code == std::errc::result_out_of_range;
}

bool Cursor::enter() {
  if (depth_ >= kMaxDepth) {
    return fail("nesting deeper than ", kMaxDepth, " levels");
  }
  deepest_ = std::max(deepest_, ++depth_);
  return true;
}

}  // namespace millrace::devices::stablehlo::text
