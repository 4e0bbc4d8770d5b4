// SHA-256 (FIPS 180-4): names and checksums of what is kept in files. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace millrace::devices {

using Digest = std::array<std::uint8_t, 32>;

// Bytes may come in pieces. Thread-safety: external.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  // Once, after the last piece.
  Digest finish();

 private:
  void block(const std::uint8_t* bytes);

  std::array<std::uint32_t, 8> state_;
  std::array<std::uint8_t, 64> pending_{};
  std::uint64_t count_ = 0;  // bytes
};

Digest sha256(std::string_view bytes);
// Two letters per byte, lower case.
std::string to_hex(std::span<const std::uint8_t> bytes);

}  // namespace millrace::devices
