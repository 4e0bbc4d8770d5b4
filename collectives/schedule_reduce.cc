// Schedules of all_reduce and reduce_scatter.
#include <algorithm>
#include <bit>
#include <optional>

#include "millrace/collectives/schedule_builder.h"
#include "millrace/collectives/tree.h"

namespace millrace::collectives {
namespace {

using Kind = CollectiveCall::Kind;
using Place = Slice::Place;

// Up to so many bytes of all ranks, every process gets every array and folds all of it: one message
// after the other is then the time, not the bytes.
constexpr std::size_t kOneHopBytes = std::size_t{16} << 10;

std::size_t sz(int number) { return static_cast<std::size_t>(number); }

// A piece of the arrays that is folded at a time.
struct Chunk {
  std::size_t begin;  // in an array
  std::size_t bytes;
  Slice target;  // at the process that the part belongs to
};
using Chunks = std::vector<Chunk>;

class Reduction {
 public:
  Reduction(ScheduleBuilder& b, const ScheduleParts& p)
      : builder(b), parts(p), most_bytes(chunk_bytes(p)) {}

  // The bytes of an array in a message that has those of each rank of a process.
  static std::size_t chunk_bytes(const ScheduleParts& parts) {
    const std::size_t element = parts.request.element_bytes;
    const std::size_t each = parts.request.chunk_bytes / sz(parts.spread.most_ranks());
    return std::max(each / element, std::size_t{1}) * element;
  }
  bool scatters() const { return parts.request.kind == Kind::kReduceScatter; }

  // The part of a process, in chunks: an even share of the array, or what its ranks get.
  Chunks chunks_of(int process) const {
    Chunks chunks;
    const std::size_t ranks = sz(parts.spread.ranks());
    if (scatters()) {
      const std::size_t part = parts.array_bytes() / ranks;
      for (int d = 0; d < parts.spread.count(process); ++d) {
        const std::size_t begin = sz(parts.spread.first(process) + d) * part;
        add(chunks, begin, begin + part, {Place::kOutput, d, 0, 0});
      }
      return chunks;
    }
    const std::size_t size = sz(parts.processes()), number = sz(process);
    const std::size_t share = parts.request.elements / size, more = parts.request.elements % size;
    const auto start = [&](std::size_t p) {
      return (p * share + std::min(p, more)) * parts.request.element_bytes;
    };
    add(chunks, start(number), start(number + 1), {Place::kOutput, 0, start(number), 0});
    return chunks;
  }
  Chunks all_chunks() const {
    Chunks chunks;
    add(chunks, 0, parts.array_bytes(), {Place::kOutput, 0, 0, 0});
    return chunks;
  }

  // This piece of the arrays of this process's ranks.
  Slices own(const Chunk& chunk) const {
    Slices slices;
    for (std::size_t d = 0; d < parts.ranks_here(); ++d)
      slices.push_back({Place::kInput, static_cast<int>(d), chunk.begin, chunk.bytes});
    return slices;
  }
  // The same with what came before it, and after it, in the order of the fold.
  Slices own_after(const Slice& first, const Chunk& chunk) const {
    Slices slices = {first};
    const Slices mine = own(chunk);
    slices.insert(slices.end(), mine.begin(), mine.end());
    return slices;
  }
  // One slice of this piece, folded to `target` where the process has several ranks.
  Slice own_folded(const Chunk& chunk, const Slice& target) {
    const Slices mine = own(chunk);
    if (mine.size() == 1) return mine[0];
    builder.fold(target, mine, false);
    return target;
  }
  void send(int peer, const Slice& slice) { builder.send(peer, std::span(&slice, 1)); }
  void receive(int peer, const Slice& slice) { builder.receive(peer, std::span(&slice, 1)); }

  ScheduleBuilder& builder;
  const ScheduleParts& parts;
  const std::size_t most_bytes;

 private:
  void add(Chunks& chunks, std::size_t begin, std::size_t end, Slice target) const {
    for (std::size_t at = begin; at < end; at += most_bytes) {
      const std::size_t bytes = std::min(most_bytes, end - at);
      Slice piece = target;
      piece.begin += at - begin;
      piece.bytes = bytes;
      chunks.push_back({at, bytes, piece});
    }
  }
};

std::size_t largest(const Chunks& chunks) {
  std::size_t bytes = 0;
  for (const Chunk& chunk : chunks) bytes = std::max(bytes, chunk.bytes);
  return bytes;
}

Slice first_bytes(Slice slice, std::size_t bytes) {
  slice.bytes = bytes;
  return slice;
}

// The message that came last, or one part of several as long.
Slice message(std::size_t bytes, std::size_t part = 0) {
  return {Place::kMessage, 0, part * bytes, bytes};
}

class DirectReduce : public Reduction {
 public:
  using Reduction::Reduction;

  // Round k: contributions to chunk k of every part go out; chunk k - 1 of the own part is folded
  // and given to all; chunk k - 2 of the other parts comes. So a process computes while bytes are
  // on their way: C0 C1 R0 C2 R1 C3 ..., where three may be on their way.
  void run() {
    plan();
    std::size_t rounds = 0;
    for (const Chunks& chunks : chunks_) rounds = std::max(rounds, chunks.size());
    for (std::size_t k = 0; rounds > 0 && k < rounds + (gives_ ? 2 : 1); ++k) {
      for (int step = 1; step < parts.processes(); ++step) contribute(parts.after(step), k);
      if (k >= 1) fold_own(k - 1);
      if (k >= 2 && gives_) take_results(k - 2);
    }
  }

 private:
  void plan() {
    const bool small = !scatters() && parts.array_bytes() * sz(parts.spread.ranks()) <=
                                          std::min(kOneHopBytes, parts.request.chunk_bytes);
    gives_ = !scatters() && !small && parts.processes() > 1;
    for (int p = 0; p < parts.processes(); ++p)
      chunks_.push_back(small ? all_chunks() : chunks_of(p));
    if (parts.sends_partial(parts.self) && parts.processes() > 1) {
      std::size_t bytes = 0;
      for (const Chunks& chunks : chunks_) bytes = std::max(bytes, largest(chunks));
      partial_ = builder.scratch(bytes);
    }
    const std::size_t own_bytes = largest(chunks_[sz(parts.self)]);
    for (int p = 0; p < parts.processes(); ++p) {
      Slices& arrays = arriving_.emplace_back();
      if (p == parts.self || p == comes_last_) continue;
      for (int d = 0; d < arrays_from(p); ++d) arrays.push_back(builder.scratch(own_bytes));
    }
  }
  int arrays_from(int process) const {
    return parts.sends_partial(process) ? 1 : parts.spread.count(process);
  }
  Slices arriving(int process, const Chunk& chunk) const {
    Slices slices;
    for (const Slice& slice : arriving_[sz(process)])
      slices.push_back(first_bytes(slice, chunk.bytes));
    for (int d = 0; process == comes_last_ && d < arrays_from(process); ++d)
      slices.push_back(message(chunk.bytes, sz(d)));
    return slices;
  }
  void contribute(int peer, std::size_t k) {
    const Chunks& chunks = chunks_[sz(peer)];
    if (k >= chunks.size()) return;
    if (parts.sends_partial(parts.self)) {
      const Slice folded = first_bytes(partial_, chunks[k].bytes);
      builder.fold(folded, own(chunks[k]), false);
      send(peer, folded);
    } else {
      builder.send(peer, own(chunks[k]));
    }
  }
  // In the order of the ranks.
  void fold_own(std::size_t k) {
    if (k >= chunks_[sz(parts.self)].size()) return;
    const Chunk& chunk = chunks_[sz(parts.self)][k];
    std::vector<Slices> sources;
    for (int p = 0; p < parts.processes(); ++p)
      sources.push_back(p == parts.self ? own(chunk) : arriving(p, chunk));
    for (int step = 1; step < parts.processes(); ++step)
      builder.receive(parts.after(-step), sources[sz(parts.after(-step))]);
    Slices in_order;
    for (const Slices& some : sources) in_order.insert(in_order.end(), some.begin(), some.end());
    builder.fold(chunk.target, in_order, true);
    for (int step = 1; gives_ && step < parts.processes(); ++step)
      send(parts.after(step), chunk.target);
  }
  void take_results(std::size_t k) {
    for (int step = 1; step < parts.processes(); ++step) {
      const int peer = parts.after(-step);
      if (k < chunks_[sz(peer)].size()) receive(peer, chunks_[sz(peer)][k].target);
    }
  }

  std::vector<Chunks> chunks_;  // by process: its part
  bool gives_ = false;          // each part's result to all
  Slice partial_;
  // By process: room for a chunk of each of its ranks, or of all together. None for the process
  // whose chunk comes last: it is folded where it arrived.
  std::vector<Slices> arriving_;
  const int comes_last_ = parts.after(1);
};

class RingReduce : public Reduction {
 public:
  using Reduction::Reduction;

  // In step s a process sends on what it has of the part s + 1 before its own and folds what comes
  // of the one before that; after the last step it has its own part, of all.
  void run() {
    for (int p = 0; p < parts.processes(); ++p) chunks_.push_back(chunks_of(p));
    std::size_t longest = 0;
    for (const Chunks& chunks : chunks_) {
      longest = std::max(longest, chunks.size());
      slot_bytes_ = std::max(slot_bytes_, largest(chunks));
    }
    if (scatters()) carried_ = builder.scratch(longest * slot_bytes_);
    for (int s = 0; s + 1 < parts.processes(); ++s) {
      for (std::size_t k = 0; k < longest; ++k) {
        send_on(s, k);
        fold_next(s, k);
      }
    }
    if (!scatters()) give_around();
  }

 private:
  const Chunks& part(int before) const { return chunks_[sz(parts.after(-before))]; }
  // Where a chunk is while it goes around: where the result will be, if that is here.
  Slice carried(const Chunk& chunk, std::size_t k) const {
    if (!scatters()) return chunk.target;
    return {Place::kScratch, 0, carried_.begin + k * slot_bytes_, chunk.bytes};
  }
  void send_on(int s, std::size_t k) {
    const Chunks& chunks = part(s + 1);
    if (k >= chunks.size()) return;
    const Slice place = carried(chunks[k], k);
    send(parts.after(1), s == 0 ? own_folded(chunks[k], place) : place);
  }
  void fold_next(int s, std::size_t k) {
    const Chunks& chunks = part(s + 2);
    if (k >= chunks.size()) return;
    const bool last = s + 2 == parts.processes();
    const Slice came = message(chunks[k].bytes);
    receive(parts.after(-1), came);
    const Slice target = last ? chunks[k].target : carried(chunks[k], k);
    builder.fold(target, own_after(came, chunks[k]), last);
  }
  void give_around() {
    for (int s = 0; s + 1 < parts.processes(); ++s) {
      const Chunks& out = part(s);
      const Chunks& in = part(s + 1);
      for (std::size_t k = 0; k < std::max(out.size(), in.size()); ++k) {
        if (k < out.size()) send(parts.after(1), out[k].target);
        if (k < in.size()) receive(parts.after(-1), in[k].target);
      }
    }
  }

  std::vector<Chunks> chunks_;
  std::size_t slot_bytes_ = 0;  // of the largest chunk
  Slice carried_;
};

class DoublingReduce : public Reduction {
 public:
  using Reduction::Reduction;

  // Processes beyond a power of two give theirs to a neighbour first and get the result from it.
  void run() {
    chunks_ = all_chunks();
    for (const Chunk& chunk : chunks_) {
      const Slices mine = own(chunk);
      if (mine.size() == 1) builder.copy(chunk.target, mine[0]);
      if (mine.size() > 1) builder.fold(chunk.target, mine, false);
    }
    const int size = parts.processes();
    const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
    const int paired = 2 * (size - power);
    if (parts.self < paired && parts.self % 2 == 0) {
      for (const Chunk& chunk : chunks_) send(parts.self + 1, chunk.target);
      for (const Chunk& chunk : chunks_) receive(parts.self + 1, chunk.target);
      return;
    }
    if (parts.self < paired) {
      for (const Chunk& chunk : chunks_) take(chunk, parts.self - 1, false);
    }
    const int number = parts.self < paired ? parts.self / 2 : parts.self - paired / 2;
    for (int distance = 1; distance < power; distance *= 2) {
      const int other = number ^ distance;
      const int peer = other < paired / 2 ? 2 * other + 1 : other + paired / 2;
      for (const Chunk& chunk : chunks_) {
        send(peer, chunk.target);
        take(chunk, peer, 2 * distance == power);
      }
    }
    if (parts.self < paired) {
      for (const Chunk& chunk : chunks_) send(parts.self - 1, chunk.target);
    }
  }

 private:
  // Both partners fold the lower one's first, so both get the same bits.
  void take(const Chunk& chunk, int peer, bool last) {
    const Slice came = message(chunk.bytes);
    receive(peer, came);
    const Slice sources[] = {peer < parts.self ? came : chunk.target,
                             peer < parts.self ? chunk.target : came};
    builder.fold(chunk.target, sources, last);
  }

  Chunks chunks_;
};

class TreeReduce : public Reduction {
 public:
  using Reduction::Reduction;

  // Chunks go up the tree, one ahead of those that come down.
  void run() {
    chunks_ = all_chunks();
    for (int c = 0; c + 1 < children_.count; ++c)
      arriving_.push_back(builder.scratch(largest(chunks_)));
    for (std::size_t k = 0; k < chunks_.size() + 1; ++k) {
      if (k < chunks_.size()) go_up(chunks_[k]);
      if (k >= 1 && parent_) receive(*parent_, chunks_[k - 1].target);
      if (k >= 1) go_down(chunks_[k - 1]);
    }
  }

 private:
  void go_up(const Chunk& chunk) {
    Slices sources = own(chunk);
    for (int c = 0; c < children_.count; ++c) {
      const bool is_last = c + 1 == children_.count;
      sources.push_back(is_last ? message(chunk.bytes)
                                : first_bytes(arriving_[sz(c)], chunk.bytes));
      receive(children_.first + c, sources.back());
    }
    if (sources.size() > 1 || !parent_) builder.fold(chunk.target, sources, !parent_);
    if (parent_) send(*parent_, sources.size() > 1 ? chunk.target : sources[0]);
  }
  void go_down(const Chunk& chunk) {
    for (int c = 0; c < children_.count; ++c) send(children_.first + c, chunk.target);
  }

  const std::optional<int> parent_ = tree_parent(parts.self);
  const TreeChildren children_ = tree_children(parts.self, parts.processes());
  Chunks chunks_;
  Slices arriving_;  // of each child but the last, whose chunk is folded where it arrived
};

}  // namespace

void add_direct_reduce(ScheduleBuilder& builder, const ScheduleParts& parts) {
  DirectReduce(builder, parts).run();
}
void add_ring_reduce(ScheduleBuilder& builder, const ScheduleParts& parts) {
  RingReduce(builder, parts).run();
}
void add_doubling_reduce(ScheduleBuilder& builder, const ScheduleParts& parts) {
  DoublingReduce(builder, parts).run();
}
void add_tree_reduce(ScheduleBuilder& builder, const ScheduleParts& parts) {
  TreeReduce(builder, parts).run();
}

}  // namespace millrace::collectives
