#include "millrace/devices/cpu/compile/kernel_choice.h"

#include <charconv>

namespace millrace::devices::cpu {
namespace {

// Takes a number from the front.
bool take(std::string_view& text, int& value) {
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(stopped - text.data()));
  return value >= -1;
}

bool take(std::string_view& text, char letter) {
  if (!text.starts_with(letter)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string to_text(std::span<const KernelChoice> choices) {
  std::string text;
  for (const KernelChoice& choice : choices) {
    if (!text.empty()) text += ' ';
    text += std::to_string(choice.form) + "." + std::to_string(choice.way);
  }
  return text;
}

Result<KernelChoices> parse_kernel_choices(std::string_view text) {
  KernelChoices choices;
  std::string_view rest = text;
  while (!rest.empty()) {
    KernelChoice choice;
    if ((!choices.empty() && !take(rest, ' ')) || !take(rest, choice.form) || !take(rest, '.') ||
        !take(rest, choice.way)) {
      return fail(ErrorCode::kDataLoss,
                  "'" + std::string(text) + "' is no list of choices of kernels");
    }
    choices.push_back(choice);
  }
  return choices;
}

}  // namespace millrace::devices::cpu
