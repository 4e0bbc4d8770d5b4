#include "millrace/devices/stablehlo/text/lexer.h"

#include <array>
#include <cstring>

namespace millrace::devices::stablehlo::text {
namespace {

enum Class : std::uint8_t {
  kLetter = 1,
  kDigit = 2,
  kIdMark = 4,
  kSuffixMark = 8,
  kHex = 16,
  kBlank = 32,
  kMark = 64  // a token by itself
};

constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> c{};
  for (int i = 'a'; i <= 'z'; ++i) c[i] = kLetter;
  for (int i = 'A'; i <= 'Z'; ++i) c[i] = kLetter;
  for (int i = '0'; i <= '9'; ++i) c[i] = kDigit | kHex;
  for (int i = 'a'; i <= 'f'; ++i) c[i] |= kHex;
  for (int i = 'A'; i <= 'F'; ++i) c[i] |= kHex;
  for (const char mark : {'(', ')', '}', '[', ']', '<', '>', ',', '=', '?', '*', '+', '/'})
    c[static_cast<unsigned char>(mark)] = kMark;
  c['_'] = kLetter | kSuffixMark;
  c['$'] = kIdMark | kSuffixMark;
  c['.'] = kIdMark | kSuffixMark;
  c['-'] = kSuffixMark;
  c[' '] = c['\t'] = c['\r'] = c['\n'] = kBlank;
  return c;
}();

bool in(char c, int classes) { return (kClasses[static_cast<unsigned char>(c)] & classes) != 0; }

}  // namespace

Token Lexer::make(TokenKind kind, std::size_t begin) const {
  return {kind, text_.substr(begin, position_ - begin), location(begin), begin};
}

Token Lexer::mark(TokenKind kind, std::size_t begin, std::size_t size) {
  position_ = begin + size;
  return make(kind, begin);
}

void Lexer::skip(int classes) {
  while (position_ < text_.size() && in(text_[position_], classes)) ++position_;
}

Token Lexer::error(std::size_t begin, std::string_view reason) const {
  return {TokenKind::kError, reason, location(begin), begin};
}

ir::Location Lexer::location(std::size_t offset) const {
  return {line_, static_cast<std::uint32_t>(offset - line_begin_ + 1)};
}

void Lexer::seek(std::size_t offset) {
  while (position_ < offset) {
    const void* found = std::memchr(text_.data() + position_, '\n', offset - position_);
    if (found == nullptr) break;
    position_ = static_cast<std::size_t>(static_cast<const char*>(found) - text_.data()) + 1;
    ++line_;
    line_begin_ = position_;
  }
  position_ = offset;
}

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      ++position_;
      ++line_;
      line_begin_ = position_;
    } else if (in(c, kBlank)) {
      ++position_;
    } else if (c == '/' && text_.substr(position_, 2) == "//") {
      const std::size_t end = text_.find('\n', position_);
      position_ = end == std::string_view::npos ? text_.size() : end;
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  skip_blanks();
  const std::size_t begin = position_;
  if (begin == text_.size()) return make(TokenKind::kEnd, begin);
  const char c = text_[position_++];
  if (in(c, kLetter)) {
    skip(kLetter | kDigit | kIdMark);
    return make(TokenKind::kBareId, begin);
  }
  if (in(c, kDigit)) return number(begin);
  constexpr TokenKind kOne = TokenKind::kPunctuation;
  const char after = position_ < text_.size() ? text_[position_] : '\0';
  switch (c) {
    case '%':
      return suffixed(begin, TokenKind::kValueId);
    case '^':
      return suffixed(begin, TokenKind::kBlockId);
    case '!':
      return suffixed(begin, TokenKind::kTypeId);
    case '#':
      if (text_.substr(begin, 3) == "#-}") return mark(TokenKind::kMetaEnd, begin, 3);
      return suffixed(begin, TokenKind::kAttrId);
    case '"':
      return string(begin, TokenKind::kString);
    case '@':
      if (after == '"') {
        ++position_;
        return string(begin, TokenKind::kSymbol);
      }
      return suffixed(begin, TokenKind::kSymbol);
    case '-':
      return after == '>' ? mark(TokenKind::kArrow, begin, 2) : make(kOne, begin);
    case ':':
      return after == ':' ? mark(TokenKind::kColonColon, begin, 2) : make(kOne, begin);
    case '{':
      if (text_.substr(begin, 3) == "{-#") return mark(TokenKind::kMetaBegin, begin, 3);
      return make(kOne, begin);
    default:
      return in(c, kMark) ? make(kOne, begin) : error(begin, "a character that starts no token");
  }
}

Token Lexer::number(std::size_t begin) {
  const char* p = text_.data();
  const std::size_t size = text_.size();
  // 0x alone is the number 0 and an identifier, as in a dimension list.
  if (p[begin] == '0' && begin + 2 < size && p[begin + 1] == 'x' && in(p[begin + 2], kHex)) {
    position_ = begin + 2;
    skip(kHex);
    return make(TokenKind::kInteger, begin);
  }
  skip(kDigit);
  if (position_ >= size || p[position_] != '.') return make(TokenKind::kInteger, begin);
  ++position_;
  skip(kDigit);
  if (position_ < size && (p[position_] == 'e' || p[position_] == 'E')) {
    std::size_t at = position_ + 1;
    if (at < size && (p[at] == '+' || p[at] == '-')) ++at;
    if (at < size && in(p[at], kDigit)) {
      position_ = at;
      skip(kDigit);
    }
  }
  return make(TokenKind::kFloat, begin);
}

Token Lexer::string(std::size_t begin, TokenKind kind) {
  while (position_ < text_.size()) {
    const char c = text_[position_++];
    if (c == '"') return make(kind, begin);
    if (c == '\n') break;
    if (c == '\\') {
      if (position_ == text_.size()) break;
      ++position_;
    }
  }
  position_ = text_.size();
  return error(begin, "a string without its closing quote");
}

Token Lexer::suffixed(std::size_t begin, TokenKind kind) {
  const std::size_t size = text_.size();
  if (position_ < size && in(text_[position_], kDigit)) {
    skip(kDigit);
    return make(kind, begin);
  }
  const std::size_t name = position_;
  while (position_ < size && in(text_[position_], kLetter | kDigit | kSuffixMark)) {
    // A name ends before an arrow: %a->...
    if (text_[position_] == '-' && position_ + 1 < size && text_[position_ + 1] == '>') break;
    ++position_;
  }
  if (position_ == name) return error(begin, "a mark (% ^ @ # !) without a name");
  return make(kind, begin);
}

}  // namespace millrace::devices::stablehlo::text
