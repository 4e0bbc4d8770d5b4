// Cursor: one token of look-ahead over the text, the small steps that every part of the reader is
// made of, and the first error. A step that fails records why and returns false; the caller returns
// false at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/text/lexer.h"

namespace millrace::devices::stablehlo::text {

// How deep types, attributes and regions may nest, together.
inline constexpr int kMaxDepth = 200;

// Thread-safety: confined.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : lexer_(text) { advance(); }

  const Token& token() const { return token_; }
  ir::Location location() const { return token_.location; }
  std::string_view text() const { return lexer_.text(); }
  // Always true, as the end of a step that has read its token.
  bool advance() {
    previous_end_ = lexer_.offset();
    token_ = lexer_.next();
    return true;
  }

  // Where the current token begins, and where the one before it ended.
  std::size_t begin() const { return token_.offset; }
  std::size_t previous_end() const { return previous_end_; }
  // Makes the token at or behind offset the current one; only forwards from the current token's
  // begin.
  void seek(std::size_t offset) {
    lexer_.seek(offset);
    advance();
  }
  // Where scanning by characters may start right behind the current token.
  std::size_t end() const { return lexer_.offset(); }

  // If the current token is this, steps over it.
  bool accept(char c) { return token_.is(c) && advance(); }
  bool accept(TokenKind kind) { return token_.kind == kind && advance(); }
  bool accept_word(std::string_view word) { return token_.is_id(word) && advance(); }
  // The same, but an error if it is not.
  bool expect(char c) { return accept(c) || unexpected(std::string("'") + c + "'"); }
  bool expect(TokenKind kind, std::string_view what) { return accept(kind) || unexpected(what); }
  bool expect_word(std::string_view word) {
    return accept_word(word) || unexpected(ir::message("'", word, "'"));
  }

  // The number of an integer token, which may be hex. negative: there is a '-' before it.
  bool magnitude(const Token& digits, bool negative, std::uint64_t* out);
  // The integer at the cursor, with its sign; hex as its bits.
  bool integer(std::int64_t* out);
  // A double at the cursor: decimal, integer or with a sign.
  bool number(double* out);
  bool boolean(bool* out);
  // "text" at the cursor, escapes resolved.
  bool string(std::string* out);
  // The name of a symbol token, its quotes and escapes resolved.
  bool symbol(std::string* out);
  // The key of a resource: a word, or what stands between the quotes of a string.
  bool key(std::string_view* out);
  // What commas separate: each() reads one.
  template <class Each>
  bool commas(Each each) {
    do {
      if (!each()) return false;
    } while (accept(','));
    return true;
  }
  // The same between two brackets, which may hold nothing.
  template <class Each>
  bool list(char open, char close, Each each) {
    return expect(open) && (accept(close) || (commas(each) && expect(close)));
  }
  // [1, 2, 3]
  bool int_list(std::vector<std::int64_t>* out);
  // "word =", which a value follows.
  bool expect_field(std::string_view word) { return expect_word(word) && expect('='); }
  // Steps over what is between the opening bracket at the cursor and its partner, both included.
  // bracket: which one it has to be.
  bool skip_balanced(char bracket = 0);
  // loc(...), if it is at the cursor.
  bool skip_location();

  // Records the first error, "line:column: [op: ]" and the parts (ir/message.h), and returns false.
  template <class... Parts>
  bool fail(const Parts&... parts) {
    return fail_at(token_.location, parts...);
  }
  template <class... Parts>
  bool fail_at(ir::Location where, const Parts&... parts) {
    return record(where, ir::message(parts...));
  }
  // "found X, expected what" at the cursor.
  bool unexpected(std::string_view what);
  // The operation that is being read, for messages.
  void set_op(std::string_view name) { op_ = name; }
  const std::optional<Error>& error() const { return error_; }

  // One level of nesting; false (with an error) beyond kMaxDepth. leave() once per enter() that was
  // true.
  bool enter();
  void leave() { --depth_; }
  int depth() const { return depth_; }
  // The deepest level since set_deepest; an alias counts with what it stands for.
  int deepest() const { return deepest_; }
  void set_deepest(int depth) { deepest_ = depth; }

 private:
  bool record(ir::Location where, const std::string& message);
  bool unescape(std::string_view quoted, std::string* out);

  Lexer lexer_;
  Token token_;
  std::size_t previous_end_ = 0;
  int depth_ = 0;
  int deepest_ = 0;
  std::string_view op_;
  std::optional<Error> error_;
};

// Reads the decimal number that a text begins with, and gives its length; false if there is none.
// What double cannot hold becomes infinity or zero, as other readers of this text have it.
bool read_decimal(std::string_view text, double* out, std::size_t* length);

// How a reader ends: gives the value, and true.
template <class T>
bool give(T* out, const std::type_identity_t<T>& value) {
  *out = value;
  return true;
}

// enter() and leave() by scope: Nesting nesting(cursor); if (!nesting) return false;
class Nesting {
 public:
  explicit Nesting(Cursor& cursor) : cursor_(cursor), entered_(cursor.enter()) {}
  ~Nesting() {
    if (entered_) cursor_.leave();
  }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  explicit operator bool() const { return entered_; }

 private:
  Cursor& cursor_;
  bool entered_;
};

}  // namespace millrace::devices::stablehlo::text
