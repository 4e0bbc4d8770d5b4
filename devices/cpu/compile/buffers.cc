#include "millrace/devices/cpu/compile/buffers.h"

#include <algorithm>

namespace millrace::devices::cpu::compiler {

BufferId BufferTable::add(Home home, int index, std::size_t bytes) {
  const auto id = static_cast<BufferId>(buffers_.size());
  buffers_.push_back(
      {.home = home, .index = index, .bytes = bytes, .root = id, .first = now_, .last = now_});
  return id;
}

BufferId BufferTable::add_alias(BufferId of, std::size_t offset, std::size_t bytes) {
  const Buffer& b = (*this)[of];
  const std::size_t at = b.root == of ? offset : b.offset + offset;
  const Buffer alias{
      .home = b.home, .index = b.index, .bytes = bytes, .root = b.root, .offset = at};
  buffers_.push_back(alias);
  return static_cast<BufferId>(buffers_.size()) - 1;
}

void BufferTable::touch(BufferId b) {
  Buffer& root = buffers_[static_cast<std::size_t>((*this)[b].root)];
  root.last = std::max(root.last, now_);
  for (Loop& loop : loops_) {
    if (root.first <= loop.begin) {
      loop.outer.push_back(root.root);
      break;
    }
  }
}

void BufferTable::open_loop() {
  loops_.push_back({now_, {}});
  advance();
}

void BufferTable::close_loop() {
  advance();
  for (BufferId b : loops_.back().outer) {
    Buffer& root = buffers_[static_cast<std::size_t>(b)];
    root.last = std::max(root.last, now_);
  }
  loops_.pop_back();
}

// The largest first, each at the lowest place that is free during its whole life.
std::size_t BufferTable::assign_arena() {
  std::vector<Buffer*> roots;
  for (Buffer& b : buffers_) {
    if (b.home == Home::kArena && &buffers_[static_cast<std::size_t>(b.root)] == &b)
      roots.push_back(&b);
  }
  std::stable_sort(roots.begin(), roots.end(),
                   [](const Buffer* a, const Buffer* b) { return a->bytes > b->bytes; });
  std::vector<Buffer*> placed;  // by offset
  std::size_t top = 0;
  for (Buffer* b : roots) {
    const std::size_t size = (b->bytes + 63) & ~std::size_t{63};
    std::size_t at = 0;
    for (const Buffer* other : placed) {
      if (other->last < b->first || b->last < other->first) continue;
      if (at + size <= other->offset) break;
      at = std::max(at, (other->offset + other->bytes + 63) & ~std::size_t{63});
    }
    b->offset = at;
    top = std::max(top, at + size);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), b,
                         [](const Buffer* x, const Buffer* y) { return x->offset < y->offset; }),
        b);
  }
  return top;
}

}  // namespace millrace::devices::cpu::compiler
