// ChunkLines: how far a client is in the chunks of its request (RFC 9112, 7.1), as evhttp will read
// them. It sets the line with a chunk's size no limit, and looks through all of that line again
// whenever a byte comes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::serve {

// Begins anew with each request. Thread-safety: confined.
class ChunkLines {
 public:
  // The next bytes of the request.
  void add(std::string_view bytes);
  // Instead of add(), for so many bytes that need not be looked at. False: they must be.
  bool skip(std::size_t bytes);
  // How long the line with a chunk's size is by now, which has not ended.
  std::size_t open_line() const { return part_ == Part::kChunks ? line_.size() : 0; }

 private:
  enum class Part : std::uint8_t { kHead, kChunks, kRest };
  void end_line();

  Part part_ = Part::kHead;
  bool chunked_ = false;
  std::string line_;          // that has not ended, but for kRest
  std::uint64_t inside_ = 0;  // bytes that are left of a chunk
};

}  // namespace millrace::serve
