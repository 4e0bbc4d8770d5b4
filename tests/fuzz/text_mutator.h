// Changes of StableHLO text that often leave a program that reads and verifies, and so reach what
// is behind: another number, type, operation or value, here or everywhere it stands.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/devices/stablehlo/ir/op_kind.h"

namespace millrace::testing {

// One to four changes. Pure.
class TextMutator {
 public:
  TextMutator(std::string_view text, unsigned seed) : text_(text), random_(seed) {}

  std::string run() {
    for (std::size_t n = below(4) + 1; n > 0; --n) change();
    return text_;
  }

 private:
  enum class Word : std::uint8_t { kNumber, kType, kOp, kValue, kOther };
  struct Span {
    std::size_t at = 0, size = 0;
  };

  std::size_t below(std::size_t n) { return random_() % n; }
  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  static std::span<const std::string_view> types() {
    static constexpr std::string_view kTypes[] = {"f32",
                                                  "f64",
                                                  "f16",
                                                  "bf16",
                                                  "i1",
                                                  "i8",
                                                  "i16",
                                                  "i32",
                                                  "i64",
                                                  "ui8",
                                                  "ui16",
                                                  "ui32",
                                                  "ui64",
                                                  "i4",
                                                  "ui4",
                                                  "i2",
                                                  "f8E4M3FN",
                                                  "f8E5M2",
                                                  "f4E2M1FN",
                                                  "complex<f32>",
                                                  "complex<f64>",
                                                  "!quant.uniform<i8:f32, 0.5:3>",
                                                  "!quant.uniform<i8:f32:0, {0.5, 2.0}>"};
    return kTypes;
  }
  static Word kind_of(std::string_view word) {
    if (word.front() == '%') return Word::kValue;
    if (is_digit(word.front())) return Word::kNumber;
    if (word.starts_with("stablehlo.") || word.starts_with("chlo.")) return Word::kOp;
    return std::ranges::find(types(), word) != types().end() ? Word::kType : Word::kOther;
  }
  // Where the word ends that begins at i: numbers end behind their digits, and in 2x3xf32 so does
  // each x.
  std::size_t end_of(std::size_t i) const {
    std::size_t end = i + 1;
    if (text_[i] == 'x' && i > 0 && is_digit(text_[i - 1])) return end;
    const bool number = is_digit(text_[i]), word = text_[i] == '%' || is_word(text_[i]);
    const auto goes_on = [&](char c) {
      return number ? is_digit(c) : word && (is_word(c) || c == '.');
    };
    while (end < text_.size() && goes_on(text_[end])) ++end;
    return end;
  }
  // The words of a kind, left to right.
  std::vector<Span> find(Word kind) const {
    std::vector<Span> found;
    for (std::size_t i = 0; i < text_.size();) {
      const std::size_t end = end_of(i);
      if (kind_of(std::string_view(text_).substr(i, end - i)) == kind)
        found.push_back({i, end - i});
      i = end;
    }
    return found;
  }

  std::string other_number(std::string_view digits) {
    static constexpr std::string_view kNumbers[] = {"0",  "1",  "2",   "3",  "4",    "5",
                                                    "7",  "8",  "16",  "-1", "-2",   "63",
                                                    "64", "65", "128", "-7", "1000", "4096"};
    static constexpr std::string_view kLarge[] = {"2147483647",          "2147483648",
                                                  "4294967296",          "4611686018427387904",
                                                  "9223372036854775807", "-9223372036854775808"};
    if (below(3) == 0 && digits.size() < 10)
      return std::to_string(std::stoll(std::string(digits)) + (below(2) == 0 ? 1 : -1));
    if (below(6) == 0) return std::string(kLarge[below(std::size(kLarge))]);
    return std::string(kNumbers[below(std::size(kNumbers))]);
  }

  void replace(Span span, std::string_view with, bool everywhere) {
    const std::string old = text_.substr(span.at, span.size);
    if (!everywhere) {
      text_.replace(span.at, span.size, with);
      return;
    }
    const auto inside = [](char a, char b) {
      return is_word(a) && is_word(b) && !(is_digit(a) && b == 'x') && a != 'x';
    };
    for (std::size_t at = text_.find(old); at != std::string::npos; at = text_.find(old, at)) {
      const std::size_t end = at + old.size();
      const bool whole = (at == 0 || !inside(text_[at - 1], old.front())) &&
                         (end == text_.size() || !inside(old.back(), text_[end]));
      if (whole) text_.replace(at, old.size(), with);
      at += whole ? with.size() : old.size();
    }
  }

  void change() {
    const std::size_t choice = below(20);
    if (choice == 0) return drop_line();
    const Word kind = choice < 10   ? Word::kNumber
                      : choice < 14 ? Word::kType
                      : choice < 17 ? Word::kOp
                                    : Word::kValue;
    const std::vector<Span> words = find(kind);
    if (words.empty()) return;
    const Span span = words[below(words.size())];
    const Span source = words[below(words.size())];
    std::string with = text_.substr(source.at, source.size);
    bool everywhere = false;
    if (kind == Word::kNumber) {
      if (below(3) != 0) with = other_number(with);
      everywhere = below(2) == 0;
    } else if (kind == Word::kType) {
      with = types()[below(types().size())];
      everywhere = below(4) != 0;
    } else if (kind == Word::kOp && below(3) != 0) {
      const auto op =
          static_cast<devices::stablehlo::ir::OpKind>(below(devices::stablehlo::ir::kOpKinds));
      with = devices::stablehlo::ir::to_string(op);
    }
    replace(span, with, everywhere);
  }

  void drop_line() {
    const std::size_t at = text_.find('\n', below(text_.size() + 1));
    if (at == std::string::npos) return;
    text_.erase(at, text_.find('\n', at + 1) - at);
  }

  std::string text_;
  std::mt19937 random_;
};

inline std::string mutate_text(std::string_view text, unsigned seed) {
  return TextMutator(text, seed).run();
}

}  // namespace millrace::testing
