// Lexer: the tokens of MLIR text, one at a time, with their line and column. It never fails: what
// is no token is a kError token that says why. Read next: cursor.h, which looks at one token and
// reports errors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "millrace/devices/stablehlo/ir/op.h"

namespace millrace::devices::stablehlo::text {

inline constexpr std::array<int, 256> kHexValues = [] {
  std::array<int, 256> v{};
  v.fill(-1);
  for (int i = 0; i < 10; ++i) v['0' + i] = i;
  for (int i = 0; i < 6; ++i) v['a' + i] = v['A' + i] = 10 + i;
  return v;
}();

// -1 for what is no hex digit.
inline int hex_value(char c) { return kHexValues[static_cast<unsigned char>(c)]; }

enum class TokenKind : std::uint8_t {
  kEnd,
  kError,       // text is the reason
  kBareId,      // add, stablehlo.add, f32
  kInteger,     // 12, 0x1F
  kFloat,       // 1.5e-3
  kString,      // "..." with its quotes, escapes not yet resolved
  kValueId,     // %name
  kBlockId,     // ^name
  kSymbol,      // @name or @"name"
  kAttrId,      // #name
  kTypeId,      // !name
  kArrow,       // ->
  kColonColon,  // ::
  kMetaBegin,   // {-#
  kMetaEnd,     // #-}
  kPunctuation  // one character: ( ) { } [ ] < > , : = ? * + - /
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // of the token, in the source; for kError the reason
  ir::Location location;
  std::size_t offset = 0;  // where it begins in the source

  bool is(char c) const { return kind == TokenKind::kPunctuation && text.front() == c; }
  bool is_id(std::string_view word) const { return kind == TokenKind::kBareId && text == word; }
  // The name of a %, ^, @, # or ! token, without the mark.
  std::string_view name() const { return text.substr(1); }
};

// Walks a text that must outlive it. Thread-safety: confined.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next();
  // Where the next token's search starts: just behind the last token.
  std::size_t offset() const { return position_; }
  std::string_view text() const { return text_; }
  // Goes on at a later offset, counting the lines between.
  void seek(std::size_t offset);
  ir::Location location(std::size_t offset) const;  // of an offset on the current line

 private:
  void skip_blanks();
  Token make(TokenKind kind, std::size_t begin) const;
  Token error(std::size_t begin, std::string_view reason) const;
  Token number(std::size_t begin);
  Token string(std::size_t begin, TokenKind kind);
  Token suffixed(std::size_t begin, TokenKind kind);
  Token mark(TokenKind kind, std::size_t begin, std::size_t size);  // of so many characters
  void skip(int classes);                                           // characters of these classes

  std::string_view text_;
  std::size_t position_ = 0;
  std::uint32_t line_ = 1;
  std::size_t line_begin_ = 0;
};

}  // namespace millrace::devices::stablehlo::text
