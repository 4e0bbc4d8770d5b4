// Graph: work recorded once as a dataflow graph and replayed every step. Build it with
// GraphBuilder, start it as often as wanted, several runs at a time; a replay allocates nothing.
// Read next: graph_run.h, the results of a run; graph_run.cc, its progress.
//
//   GraphBuilder b;
//   Slot<Buffer> x = b.input<Buffer>("x");
//   Slot<Buffer> y = b.node(
//       "forward", executor,
//       [=](const CallOptions& call, const Buffer& x) { return run(step, x, call); }, x);
//   b.output(y);
//   Result<Graph> graph = b.build({.timers = &timers});
//   Ref<GraphRun> run = graph->start({x_future}, {.deadline = now + seconds(1)});
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/graph_core.h"
#include "millrace/core/async/graph_node.h"
#include "millrace/core/async/graph_run.h"
#include "millrace/core/base/braced.h"

namespace millrace {

// Where a graph's edges begin: the value of an input or of a node. Belongs to the builder that made
// it, and to the graph built from it. T may be void: order alone. Thread-safety: immutable.
template <class T>
class Slot {
 public:
  Slot() = default;
  bool valid() const { return index_ != detail::kNoSlot; }
  std::uint32_t index() const { return index_; }

 private:
  friend class GraphBuilder;
  friend class GraphRun;
  Slot(std::uint32_t index, std::uint64_t builder) : index_(index), builder_(builder) {}
  std::uint32_t index_ = detail::kNoSlot;
  std::uint64_t builder_ = 0;
};

// Borrowed; both outlive the graph and its runs (GraphRun::settled).
struct GraphOptions {
  TimerQueue* timers = nullptr;  // needed by runs with a deadline
  GraphObserver* observer = nullptr;
};

// A built graph; copies share it. Thread-safety: immutable.
class Graph {
 public:
  // Starts a run with one future per input, in the order of the builder. Inline nodes whose inputs
  // are complete run before this returns. Inputs of the wrong number or type, or a deadline where
  // GraphOptions::timers was not set, fail every node with kInvalidArgument. The stop and the
  // deadline of options end the run (GraphRun::done).
  Ref<GraphRun> start(const ListOf<GraphInput>& inputs = {},
                      const CallOptions& options = {}) const {
    return GraphRun::start(core_, inputs, options);
  }

 private:
  friend class GraphBuilder;
  explicit Graph(Ref<detail::GraphCore> core) : core_(std::move(core)) {}
  Ref<detail::GraphCore> core_;
};

// The name of a slot, and the place in the program that names it. Made from any string in a call.
class SlotName {
 public:
  template <std::convertible_to<std::string> S>
  SlotName(S&& name,  // NOLINT(google-explicit-constructor)
           std::source_location where = std::source_location::current())
      : name_(std::forward<S>(name)), where_(where) {}
  const std::source_location& where() const { return where_; }
  std::string take() && { return std::move(name_); }

 private:
  std::string name_;
  std::source_location where_;
};

// Records a graph. build() reports the first mistake, with the place of the call that made it.
// Names identify nodes in errors and traces; an empty name is anonymous. Thread-safety: confined.
class GraphBuilder {
 public:
  GraphBuilder();
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  template <class A>
  Slot<A> input(SlotName name) {
    return Slot<A>(add_input(std::move(name), &detail::kSlotType<A>), id_);
  }

  // A node: once all inputs have values, f(const A&...) runs on executor; inline_executor() means
  // on the thread that completed the last input. f returns R, Result<R>, Future<R> or nothing, and
  // must be callable from several runs at once; an exception becomes kInternal. It may take
  // `const CallOptions&` before its values: the run's, for its own calls. References are
  // valid during the call. An error of f is named: "node 'forward': ...". A failed input skips the
  // node: its error is that of the first failed input, unchanged.
  template <class F, class... As>
  auto node(SlotName name, Executor& executor, F f, Slot<As>... inputs) {
    using Body = detail::NodeBody<F, detail::FixedInputs<As...>>;
    const std::initializer_list<detail::SlotIndex> slots = {
        check_slot(inputs.index_, inputs.builder_, name.where())...};
    auto* body = core_->bodies.make(Body{std::move(f), {{payload_of(inputs.index_)...}}});
    return finish_node<typename Body::R>(std::move(name), executor, body, &Body::run, slots);
  }

  // The same over a list of slots of one type: f(const SlotValues<A>&), or
  // f(const CallOptions&, const SlotValues<A>&).
  template <class A, class F>
  auto node_list(SlotName name, Executor& executor, F f, std::span<const Slot<A>> inputs) {
    using Body = detail::NodeBody<F, detail::ListInputs<A>>;
    std::vector<detail::SlotIndex> slots;
    std::vector<std::uint32_t> offsets;
    for (const Slot<A>& slot : inputs) {
      slots.push_back(check_slot(slot.index_, slot.builder_, name.where()));
      offsets.push_back(payload_of(slot.index_));
    }
    auto* body = core_->bodies.make(Body{std::move(f), {std::move(offsets)}});
    return finish_node<typename Body::R>(std::move(name), executor, body, &Body::run, slots);
  }

  // The slot's value becomes available as run->output(slot). A slot of a move-only type may be an
  // output only if no node uses it.
  template <class T>
  void output(Slot<T> slot, std::source_location where = std::source_location::current()) {
    add_output(check_slot(slot.index_, slot.builder_, where), where);
  }

  // kInvalidArgument: a slot of another builder, a name given twice, an output given twice. The
  // builder is used up.
  Result<Graph> build(const GraphOptions& options = {},
                      std::source_location where = std::source_location::current());

 private:
  template <class R>
  auto finish_node(SlotName name, Executor& executor, const void* body, detail::NodeFunction run,
                   std::span<const detail::SlotIndex> inputs) {
    using T = typename detail::Unwrapped<R>::type;
    detail::Node node;
    node.function = run;
    node.body = body;
    node.type = &detail::kSlotType<T>;
    node.executor = &executor == &inline_executor() ? nullptr : &executor;
    node.asynchronous = detail::kIsFuture<R>;
    return Slot<T>(add_node(std::move(name), node, inputs), id_);
  }

  detail::SlotIndex check_slot(detail::SlotIndex index, std::uint64_t builder,
                               const std::source_location& where);
  std::uint32_t payload_of(detail::SlotIndex index) const;
  detail::SlotIndex add_slot(SlotName name, const detail::Node& node);
  detail::SlotIndex add_input(SlotName name, const detail::SlotType* type);
  detail::SlotIndex add_node(SlotName name, const detail::Node& made,
                             std::span<const detail::SlotIndex> inputs);
  void add_output(detail::SlotIndex index, const std::source_location& where);
  void remember(std::string message, const std::source_location& where);

  void check_names();
  void connect();
  void check_outputs();

  std::uint64_t id_;
  Ref<detail::GraphCore> core_;
  std::vector<std::source_location> made_at_;     // by slot
  std::vector<std::source_location> outputs_at_;  // by output
  std::optional<Error> error_;
};

template <class R>
Future<R> GraphRun::output(const Slot<R>& slot) const {
  return Future<R>(Ref<Cell<R>>::share(static_cast<Cell<R>*>(&output_cell(slot.index_))));
}

}  // namespace millrace
