// Spare bytes: the memory of payloads that were sent or taken, for the next ones. A long payload in
// new memory costs more than its copy: the system gives each page, filled with zeros, and takes it
// back. Read next: frame.h, connection.h.
#pragma once

#include <cstddef>
#include <vector>

namespace millrace::net {

// What is shorter than the least is the allocator's business; the process keeps at most so many
// bytes.
inline constexpr std::size_t kLeastSpare = std::size_t{16} << 10;
inline constexpr std::size_t kMostSpare = std::size_t{4} << 20;

// Empty, with room for so many bytes at least. Thread-safe.
std::vector<std::byte> take_spare_bytes(std::size_t size);
// Its bytes are not needed any more. Thread-safe.
void give_spare_bytes(std::vector<std::byte>&& bytes);

}  // namespace millrace::net
