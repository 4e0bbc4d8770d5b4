// GraphRun: one run of a Graph, from Graph::start to done(). Read next: graph_run.cc.
//
// Invariants:
//  - GR-1 a node's value is in place before any of its consumers is counted down (publish before
//    decrement).
//  - GR-2 every slot completes exactly once per run: with a value, its own error, or that of an
//    input (skipped).
//  - GR-3 done() completes after every slot has; nothing of the run is touched after that.
//  - GR-4 no call nests per node: inline nodes run from a list, however long the chain.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>

#include "millrace/core/call_options.h"
#include "millrace/core/future.h"
#include "millrace/core/graph_core.h"
#include "millrace/core/graph_node.h"
#include "millrace/core/timer_queue.h"

namespace millrace {

template <class T>
class Slot;

// Told of every node of every run, on the thread where it happens; for traces. Must be short.
// Thread-safe.
class GraphObserver {
 public:
  virtual ~GraphObserver() = default;
  virtual void node_started(std::uint64_t run, std::uint32_t slot,
                            std::string_view name) noexcept = 0;
  // error: nullptr for a value. A node that was skipped is finished without having been started.
  virtual void node_finished(std::uint64_t run, std::uint32_t slot, std::string_view name,
                             const Error* error) noexcept = 0;
};

// A Future of an input, its type remembered for the check against the graph.
struct GraphInput {
  template <class A>
  GraphInput(const Future<A>& future)  // NOLINT(google-explicit-constructor)
      : cell(future.cell()), type(&detail::kSlotType<A>) {}
  Ref<AsyncValue> cell;
  const detail::SlotType* type;
};

// Keeps itself alive until it is done; dropping the Ref stops nothing. Its memory goes back to the
// graph when it is done and the last Ref is gone. Thread-safety: thread-safe.
class GraphRun final : public RefCounted, public Pooled {
 public:
  using Pooled::operator new;
  using Pooled::operator delete;

  // Of a slot that the builder declared an output (CHECKed). Completes as soon as the node has.
  template <class R>
  Future<R> output(const Slot<R>& slot) const;
  // Completes when every node has finished or was skipped, with the error of the lowest slot that
  // has one.
  Future<void> done() const { return Future<void>(Ref<Cell<void>>(done_)); }
  // Counts the runs of a graph from 0.
  std::uint64_t number() const { return number_; }

 private:
  friend class Graph;
  friend struct detail::NodeHook;
  friend struct detail::InputHook;

  struct Abort {
    GraphRun* run;
    void operator()() const noexcept;
  };
  class Ready;

  static constexpr std::uint32_t kHasErrors = 1;  // some slot has an error
  static constexpr std::uint32_t kAborted = 2;    // abort_error_ is set: start no more nodes

  static Ref<GraphRun> start(const Ref<detail::GraphCore>& core, std::span<const GraphInput> inputs,
                             const CallOptions& options);
  explicit GraphRun(Ref<detail::GraphCore> core);
  ~GraphRun() override;

  AsyncValue& output_cell(detail::SlotIndex slot) const;
  void prepare();
  void arm(const CallOptions& options);
  void attach_inputs(std::span<const GraphInput> inputs, Ready& ready);
  std::optional<Error> check_inputs(std::span<const GraphInput> inputs) const;

  void abort(Error error);
  void abort_into(Error error, Ready& ready);
  void make_ready(detail::SlotIndex slot, Ready& ready);
  detail::SlotStatus start_node(detail::SlotIndex slot);
  bool skip(detail::SlotIndex slot, std::uint32_t flags);
  const Error* skip_reason(detail::SlotIndex slot, std::uint32_t flags) const;
  void complete(detail::SlotIndex slot, detail::SlotStatus status, Ready& ready);
  void release_inputs(const detail::Node& node);
  void deliver(const detail::Node& node, detail::SlotStatus status);
  void drain(Ready& ready);
  void finish();

  void* payload(const detail::Node& node) const { return block_->payloads + node.payload; }
  const Error& error_of(detail::SlotIndex slot) const;

  const Ref<detail::GraphCore> core_;
  detail::RunBlock* const block_;
  const std::uint64_t number_;
  std::atomic<std::uint32_t> flags_{0};
  std::atomic<std::uint32_t> remaining_;  // slots that are not complete, and one for start()
  std::atomic<bool> abort_claimed_{false};
  std::optional<Error> abort_error_;  // written before kAborted is set
  Ref<Cell<void>> done_;
  std::optional<std::stop_callback<Abort>> stop_;
  std::optional<TimerQueue::Id> timer_;
};

}  // namespace millrace
