// Loops of so few elements that what surrounds the work takes longer than it: a step of a scan, a
// program over scalars. What depends on no address is made once.
#include <algorithm>
#include <cstring>

#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/elementwise/loop_kernel.h"
#include "millrace/devices/cpu/kernels/movement/strided.h"

namespace millrace::devices::cpu {
namespace {

constexpr std::int64_t kLoopElements = 64;
constexpr std::size_t kLoopBytes = 8 << 10, kLoopValues = 128;

// The bytes of n elements of this width, in whole cache lines.
std::size_t lines_of(std::int64_t n, int width) {
  return (static_cast<std::size_t>(n) * static_cast<std::size_t>(width) + 63) & ~std::size_t{63};
}

}  // namespace

struct LoopKernel::Small {
  // From the element at `offset` on, in bytes; one after the other, or gathered from these places.
  struct Load {
    int value, buffer;
    std::int64_t offset;
    int width = 0;
    std::size_t scratch = 0;
    std::vector<std::int64_t> places = {};
  };
  struct Place {
    int value;
    std::size_t offset;
  };
  std::vector<std::byte> fixed;  // constants and iotas
  std::vector<void*> pointers;   // by value: what is fixed
  std::vector<Load> loads;
  std::vector<Place> made;          // on the stack: what is no output
  std::vector<std::size_t> direct;  // outputs that instructions write; others are copied
  std::vector<std::size_t> copied;
};

std::shared_ptr<const LoopKernel::Small> LoopKernel::make_small() const {
  if (mode_ != Mode::kStore || elements_ < 1 || elements_ > kLoopElements ||
      program_.values() > static_cast<int>(kLoopValues))
    return nullptr;
  const int n = static_cast<int>(elements_), tile = (n + 15) / 16 * 16;  // values lie at 16 bytes
  std::size_t top = program_.scratch_bytes_per_element() * static_cast<std::size_t>(tile);
  std::size_t bytes = top;
  for (const Input& input : inputs_) bytes += lines_of(n, input.width);
  if (bytes > kLoopBytes) return nullptr;
  Small small;
  small.fixed.resize(bytes);
  small.pointers.resize(static_cast<std::size_t>(program_.values()));
  program_.bind(small.fixed.data(), small.pointers.data(), tile, n);
  for (int v = 0; v < program_.values(); ++v) {
    if (program_.producer(v) < 0) continue;
    const auto* const at = static_cast<std::byte*>(small.pointers[static_cast<std::size_t>(v)]);
    small.made.push_back({v, static_cast<std::size_t>(at - small.fixed.data())});
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    const LoopInput& source = input.source;
    const int value = program_.inputs()[i];
    const std::size_t scratch = top;
    top += lines_of(n, input.width);
    if (source.iota) {
      std::byte* const to = small.fixed.data() + scratch;
      small.pointers[static_cast<std::size_t>(value)] = to;
      fill_iota(to, program_.dtype(value), dims_, source.strides, source.offset, 0, n);
      continue;
    }
    Small::Load load{value, source.buffer, source.offset * input.width, input.width, scratch};
    if (input.load != Load::kContiguous) {
      load.places.resize(static_cast<std::size_t>(n));
      fill_iota(load.places.data(), DType::kI64, dims_, source.strides, 0, 0, n);
      for (std::int64_t& place : load.places) place *= input.width;
    }
    small.loads.push_back(std::move(load));
  }
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const int value = outputs_[o].value;
    const auto same = [&](std::size_t other) { return outputs_[other].value == value; };
    const bool made = program_.producer(value) >= 0 && std::ranges::none_of(small.direct, same);
    (made ? small.direct : small.copied).push_back(o);
    if (made) std::erase_if(small.made, [&](const Small::Place& p) { return p.value == value; });
  }
  return std::make_shared<const Small>(std::move(small));
}

void LoopKernel::run_small(const Memory& m) const {
  const Small& small = *small_;
  alignas(64) std::byte memory[kLoopBytes];
  void* pointers[kLoopValues];
  std::memcpy(pointers, small.pointers.data(), small.pointers.size() * sizeof(void*));
  for (const Small::Place& place : small.made) pointers[place.value] = memory + place.offset;
  for (const Small::Load& load : small.loads) {
    const auto* const from =
        static_cast<const std::byte*>(m.buffers[static_cast<std::size_t>(load.buffer)]) +
        load.offset;
    if (load.places.empty()) {
      pointers[load.value] = const_cast<std::byte*>(from);
      continue;
    }
    std::byte* const to = memory + load.scratch;
    pointers[load.value] = to;
    with_width(static_cast<std::size_t>(load.width), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* next = reinterpret_cast<T*>(to);
      for (const std::int64_t place : load.places) std::memcpy(next++, from + place, sizeof(T));
    });
  }
  for (const std::size_t o : small.direct) pointers[outputs_[o].value] = m.outputs[o];
  program_.run(pointers, static_cast<int>(elements_));
  for (const std::size_t o : small.copied) {
    std::memcpy(m.outputs[o], pointers[outputs_[o].value],
                static_cast<std::size_t>(elements_) * static_cast<std::size_t>(outputs_[o].width));
  }
}

}  // namespace millrace::devices::cpu
