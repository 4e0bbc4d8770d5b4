#include "millrace/devices/cpu/serialized_program.h"

#include <charconv>
#include <utility>

#include "millrace/devices/cache/sha256.h"
#include "millrace/devices/client.h"

namespace millrace::devices::cpu {
namespace {

constexpr std::string_view kHead = "a program of the CPU device of Millrace, 1";

// The rest of the next line, which begins with this word; nothing for another line.
std::optional<std::string_view> take_line(std::string_view& bytes, std::string_view word) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos || !bytes.starts_with(word)) return std::nullopt;
  const std::string_view rest = bytes.substr(word.size(), end - word.size());
  bytes.remove_prefix(end + 1);
  return rest;
}

// Takes a number, -1 or more, from the front.
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

std::string SerializedProgram::to_bytes() const {
  std::string bytes(kHead);
  bytes += "\ncompiler " + compiler;
  bytes += "\nchoices " + to_text(choices);
  bytes += "\ndevice " + std::to_string(device ? index(*device) : -1);
  bytes += std::string("\ndeterministic ") + (deterministic ? "1" : "0") + "\n\n";
  bytes += code;
  return bytes;
}

Result<SerializedProgram> SerializedProgram::parse(std::string_view bytes) {
  const auto refuse = [] {
    return fail(ErrorCode::kInvalidArgument,
                "these bytes are none that serialize() of the CPU device gave");
  };
  SerializedProgram read;
  const auto head = take_line(bytes, kHead);
  const auto compiler = take_line(bytes, "compiler ");
  const auto choices = take_line(bytes, "choices ");
  auto device = take_line(bytes, "device ");
  const auto deterministic = take_line(bytes, "deterministic ");
  const auto empty = take_line(bytes, "");
  if (!head || !head->empty() || !compiler || !choices || !device || !empty || !empty->empty() ||
      (deterministic != "0" && deterministic != "1"))
    return refuse();
  int bound = -1;
  if (!take(*device, bound) || !device->empty()) return refuse();
  auto chosen = parse_kernel_choices(*choices);
  if (!chosen) return refuse();
  read.code = bytes;
  read.compiler = *compiler;
  read.deterministic = deterministic == "1";
  if (bound >= 0) read.device = DeviceId{bound};
  read.choices = *std::move(chosen);
  return read;
}

std::string compiler_digest(const Client& client) {
  Sha256 hash;
  hash.add(client.compiler_identity());
  return to_hex(hash.finish());
}

}  // namespace millrace::devices::cpu
