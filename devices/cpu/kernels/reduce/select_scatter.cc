#include "millrace/devices/cpu/kernels/reduce/select_scatter.h"

#include <algorithm>
#include <cstddef>

#include "millrace/devices/cpu/kernels/base/split.h"
#include "millrace/devices/cpu/kernels/movement/strided.h"

namespace millrace::devices::cpu {
namespace {

constexpr std::int64_t kMostPositions = 512, kMostDims = 8;
// Fewer inner elements than that are no vector: then windows are worked on side by side.
constexpr std::int64_t kFewLanes = 8;
// Where there are few outer indices the inner elements are split too.
constexpr std::int64_t kFewOuter = 8, kLanesOfFew = 32;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return a <= 0 ? 0 : (a + b - 1) / b; }

bool is_whole(const Window& window, std::size_t d) {
  return window.size[d] == 1 && window.strides[d] == 1 && window.pad_low[d] == 0 &&
         window.pad_high[d] == 0;
}

}  // namespace

std::optional<SelectScatter> SelectScatter::create(DType type, std::optional<TileOp> select,
                                                   std::optional<TileOp> scatter,
                                                   std::span<const std::int64_t> dims,
                                                   const Window& window) {
  SelectScatter s;
  if (!select || scatter != TileOp::kAdd) return std::nullopt;
  s.loop_ = MILLRACE_BEST_ISA(find_select_loop(type, *select));
  s.width_ = byte_width(type);
  if (s.loop_ == nullptr) return std::nullopt;
  std::size_t first = 0, end = dims.size();
  while (first < end && is_whole(window, first)) s.outer_ *= dims[first++];
  while (end > first && is_whole(window, end - 1)) s.inner_ *= dims[--end];
  if (first == end || end - first > kMostDims) return std::nullopt;
  s.elements_ = s.windows_ = s.inner_;
  std::int64_t positions = 1;
  for (std::size_t d = end; d-- > first;) {
    if (window.window_dilations[d] != 1 || window.base_dilations[d] != 1) return std::nullopt;
    const std::int64_t windows = window.output_extent(static_cast<int>(d), dims[d]);
    s.dims_.insert(s.dims_.begin(), {.extent = dims[d],
                                     .windows = windows,
                                     .size = window.size[d],
                                     .stride = window.strides[d],
                                     .pad_low = window.pad_low[d],
                                     .step = s.elements_});
    s.elements_ *= dims[d];
    s.windows_ *= windows;
    positions *= window.size[d];
    if (positions == 0 || positions > kMostPositions) return std::nullopt;
  }
  for (std::int64_t p = 0; p < positions; ++p) {
    std::int64_t rest = positions, number = p, offset = 0;
    for (const Dim& d : s.dims_) {
      rest /= d.size;
      s.places_.push_back(number / rest);
      offset += number / rest * d.step;
      number %= rest;
    }
    s.offsets_.push_back(offset);
  }
  s.by_columns_ = s.inner_ < kFewLanes && s.dims_.back().windows > s.inner_;
  return s;
}

// The windows of one outer index, a row of lanes after the other. Thread-safety: confined.
class SelectScatter::Walk {
 public:
  Walk(const SelectScatter& s, const std::byte* operand, const std::byte* source, std::byte* out)
      : s_(s),
        operand_(operand),
        source_(source),
        out_(out),
        walked_(s.dims_.size() - (s.by_columns_ ? 1 : 0)) {
    lanes_.positions = positions_;
    lanes_.apart = !s.by_columns_;
  }

  // Inner elements [begin, end) of all windows.
  void run(std::int64_t begin, std::int64_t end) {
    const std::int64_t width = static_cast<std::int64_t>(s_.width_);
    std::int64_t place = 0;  // of the row of lanes, in the source
    do {
      if (s_.by_columns_) {
        for (std::int64_t i = begin; i < end; ++i) run_row(place + i, i * width);
        place += s_.dims_.back().windows * s_.inner_;
      } else {
        find_of_window(static_cast<int>(end - begin));
        run_lanes(place + begin, begin * width);
        place += s_.inner_;
      }
    } while (next());
  }

 private:
  // All windows along the last dimension, of one inner element; source: the first one's place.
  void run_row(std::int64_t source, std::int64_t shift) {
    const Dim& last = s_.dims_.back();
    lanes_.step = last.stride * last.step;
    lanes_.source_step = s_.inner_;
    for (std::int64_t first = 0; first < last.windows; first += kSelectLanes) {
      find_of_row(first, std::min<std::int64_t>(kSelectLanes, last.windows - first));
      run_lanes(source + first * s_.inner_, shift);
    }
  }
  void run_lanes(std::int64_t source, std::int64_t shift) {
    if (lanes_.position_count == 0) return;
    lanes_.operand = operand_ + shift;
    lanes_.out = out_ + shift;
    lanes_.source = source_ + source * static_cast<std::int64_t>(s_.width_);
    s_.loop_(lanes_);
  }

  // The positions of the window `at_`, in which every lane has an element.
  void find_of_window(int lanes) {
    lanes_.lanes = lanes;
    int count = 0;
    if (const std::int64_t whole = offset_of_whole(); whole >= 0) {
      for (const std::int64_t offset : s_.offsets_)
        positions_[count++] = {.offset = whole + offset, .begin = 0, .end = lanes};
    } else {
      each_position([&](std::int64_t offset, const std::int64_t*) {
        positions_[count++] = {.offset = offset, .begin = 0, .end = lanes};
      });
    }
    lanes_.position_count = count;
  }
  // Those of `lanes` windows along the last dimension, whose first is `first`.
  void find_of_row(std::int64_t first, std::int64_t lanes) {
    lanes_.lanes = static_cast<int>(lanes);
    const Dim& last = s_.dims_.back();
    int count = 0;
    each_position([&](std::int64_t offset, const std::int64_t* places) {
      const std::int64_t place = first * last.stride - last.pad_low + places[walked_];
      const std::int64_t begin = divide_up(-place, last.stride),
                         end = std::min(lanes, divide_up(last.extent - place, last.stride));
      if (begin >= end) return;
      positions_[count++] = {.offset = offset + place * last.step,
                             .begin = static_cast<std::int32_t>(begin),
                             .end = static_cast<std::int32_t>(end)};
    });
    lanes_.position_count = count;
  }
  // found(offset, places) for each position of the window that is inside in the walked dimensions.
  template <class F>
  void each_position(F found) const {
    const std::size_t rank = s_.dims_.size();
    for (std::size_t p = 0; p < s_.offsets_.size(); ++p) {
      const std::int64_t* const places = &s_.places_[p * rank];
      std::int64_t offset = 0;
      bool inside = true;
      for (std::size_t d = 0; d < walked_; ++d) {
        const Dim& dim = s_.dims_[d];
        const std::int64_t place = at_[d] * dim.stride - dim.pad_low + places[d];
        inside = inside && place >= 0 && place < dim.extent;
        offset += place * dim.step;
      }
      if (inside) found(offset, places);
    }
  }
  // Where the window's first element is, if all of them are inside; else -1.
  std::int64_t offset_of_whole() const {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < walked_; ++d) {
      const Dim& dim = s_.dims_[d];
      const std::int64_t place = at_[d] * dim.stride - dim.pad_low;
      if (place < 0 || place + dim.size > dim.extent) return -1;
      offset += place * dim.step;
    }
    return offset;
  }
  // To the next window, or row of windows; false after the last.
  bool next() {
    for (std::size_t d = walked_; d-- > 0;) {
      if (++at_[d] < s_.dims_[d].windows) return true;
      at_[d] = 0;
    }
    return false;
  }

  const SelectScatter& s_;
  const std::byte* const operand_;
  const std::byte* const source_;
  std::byte* const out_;
  const std::size_t walked_;  // so many of the first dimensions
  std::int64_t at_[kMostDims] = {};
  SelectPosition positions_[kMostPositions];
  SelectLanes lanes_;
};

void SelectScatter::run(const void* operand, const void* source, const void* init, void* out,
                        Parallel& parallel) const {
  constexpr std::int64_t kPartCost = 64 << 10, kMostParts = 64;
  const std::int64_t lanes = by_columns_          ? 1
                             : outer_ < kFewOuter ? kLanesOfFew
                                                  : std::int64_t{kSelectLanes};
  const std::int64_t chunks = (inner_ + lanes - 1) / lanes;
  const std::int64_t cost = outer_ * (elements_ + windows_ * std::ssize(offsets_));
  split(outer_ * chunks, cost / kPartCost, kMostParts, parallel,
        [&](std::int64_t from, std::int64_t to) {
          for (std::int64_t unit = from; unit < to; ++unit) {
            const std::int64_t o = unit / chunks, begin = unit % chunks * lanes,
                               end = std::min(begin + lanes, inner_);
            const auto width = static_cast<std::int64_t>(width_);
            std::byte* const to_fill = static_cast<std::byte*>(out) + o * elements_ * width;
            if (chunks == 1) {
              fill_splat(to_fill, init, width_, elements_);
            } else {
              for (std::int64_t row = 0; row < elements_; row += inner_)
                fill_splat(to_fill + (row + begin) * width, init, width_, end - begin);
            }
            if (windows_ == 0) continue;
            Walk(*this, static_cast<const std::byte*>(operand) + o * elements_ * width,
                 static_cast<const std::byte*>(source) + o * windows_ * width, to_fill)
                .run(begin, end);
          }
        });
}

}  // namespace millrace::devices::cpu
