#include "millrace/devices/cpu/serialized_program.h"

#include <charconv>
#include <optional>
#include <utility>

#include "millrace/devices/cache/sha256.h"
#include "millrace/devices/client.h"

namespace millrace::devices::cpu {
namespace {

constexpr std::string_view kHead = "a program of the CPU device of Millrace, 2";

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

// "2 1 0 1": replicas, partitions, devices. Whether they fit is the compilation's to say.
bool take_devices(std::string_view text, SerializedProgram& read) {
  if (!take(text, read.replicas) || !take(text, ' ') || !take(text, read.partitions) ||
      read.replicas < 1 || read.partitions < 1)
    return false;
  while (!text.empty()) {
    int device = -1;
    if (!take(text, ' ') || !take(text, device) || device < 0) return false;
    read.devices.push_back(DeviceId{device});
  }
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
  bytes += "\ndevices " + std::to_string(replicas) + " " + std::to_string(partitions);
  for (const DeviceId device : devices) bytes += " " + std::to_string(index(device));
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
  auto devices = take_line(bytes, "devices ");
  const auto deterministic = take_line(bytes, "deterministic ");
  const auto empty = take_line(bytes, "");
  if (!head || !head->empty() || !compiler || !choices || !devices || !empty || !empty->empty() ||
      (deterministic != "0" && deterministic != "1"))
    return refuse();
  if (!take_devices(*devices, read)) return refuse();
  auto chosen = parse_kernel_choices(*choices);
  if (!chosen) return refuse();
  read.code = bytes;
  read.compiler = *compiler;
  read.deterministic = deterministic == "1";
  read.choices = *std::move(chosen);
  return read;
}

std::string compiler_digest(const Client& client) {
  Sha256 hash;
  hash.add(client.compiler_identity());
  return to_hex(hash.finish());
}

}  // namespace millrace::devices::cpu
