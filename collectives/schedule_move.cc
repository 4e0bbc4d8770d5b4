// Schedules of the calls that only move bytes.
#include <algorithm>

#include "millrace/collectives/schedule_builder.h"
#include "millrace/collectives/tree.h"
#include "millrace/core/base/function_ref.h"

namespace millrace::collectives {
namespace {

using Kind = CollectiveCall::Kind;
using Place = Slice::Place;

std::size_t sz(int number) { return static_cast<std::size_t>(number); }

// A move of bytes from a rank's input to an output. Indices as Slice has them.
struct Move {
  Rank source;
  std::size_t source_begin;
  int target_process;
  int target_index;
  std::size_t target_begin;
  std::size_t bytes;
};

// All moves of a call that this process takes part in, in an order that all processes share.
class Moves {
 public:
  using Take = FunctionRef<void(const Move&)>;
  Moves(const ScheduleParts& parts, Take take) : parts_(parts), take_(take) {}

  void run() {
    switch (parts_.request.kind) {
      case Kind::kAllGather:
        for (int p = 0; p < parts_.processes(); ++p) gather(p);
        break;
      case Kind::kGather:
        gather(parts_.spread.process_of(parts_.request.root));
        break;
      case Kind::kBroadcast:
        broadcast();
        break;
      case Kind::kScatter:
        spread_parts(parts_.request.root);
        break;
      case Kind::kAllToAll:
        for (int r = 0; r < parts_.spread.ranks(); ++r) spread_parts(Rank{r});
        break;
      default:
        permute();
        break;
    }
  }

 private:
  struct Ranks {
    int first;
    int end;
  };
  // Those of this process, or all, if this is the other end.
  Ranks ranks(bool all) const {
    if (all) return {0, parts_.spread.ranks()};
    return {parts_.spread.first(parts_.self), parts_.spread.first(parts_.self + 1)};
  }
  // The array of every rank, to the output of a process.
  void gather(int process) {
    const std::size_t bytes = parts_.array_bytes();
    const Ranks sources = ranks(process == parts_.self);
    for (int r = sources.first; r < sources.end; ++r)
      take_({Rank{r}, 0, process, 0, sz(r) * bytes, bytes});
  }
  void broadcast() {
    const int root = parts_.spread.process_of(parts_.request.root);
    for (int p = 0; p < parts_.processes(); ++p) {
      if (p != root && (parts_.self == root || parts_.self == p))
        take_({parts_.request.root, 0, p, 0, 0, parts_.array_bytes()});
    }
  }
  // Part t of a rank's array, to rank t: as its only part, or as the part of the source.
  void spread_parts(Rank source) {
    const std::size_t part = parts_.array_bytes() / sz(parts_.spread.ranks());
    const bool only = parts_.request.kind == Kind::kScatter;
    const Ranks targets = ranks(parts_.spread.process_of(source) == parts_.self);
    for (int t = targets.first; t < targets.end; ++t) {
      const int process = parts_.spread.process_of(Rank{t});
      take_({source, sz(t) * part, process, t - parts_.spread.first(process),
             only ? 0 : at(source) * part, part});
    }
  }
  void permute() {
    for (const RankPair& pair : parts_.request.pairs) {
      const int process = parts_.spread.process_of(pair.target);
      if (process == parts_.self || parts_.spread.process_of(pair.source) == parts_.self) {
        take_({pair.source, 0, process, index(pair.target) - parts_.spread.first(process), 0,
               parts_.array_bytes()});
      }
    }
  }

  const ScheduleParts& parts_;
  Take take_;
};

Slice output(std::size_t begin, std::size_t bytes) { return {Place::kOutput, 0, begin, bytes}; }

// The arrays of a process in the result of all_gather.
Slice gathered(const ScheduleParts& parts, int process) {
  const std::size_t bytes = parts.array_bytes();
  return output(sz(parts.spread.first(process)) * bytes, sz(parts.spread.count(process)) * bytes);
}

void copy_own(ScheduleBuilder& builder, const ScheduleParts& parts) {
  const std::size_t bytes = parts.array_bytes();
  const Slice own = gathered(parts, parts.self);
  for (std::size_t d = 0; d < parts.ranks_here(); ++d) {
    builder.copy(output(own.begin + d * bytes, bytes),
                 {Place::kInput, static_cast<int>(d), 0, bytes});
  }
}

// A message out and one in, in turn.
void trade(ScheduleBuilder& builder, int to, const Messages& out, int from, const Messages& in) {
  for (std::size_t i = 0; i < std::max(out.size(), in.size()); ++i) {
    if (i < out.size()) builder.send(to, out[i]);
    if (i < in.size()) builder.receive(from, in[i]);
  }
}

// What the root's process has and the others get, chunk by chunk, from one to the next.
struct Relay {
  const ScheduleParts& parts;
  int root = parts.spread.process_of(parts.request.root);

  int position() const { return parts.wrap(parts.self - root); }
  int process(int position) const { return parts.wrap(position + root); }
  Messages chunks() const {
    const bool at_root = parts.self == root;
    const int index = index_of_root();
    return cut(
        {{at_root ? Place::kInput : Place::kOutput, at_root ? index : 0, 0, parts.array_bytes()}},
        parts.request.chunk_bytes);
  }

 private:
  int index_of_root() const { return index(parts.request.root) - parts.spread.first(root); }
};

}  // namespace

void add_direct_moves(ScheduleBuilder& builder, const ScheduleParts& parts) {
  std::vector<Slices> out(sz(parts.processes())), in(out);
  const auto take = [&](const Move& move) {
    const int from = parts.spread.process_of(move.source);
    const Slice source = {Place::kInput, index(move.source) - parts.spread.first(from),
                          move.source_begin, move.bytes};
    const Slice target = {Place::kOutput, move.target_index, move.target_begin, move.bytes};
    if (from == move.target_process) {
      builder.copy(target, source);
    } else if (from == parts.self) {
      out[sz(move.target_process)].push_back(source);
    } else {
      in[sz(from)].push_back(target);
    }
  };
  Moves(parts, take).run();
  std::vector<Messages> sends, receives;
  for (const Slices& slices : out) sends.push_back(cut(slices, parts.request.chunk_bytes));
  for (const Slices& slices : in) receives.push_back(cut(slices, parts.request.chunk_bytes));
  exchange(builder, parts, sends, receives);
}

void add_ring_gather(ScheduleBuilder& builder, const ScheduleParts& parts) {
  copy_own(builder, parts);
  const std::size_t most = parts.request.chunk_bytes;
  for (int step = 0; step + 1 < parts.processes(); ++step) {
    trade(builder, parts.after(1), cut({gathered(parts, parts.after(-step))}, most),
          parts.after(-1), cut({gathered(parts, parts.after(-step - 1))}, most));
  }
}

// Bruck's: after a step of distance d a process has the arrays of 2 d processes, from its own on;
// they lie where they belong, so nothing is moved at the end.
void add_doubling_gather(ScheduleBuilder& builder, const ScheduleParts& parts) {
  copy_own(builder, parts);
  const auto run = [&](int first, int count) {
    Slices slices;
    for (int i = 0; i < count; ++i) slices.push_back(gathered(parts, parts.wrap(first + i)));
    return cut(slices, parts.request.chunk_bytes);
  };
  for (int distance = 1; distance < parts.processes(); distance *= 2) {
    const int count = std::min(distance, parts.processes() - distance);
    trade(builder, parts.after(-distance), run(parts.self, count), parts.after(distance),
          run(parts.self + distance, count));
  }
}

void add_ring_broadcast(ScheduleBuilder& builder, const ScheduleParts& parts) {
  const Relay relay{parts};
  const int position = relay.position();
  for (const Slices& chunk : relay.chunks()) {
    if (position > 0) builder.receive(relay.process(position - 1), chunk);
    if (position + 1 < parts.processes()) builder.send(relay.process(position + 1), chunk);
  }
}

void add_tree_broadcast(ScheduleBuilder& builder, const ScheduleParts& parts) {
  const Relay relay{parts};
  const auto parent = tree_parent(relay.position());
  const TreeChildren children = tree_children(relay.position(), parts.processes());
  for (const Slices& chunk : relay.chunks()) {
    if (parent) builder.receive(relay.process(*parent), chunk);
    for (int c = children.first; c < children.first + children.count; ++c)
      builder.send(relay.process(c), chunk);
  }
}

void add_direct_barrier(ScheduleBuilder& builder, const ScheduleParts& parts) {
  for (int step = 1; step < parts.processes(); ++step) builder.send(parts.after(step), {});
  for (int step = 1; step < parts.processes(); ++step) builder.receive(parts.after(-step), {});
}

// Dissemination.
void add_doubling_barrier(ScheduleBuilder& builder, const ScheduleParts& parts) {
  for (int distance = 1; distance < parts.processes(); distance *= 2) {
    builder.send(parts.after(distance), {});
    builder.receive(parts.after(-distance), {});
  }
}

void add_tree_barrier(ScheduleBuilder& builder, const ScheduleParts& parts) {
  const auto parent = tree_parent(parts.self);
  const TreeChildren children = tree_children(parts.self, parts.processes());
  const int end = children.first + children.count;
  for (int c = children.first; c < end; ++c) builder.receive(c, {});
  if (parent) {
    builder.send(*parent, {});
    builder.receive(*parent, {});
  }
  for (int c = children.first; c < end; ++c) builder.send(c, {});
}

}  // namespace millrace::collectives
