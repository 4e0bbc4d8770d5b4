#include "millrace/core/net/mesh_record.h"

#include <charconv>
#include <optional>

namespace millrace::net {
namespace {

constexpr std::string_view kFirstLine = "millrace mesh 1";
constexpr std::string_view kDigits = "0123456789abcdef";

std::string hexadecimal(const Incarnation& incarnation) {
  std::string text;
  for (const std::byte byte : incarnation) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

std::optional<Incarnation> read_hexadecimal(std::string_view text) {
  Incarnation incarnation;
  if (text.size() != 2 * incarnation.size()) return std::nullopt;
  for (std::size_t i = 0; i < incarnation.size(); ++i) {
    const std::size_t high = kDigits.find(text[2 * i]), low = kDigits.find(text[2 * i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    incarnation[i] = static_cast<std::byte>(high << 4 | low);
  }
  return incarnation;
}

// The text up to the next line feed, which goes too; nullopt: there is none.
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

}  // namespace

std::string encode_record(const MeshRecord& record) {
  return std::string(kFirstLine) + "\n" + hexadecimal(record.incarnation) + "\n" +
         std::to_string(record.who.pid) + "\n" + record.who.host + "\n" + record.address + "\n";
}

Result<MeshRecord> read_record(std::string_view text, std::uint32_t rank) {
  const auto wrong = [&](const char* what) {
    return fail(ErrorCode::kDataLoss, "what the store holds for rank " + std::to_string(rank) +
                                          " is no record of a mesh: " + what);
  };
  const auto first = take_line(text), incarnation = take_line(text), pid = take_line(text),
             host = take_line(text), address = take_line(text);
  if (!first || *first != kFirstLine) return wrong("its first line");
  if (!address || !text.empty()) return wrong("the number of its lines");
  const auto drawn = read_hexadecimal(*incarnation);
  if (!drawn) return wrong("the incarnation");
  MeshRecord record{{rank, std::string(*host)}, *drawn, std::string(*address)};
  const auto [end, error] = std::from_chars(pid->begin(), pid->end(), record.who.pid);
  if (error != std::errc() || end != pid->end() || record.who.pid < 0) return wrong("the pid");
  if (!is_host_name(record.who.host)) return wrong("the host");
  if (record.address.size() > kMostAddressBytes) return wrong("the address");
  return record;
}

std::string record_key(std::string_view mesh, std::uint32_t epoch, std::uint32_t rank) {
  return std::string(mesh) + "/" + std::to_string(epoch) + "/" + std::to_string(rank);
}

std::string ended_key(std::string_view mesh, const Incarnation& incarnation) {
  return std::string(mesh) + "/ended/" + hexadecimal(incarnation);
}

}  // namespace millrace::net
