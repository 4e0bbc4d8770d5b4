#include "millrace/devices/stablehlo/text/cursor.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>

namespace millrace::devices::stablehlo::text {
namespace {

constexpr std::string_view kOpening = "([{<", kClosing = ")]}>";

// The place of a token among these brackets, npos if it is none.
std::size_t place_of(const Token& t, std::string_view brackets) {
  return t.kind == TokenKind::kPunctuation ? brackets.find(t.text.front()) : brackets.npos;
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

bool Cursor::magnitude(const Token& digits, bool negative, std::uint64_t* out) {
  std::string_view text = digits.text;
  const bool hex = text.size() > 2 && text[1] == 'x';
  if (hex) text.remove_prefix(2);
  const auto code = std::from_chars(text.data(), text.data() + text.size(), *out, hex ? 16 : 10).ec;
  return (code == std::errc() && !(negative && *out > std::uint64_t{1} << 63)) ||
         fail_at(digits.location, "the integer " + std::string(digits.text.substr(0, 40)) +
                                      " does not fit in 64 bits");
}

bool Cursor::integer(std::int64_t* out) {
  const bool negative = accept('-');
  std::uint64_t size = 0;
  if (token_.kind != TokenKind::kInteger) return unexpected("an integer");
  if (!magnitude(token_, negative, &size)) return false;
  *out = static_cast<std::int64_t>(negative ? 0 - size : size);
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

bool Cursor::fail_at(ir::Location where, const std::string& message) {
  if (error_) return false;
  std::string text = std::to_string(where.line) + ":" + std::to_string(where.column) + ": ";
  if (!op_.empty()) text += std::string(op_) + ": ";
  error_.emplace(ErrorCode::kInvalidArgument, text + message);
  return false;
}

bool Cursor::unexpected(std::string_view what) {
  const std::string found = token_.kind == TokenKind::kEnd ? "the end of the text"
                            : token_.kind == TokenKind::kError
                                ? std::string(token_.text)
                                : "'" + std::string(token_.text.substr(0, 40)) + "'";
  return fail("found " + found + ", expected " + std::string(what));
}

bool Cursor::enter() {
  if (depth_ >= kMaxDepth) {
    return fail("nesting deeper than " + std::to_string(kMaxDepth) + " levels");
  }
  deepest_ = std::max(deepest_, ++depth_);
  return true;
}

}  // namespace millrace::devices::stablehlo::text
