#include "millrace/devices/cpu/kernels/elementwise/loop_kernel.h"

#include <algorithm>
#include <cstring>

#include "millrace/core/base/check.h"
#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/movement/strided.h"

namespace millrace::devices::cpu {
namespace {

constexpr std::int64_t kMaxPatternBytes = 8 << 10;
// Element operations that make a part worth its start, and the most parts of one loop.
constexpr std::int64_t kPartCost = 64 << 10;
constexpr std::int64_t kMaxParts = 32;
// Tiles that are added up in single precision before they go to the double accumulators.
constexpr int kFlushTiles = 32;

constexpr std::size_t align_up(std::size_t n) { return (n + 63) & ~std::size_t{63}; }

}  // namespace

// What one part keeps on its stack.
struct LoopKernel::Frame {
  alignas(64) std::byte memory[kFrameBytes];
  void* pointers[TileProgram::kMaxValues];
};

bool LoopKernel::can_reduce(std::span<const std::int64_t> dims, const std::vector<bool>& reduced) {
  int changes = 0;
  int last = -1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    const int now = reduced[i] ? 1 : 0;
    if (last >= 0 && now != last) ++changes;
    last = now;
  }
  return changes <= 1;
}

std::optional<LoopKernel> LoopKernel::make(LoopSpec spec) {
  LoopKernel k;
  k.dims_ = std::move(spec.dims);
  k.program_ = std::move(spec.program);
  k.reduced_ = std::move(spec.reduced);
  k.reduced_.resize(k.dims_.size(), false);
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
    Input input;
    input.source = std::move(spec.inputs[i]);
    input.width = static_cast<int>(byte_width(k.program_.dtype(k.program_.inputs()[i])));
    k.inputs_.push_back(std::move(input));
  }
  bool reduces = false;
  for (std::size_t o = 0; o < spec.outputs.size(); ++o) {
    Output output{.what = spec.outputs[o], .value = k.program_.outputs()[o]};
    const DType type = k.program_.dtype(output.value);
    output.width = static_cast<int>(byte_width(type));
    if (output.what.reduce) {
      reduces = true;
      output.loops = find_reduce_loops(output.what.kind, type);
      if (!output.loops) return std::nullopt;
    }
    k.outputs_.push_back(output);
  }
  if (!k.few_enough()) return std::nullopt;
  if (!reduces) k.reduced_.assign(k.dims_.size(), false);
  for (std::int64_t d : k.dims_) k.elements_ *= d;
  k.coalesce();
  if (reduces) {
    std::int64_t kept = 1, folded = 1;
    for (std::size_t i = 0; i < k.dims_.size(); ++i) (k.reduced_[i] ? folded : kept) *= k.dims_[i];
    const bool columns = !k.dims_.empty() && k.reduced_[0] && kept > 1;
    k.mode_ = columns ? Mode::kColumns : Mode::kRows;
    k.inner_ = columns ? kept : folded;
    k.outer_ = columns ? folded : kept;
  }
  k.classify_inputs();
  if (!k.lay_out()) {
    // Patterns are the first to go.
    for (Input& input : k.inputs_) {
      if (input.load == Load::kPeriodic) input.load = Load::kStrided;
    }
    if (!k.lay_out()) return std::nullopt;
  }
  k.split();
  k.small_ = k.make_small();
  return k;
}

bool LoopKernel::few_enough() const {
  int last = -1;  // buffer
  for (const Input& input : inputs_) last = std::max(last, input.source.buffer);
  for (const Output& output : outputs_) last = std::max(last, output.what.init);
  return last < static_cast<int>(kMaxBuffers) && outputs_.size() <= kMaxOutputs;
}

// Drops dimensions of size 1 and merges neighbours that every input walks as one.
void LoopKernel::coalesce() {
  std::vector<std::int64_t> dims;
  std::vector<bool> reduced;
  std::vector<std::vector<std::int64_t>> strides(inputs_.size());
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    if (dims_[d] == 1) continue;
    bool merge = !dims.empty() && reduced.back() == reduced_[d];
    for (std::size_t i = 0; merge && i < inputs_.size(); ++i) {
      merge = strides[i].back() == inputs_[i].source.strides[d] * dims_[d];
    }
    if (merge) {
      dims.back() *= dims_[d];
    } else {
      dims.push_back(dims_[d]);
      reduced.push_back(reduced_[d]);
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (merge)
        strides[i].back() = inputs_[i].source.strides[d];
      else
        strides[i].push_back(inputs_[i].source.strides[d]);
    }
  }
  dims_ = std::move(dims);
  reduced_ = std::move(reduced);
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    inputs_[i].source.strides = std::move(strides[i]);
}

void LoopKernel::classify_inputs() {
  for (Input& input : inputs_) {
    const auto& strides = input.source.strides;
    const bool splat = std::all_of(strides.begin(), strides.end(), [](auto s) { return s == 0; });
    std::size_t lead = 0;  // leading dimensions with stride 0
    while (lead < strides.size() && strides[lead] == 0) ++lead;
    std::int64_t dense = 1;
    bool contiguous = true;
    for (std::size_t d = strides.size(); d > lead; --d) {
      contiguous = contiguous && strides[d - 1] == dense;
      dense *= dims_[d - 1];
    }
    // A single element needs no copy of it.
    if (splat && (elements_ > 1 || input.source.iota)) {
      input.load = Load::kSplat;
    } else if (contiguous && lead == 0 && !input.source.iota) {
      input.load = Load::kContiguous;
    } else if (contiguous && lead > 0 && !input.source.iota &&
               dense * input.width <= kMaxPatternBytes) {
      input.load = Load::kPeriodic;
      input.period = dense;
    } else {
      input.load = Load::kStrided;
    }
  }
}

// Chooses the tile size so that one part's frame fits, and places everything in it.
bool LoopKernel::lay_out() {
  for (tile_ = kTileElements; tile_ >= kMinTile; tile_ /= 2) {
    const auto t = static_cast<std::size_t>(tile_);
    std::size_t top = align_up(program_.scratch_bytes_per_element() * t);
    for (Input& input : inputs_) {
      input.scratch = top;
      const auto w = static_cast<std::size_t>(input.width);
      if (input.load == Load::kPeriodic)
        top += align_up((static_cast<std::size_t>(input.period) + t) * w);
      else if (input.load != Load::kContiguous)
        top += align_up(t * w);
    }
    for (Output& output : outputs_) {
      if (!output.what.reduce || mode_ != Mode::kColumns) continue;
      output.lanes = top;
      top += align_up(t * static_cast<std::size_t>(output.loops.lane_bytes)) +
             align_up(t * static_cast<std::size_t>(output.loops.acc_bytes));
    }
    frame_bytes_ = top;
    if (top <= kFrameBytes) return true;
  }
  return false;
}

void LoopKernel::split() {
  const std::int64_t cost = elements_ * static_cast<std::int64_t>(1 + program_.instructions() +
                                                                  static_cast<int>(inputs_.size()));
  const std::int64_t wanted = std::clamp<std::int64_t>(cost / kPartCost, 1, kMaxParts);
  if (mode_ == Mode::kStore) {
    parts_ = static_cast<int>(std::min(wanted, (elements_ + tile_ - 1) / tile_));
    parts_ = std::max(parts_, 1);
    return;
  }
  if (mode_ == Mode::kColumns) {
    columns_block_ = inner_ <= tile_ ? tile_ / inner_ : 0;
    const std::int64_t pieces = (inner_ + tile_ - 1) / tile_;
    chunks_ = std::clamp<std::int64_t>((wanted + pieces - 1) / pieces, 1,
                                       std::max<std::int64_t>(outer_ / 4, 1));
    parts_ = static_cast<int>(pieces * chunks_);
  } else {
    chunks_ = outer_ >= wanted ? 1 : (wanted + outer_ - 1) / std::max<std::int64_t>(outer_, 1);
    chunks_ = std::clamp<std::int64_t>(chunks_, 1, std::max<std::int64_t>(inner_ / tile_, 1));
    parts_ = static_cast<int>(
        chunks_ == 1 ? std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(outer_, 1))
                     : outer_ * chunks_);
  }
  std::size_t top = 0;
  const std::int64_t results = mode_ == Mode::kColumns ? inner_ : outer_;
  for (Output& output : outputs_) {
    if (!output.what.reduce) continue;
    output.partials = top;
    if (mode_ == Mode::kColumns || chunks_ > 1) {
      top += align_up(static_cast<std::size_t>(results * chunks_ * output.loops.acc_bytes));
    }
  }
  scratch_bytes_ = top;
}

bool LoopKernel::can_overwrite(int output, int input) const {
  const Output& o = outputs_[static_cast<std::size_t>(output)];
  const Input& i = inputs_[static_cast<std::size_t>(input)];
  if (o.what.reduce || i.load != Load::kContiguous || i.source.offset != 0 || o.width != i.width)
    return false;
  const int in_value = program_.inputs()[static_cast<std::size_t>(input)];
  const int producer = program_.producer(o.value);
  return producer >= 0 && program_.last_use(in_value) <= producer;
}

void LoopKernel::run(std::span<const void* const> buffers, std::span<void* const> outputs,
                     std::byte* scratch, Parallel& parallel) const {
  const Memory m{buffers, outputs, scratch};
  if (small_ != nullptr) return run_small(m);
  if (elements_ > 0 && parts_ == 1)
    run_part(0, m);
  else if (elements_ > 0)
    parallel.run(parts_, [&](int part) { run_part(part, m); });
  if (mode_ != Mode::kStore) finish(m);
}

// Where an input begins; nullptr for an iota.
const std::byte* LoopKernel::Memory::start(const LoopInput& input, int width) const {
  if (input.iota) return nullptr;
  return static_cast<const std::byte*>(buffers[static_cast<std::size_t>(input.buffer)]) +
         input.offset * width;
}
const void* LoopKernel::Memory::init(const Output& output) const {
  return buffers[static_cast<std::size_t>(output.what.init)];
}

void LoopKernel::run_part(int part, const Memory& m) const {
  Frame frame;
  prepare(frame, m);
  switch (mode_) {
    case Mode::kStore:
      return store_part(frame, part, m);
    case Mode::kColumns:
      return columns_part(frame, part, m);
    case Mode::kRows:
      return rows_part(frame, part, m);
  }
}

void LoopKernel::prepare(Frame& frame, const Memory& m) const {
  const int fill = static_cast<int>(std::min<std::int64_t>(elements_, tile_));
  program_.bind(frame.memory, frame.pointers, tile_, fill);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    const int value = program_.inputs()[i];
    std::byte* to = frame.memory + input.scratch;
    frame.pointers[value] = to;
    if (input.load == Load::kSplat) {
      if (input.source.iota) {
        fill_iota(to, program_.dtype(value), {}, {}, input.source.offset, 0, fill);
      } else {
        fill_splat(to, m.start(input.source, input.width), static_cast<std::size_t>(input.width),
                   fill);
      }
    } else if (input.load == Load::kPeriodic) {
      const std::byte* const from = m.start(input.source, input.width);
      const std::int64_t total = input.period + fill;
      for (std::int64_t at = 0; at < total; at += input.period) {
        std::memcpy(to + at * input.width, from,
                    static_cast<std::size_t>(std::min(input.period, total - at) * input.width));
      }
    }
  }
}

// Elements [start, start + n) of the space: loads, program, stores.
void LoopKernel::run_tile(Frame& frame, std::int64_t start, int n, const Memory& m) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    if (input.load == Load::kSplat) continue;
    const int value = program_.inputs()[i];
    const std::byte* const from = m.start(input.source, input.width);
    if (input.load == Load::kContiguous) {
      frame.pointers[value] = const_cast<std::byte*>(from + start * input.width);
    } else if (input.load == Load::kPeriodic) {
      frame.pointers[value] = frame.memory + input.scratch + start % input.period * input.width;
    } else if (input.source.iota) {
      fill_iota(frame.memory + input.scratch, program_.dtype(value), dims_, input.source.strides,
                input.source.offset, start, n);
    } else {
      load_strided(frame.memory + input.scratch, from, input.width, dims_, input.source.strides,
                   start, n);
    }
  }
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const Output& output = outputs_[o];
    if (output.what.reduce || program_.producer(output.value) < 0) continue;
    frame.pointers[output.value] = static_cast<std::byte*>(m.outputs[o]) + start * output.width;
  }
  program_.run(frame.pointers, n);
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const Output& output = outputs_[o];
    if (output.what.reduce) continue;
    std::byte* to = static_cast<std::byte*>(m.outputs[o]) + start * output.width;
    if (frame.pointers[output.value] != to) {
      std::memcpy(to, frame.pointers[output.value],
                  static_cast<std::size_t>(n) * static_cast<std::size_t>(output.width));
    }
  }
}

// Whole tiles.
void LoopKernel::store_part(Frame& frame, int part, const Memory& m) const {
  // Divisions are a good part of what a loop of few elements takes.
  if (elements_ <= tile_) return run_tile(frame, 0, static_cast<int>(elements_), m);
  const std::int64_t tiles = (elements_ + tile_ - 1) / tile_;
  const std::int64_t end = std::min(elements_, tiles * (part + 1) / parts_ * tile_);
  for (std::int64_t at = tiles * part / parts_ * tile_; at < end; at += tile_)
    run_tile(frame, at, static_cast<int>(std::min<std::int64_t>(tile_, end - at)), m);
}

// One piece of the columns over one chunk of the rows; the result goes to the chunk's partials.
void LoopKernel::columns_part(Frame& frame, int part, const Memory& m) const {
  const std::int64_t pieces = parts_ / chunks_;
  const std::int64_t piece = part % pieces, chunk = part / pieces;
  const std::int64_t row_begin = outer_ * chunk / chunks_, row_end = outer_ * (chunk + 1) / chunks_;
  const std::int64_t column = piece * tile_;
  const std::int64_t width = std::min<std::int64_t>(tile_, inner_ - column);
  const std::int64_t block = std::max<std::int64_t>(columns_block_, 1);
  const int lanes = static_cast<int>(width * block);
  const auto accs = [&](const Output& o) {
    return frame.memory + o.lanes +
           align_up(static_cast<std::size_t>(tile_) * static_cast<std::size_t>(o.loops.lane_bytes));
  };
  each_reduced([&](const Output& o, std::size_t) {
    o.loops.lane_identity(frame.memory + o.lanes, lanes);
    o.loops.acc_identity(accs(o), lanes);
  });
  int tiles = 0;
  for (std::int64_t row = row_begin; row < row_end; row += block) {
    const int n = static_cast<int>(std::min(block, row_end - row) * width);
    run_tile(frame, row * inner_ + column, n, m);
    each_reduced([&](const Output& o, std::size_t) {
      o.loops.column(frame.memory + o.lanes, frame.pointers[o.value], n);
    });
    if (++tiles % kFlushTiles == 0 || row + block >= row_end) {
      each_reduced([&](const Output& o, std::size_t) {
        o.loops.flush(accs(o), frame.memory + o.lanes, lanes);
        o.loops.lane_identity(frame.memory + o.lanes, lanes);
      });
    }
  }
  each_reduced([&](const Output& o, std::size_t) {
    std::byte* acc = accs(o);
    for (std::int64_t b = 1; b < block; ++b)
      o.loops.merge(acc, acc + b * width * o.loops.acc_bytes, width);
    std::byte* to = m.scratch + o.partials + (chunk * inner_ + column) * o.loops.acc_bytes;
    std::memcpy(to, acc, static_cast<std::size_t>(width * o.loops.acc_bytes));
  });
}

// Whole rows, or one chunk of one row.
void LoopKernel::rows_part(Frame& frame, int part, const Memory& m) const {
  alignas(64) std::byte acc[kMaxOutputs * 8];
  const auto identity = [&] {
    each_reduced([&](const Output& o, std::size_t i) { o.loops.acc_identity(acc + i * 8, 1); });
  };
  const auto add_run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += tile_) {
      const int n = static_cast<int>(std::min<std::int64_t>(tile_, end - at));
      run_tile(frame, at, n, m);
      each_reduced([&](const Output& o, std::size_t i) {
        o.loops.row(acc + i * 8, frame.pointers[o.value], n);
      });
    }
  };
  if (chunks_ > 1) {
    const std::int64_t row = part / chunks_, chunk = part % chunks_;
    identity();
    add_run(row * inner_ + inner_ * chunk / chunks_, row * inner_ + inner_ * (chunk + 1) / chunks_);
    return each_reduced([&](const Output& o, std::size_t i) {
      std::memcpy(m.scratch + o.partials + part * o.loops.acc_bytes, acc + i * 8,
                  static_cast<std::size_t>(o.loops.acc_bytes));
    });
  }
  const std::int64_t row_begin = outer_ * part / parts_, row_end = outer_ * (part + 1) / parts_;
  const auto out = [&](std::size_t i, const Output& o, std::int64_t row) {
    return static_cast<std::byte*>(m.outputs[i]) + row * o.width;
  };
  if (inner_ >= tile_) {
    for (std::int64_t row = row_begin; row < row_end; ++row) {
      identity();
      add_run(row * inner_, (row + 1) * inner_);
      each_reduced([&](const Output& o, std::size_t i) {
        o.loops.finish(out(i, o, row), acc + i * 8, m.init(o), 1);
      });
    }
    return;
  }
  const std::int64_t block = tile_ / inner_;
  for (std::int64_t row = row_begin; row < row_end; row += block) {
    const int rows = static_cast<int>(std::min(block, row_end - row)), n = static_cast<int>(inner_);
    run_tile(frame, row * inner_, rows * n, m);
    each_reduced([&](const Output& o, std::size_t i) {
      o.loops.rows(out(i, o, row), frame.pointers[o.value], m.init(o), rows, n);
    });
  }
}

// Adds up the partial results, in order, and writes the reduced outputs.
void LoopKernel::finish(const Memory& m) const {
  if (elements_ > 0 && mode_ == Mode::kRows && chunks_ == 1) return;
  each_reduced([&](const Output& output, std::size_t o) {
    const void* init = m.init(output);
    const ReduceLoops& loops = output.loops;
    std::byte* partials = m.scratch + output.partials;
    auto* out = static_cast<std::byte*>(m.outputs[o]);
    const std::int64_t results = mode_ == Mode::kColumns ? inner_ : outer_;
    if (elements_ == 0) {
      fill_splat(out, init, static_cast<std::size_t>(output.width), results);
    } else if (mode_ == Mode::kColumns) {
      for (std::int64_t c = 1; c < chunks_; ++c) {
        loops.merge(partials, partials + c * inner_ * loops.acc_bytes, inner_);
      }
      loops.finish(out, partials, init, inner_);
    } else {
      for (std::int64_t r = 0; r < outer_; ++r) {
        std::byte* acc = partials + r * chunks_ * loops.acc_bytes;
        for (std::int64_t c = 1; c < chunks_; ++c) loops.merge(acc, acc + c * loops.acc_bytes, 1);
        loops.finish(out + r * output.width, acc, init, 1);
      }
    }
  });
}

}  // namespace millrace::devices::cpu
