// Buffers: where each stored value of a plan lives: an input or output of the program, a constant,
// or a place in the one arena of a run. Values whose lifetimes do not meet share arena bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::devices::cpu {
using BufferId = int;  // its place in the plan's BufferTable
}
namespace millrace::devices::cpu::compiler {

enum class Home : std::uint8_t { kArena, kInput, kOutput, kConstant };

struct Buffer {
  Home home = Home::kArena;
  int index = 0;  // kInput, kOutput: which; kConstant: which blob
  std::size_t bytes = 0;
  BufferId root = -1;      // the buffer that owns the bytes; itself if it is one
  std::size_t offset = 0;  // within the root; for a root in the arena: within the arena
  // Positions of the first write and the last use, of roots.
  int first = 0, last = 0;
};

struct Copy {
  BufferId from = -1, to = -1;
  std::size_t bytes = 0;
};

// Thread-safety: external.
class BufferTable {
 public:
  BufferId add(Home home, int index, std::size_t bytes);
  BufferId add_alias(BufferId of, std::size_t offset, std::size_t bytes);
  const Buffer& operator[](BufferId b) const { return buffers_[static_cast<std::size_t>(b)]; }
  const Buffer& root(BufferId b) const { return (*this)[(*this)[b].root]; }
  // Where b begins in its root.
  std::size_t inside_root(BufferId b) const { return (*this)[b].root == b ? 0 : (*this)[b].offset; }
  int size() const { return static_cast<int>(buffers_.size()); }

  // Time moves on by one step.
  int advance() { return ++now_; }
  int now() const { return now_; }
  // The root of b is used now. Inside a loop, a root from before it lives until the loop's end.
  void touch(BufferId b);
  void open_loop();
  void close_loop();

  // Gives every root in the arena its offset; returns the arena's size.
  std::size_t assign_arena();

 private:
  struct Loop {
    int begin;
    std::vector<BufferId> outer;
  };
  std::vector<Buffer> buffers_;
  std::vector<Loop> loops_;
  int now_ = 0;
};

}  // namespace millrace::devices::cpu::compiler
