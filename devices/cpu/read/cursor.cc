#include "millrace/devices/cpu/read/cursor.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>

namespace millrace::devices::cpu::read {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool opens(const Token& t) { return t.is('(') || t.is('[') || t.is('{') || t.is('<'); }
bool closes(const Token& t) { return t.is(')') || t.is(']') || t.is('}') || t.is('>'); }

char partner(char open) {
  switch (open) {
    case '(':
      return ')';
    case '[':
      return ']';
    case '{':
      return '}';
    default:
      return '>';
  }
}

}  // namespace

bool Cursor::accept(char c) {
  if (!token_.is(c)) return false;
  advance();
  return true;
}

bool Cursor::accept(TokenKind kind) {
  if (token_.kind != kind) return false;
  advance();
  return true;
}

bool Cursor::accept_word(std::string_view word) {
  if (!token_.is_id(word)) return false;
  advance();
  return true;
}

bool Cursor::expect(char c) { return accept(c) || unexpected(std::string("'") + c + "'"); }

bool Cursor::expect(TokenKind kind, std::string_view what) {
  return accept(kind) || unexpected(what);
}

bool Cursor::expect_word(std::string_view word) {
  return accept_word(word) || unexpected("'" + std::string(word) + "'");
}

bool Cursor::integer(std::int64_t* out) {
  const bool negative = accept('-');
  if (token_.kind != TokenKind::kInteger) return unexpected("an integer");
  std::string_view digits = token_.text;
  const bool hex = digits.size() > 2 && digits[1] == 'x';
  if (hex) digits.remove_prefix(2);
  std::uint64_t magnitude = 0;
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, hex ? 16 : 10);
  const std::uint64_t limit = std::uint64_t{1} << 63;
  if (code != std::errc() || end != digits.data() + digits.size() ||
      (negative && magnitude > limit)) {
    return fail("the integer " + std::string(token_.text.substr(0, 40)) +
                " does not fit in 64 bits");
  }
  *out = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  advance();
  return true;
}

bool Cursor::number(double* out) {
  const bool negative = accept('-');
  if (token_.kind != TokenKind::kInteger && token_.kind != TokenKind::kFloat)
    return unexpected("a number");
  double value = 0;
  if (!negative && token_.text.starts_with("0x")) {  // the bits of infinities and NaNs
    std::uint64_t bits = 0;
    const char* const text_end = token_.text.data() + token_.text.size();
    const auto [end, code] = std::from_chars(token_.text.data() + 2, text_end, bits, 16);
    if (code != std::errc() || end != text_end)
      return unexpected("the 16 digits of a number's bits");
    *out = std::bit_cast<double>(bits);
    advance();
    return true;
  }
  const auto [end, code] =
      std::from_chars(token_.text.data(), token_.text.data() + token_.text.size(), value);
  if (code == std::errc::result_out_of_range) {
    // from_chars leaves value alone; strtod gives infinity or zero, as the other readers of this
    // text do.
    value = std::strtod(std::string(token_.text).c_str(), nullptr);
  } else if (code != std::errc() || end != token_.text.data() + token_.text.size()) {
    return unexpected("a decimal number");
  }
  *out = negative ? -value : value;
  advance();
  return true;
}

bool Cursor::boolean(bool* out) {
  if (token_.is_id("true") || token_.is_id("false")) {
    *out = token_.is_id("true");
    advance();
    return true;
  }
  return unexpected("true or false");
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
    const int high = hex_digit(c);
    const int low = i + 2 < body.size() ? hex_digit(body[i + 2]) : -1;
    if (high < 0 || low < 0)
      return fail("an unknown escape in a string; known are \\n \\t \\\\ \\\" and \\XX");
    out->push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return true;
}

bool Cursor::string(std::string* out) {
  if (token_.kind != TokenKind::kString) return unexpected("a string");
  if (!unescape(token_.text, out)) return false;
  advance();
  return true;
}

bool Cursor::symbol(std::string* out) {
  if (token_.kind != TokenKind::kSymbol) return unexpected("a @symbol");
  const std::string_view name = token_.name();
  if (name.front() == '"') {
    if (!unescape(name, out)) return false;
  } else {
    *out = name;
  }
  advance();
  return true;
}

bool Cursor::int_list(std::vector<std::int64_t>* out) {
  out->clear();
  if (!expect('[')) return false;
  if (accept(']')) return true;
  do {
    std::int64_t value = 0;
    if (!integer(&value)) return false;
    out->push_back(value);
  } while (accept(','));
  return expect(']');
}

bool Cursor::skip_balanced(char bracket) {
  const ir::Location start = location();
  if (bracket != 0 && !token_.is(bracket)) return unexpected(std::string("'") + bracket + "'");
  if (!opens(token_)) return unexpected("an opening bracket");
  std::string expected;
  do {
    if (token_.kind == TokenKind::kEnd || token_.kind == TokenKind::kError) {
      if (token_.kind == TokenKind::kError) return unexpected("a bracketed text");
      return fail_at(start, "a bracket that is opened here and never closed");
    }
    if (opens(token_)) {
      expected.push_back(partner(token_.text.front()));
    } else if (closes(token_)) {
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

bool Cursor::fail_at(ir::Location where, const std::string& message) {
  if (error_) return false;
  std::string text = std::to_string(where.line) + ":" + std::to_string(where.column) + ": ";
  if (!op_.empty()) text += std::string(op_) + ": ";
  error_.emplace(ErrorCode::kInvalidArgument, text + message);
  return false;
}

bool Cursor::unexpected(std::string_view what) {
  std::string found;
  switch (token_.kind) {
    case TokenKind::kEnd:
      found = "the end of the text";
      break;
    case TokenKind::kError:
      found = std::string(token_.text);
      break;
    default:
      found = "'" + std::string(token_.text.substr(0, 40)) + "'";
      break;
  }
  return fail("found " + found + ", expected " + std::string(what));
}

bool Cursor::enter() {
  if (depth_ >= kMaxDepth) {
    return fail("nesting deeper than " + std::to_string(kMaxDepth) + " levels");
  }
  deepest_ = std::max(deepest_, ++depth_);
  return true;
}

}  // namespace millrace::devices::cpu::read
