// ActorCell: all of one actor but its own state: queue, bound, life, and the monitors of its end.
// ActorRef is the typed handle on it. Read next: send.cc (how messages get in), run_slice.cc (the
// loop that runs it), life.cc (its states).
//
//  - AC-1 handlers, hooks and turns run in slices; one slice at a time, on any thread.
//  - AC-2 an ask completes once: with the answer, or with an error as soon as no answer can come;
//    once the actor that holds its reply has failed, none can (reply_tracker.h).
//  - AC-3 from kStopping on no message is handled; what is queued or arrives is rejected.
//  - AC-4 Down completes after the Actor object is gone (a lost executor leaves handlers).
#pragma once

#include <atomic>
#include <memory>
#include <typeinfo>

#include "millrace/actors/actor.h"
#include "millrace/actors/admission.h"
#include "millrace/actors/mailbox.h"
#include "millrace/core/async/call_options.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/base/function_ref.h"
#include "millrace/core/base/ref.h"

namespace millrace::actors {

class InFlight;
class Registry;
class ReplyList;

enum class StopMode : std::uint8_t {
  kNow,    // the running handlers end, what is queued is rejected
  kDrain,  // what was accepted is handled first
};

struct ActorOptions {
  // The bound of the queue, in bytes; a sender beyond it waits.
  std::size_t mailbox_bytes = std::size_t{1} << 20;
  // The bound outside; more is refused. Only senders that do not await their tells reach it.
  std::size_t waiting_bytes = std::size_t{16} << 20;
  Executor* executor = nullptr;  // default: the compute executor of the environment
  // An idle actor runs on the thread that wakes it, in the call that does so: no wake-up. For
  // actors whose turns are short; a loop's thread runs them, too.
  bool inline_when_idle = false;
};

// One row of ActorSystem::snapshot.
struct ActorSnapshot {
  struct Handling {
    std::string message = {};  // type name; empty: nothing
    Duration age{};
    TimePoint since{};
  };
  ActorId id = 0;
  std::string name = {};
  ActorState state = ActorState::kStarting;
  Handling handler = {};           // that runs, or holds the actor
  Handling oldest_in_flight = {};  // of those that answer later
  std::size_t in_flight = 0;
  std::size_t messages = 0;  // accepted and not done
  std::size_t bytes = 0;
  std::size_t waiting_bytes = 0;  // of senders that wait
};

// What all actors of a system share. environment stays valid after the system is destroyed, the
// rest does not; an actor of no system has neither system nor registry.
struct ActorHome final : RefCounted {
  Environment environment;
  ActorSystem* system = nullptr;
  Registry* registry = nullptr;
  int slice_messages = 64;
};

// Owned by references: the registry's until the actor has stopped, every ActorRef's, every
// message's in flight. Thread-safety: as the sections say.
class ActorCell final : public RefCounted, public Pooled, public Work, public Executor {
 public:
  ActorCell(Ref<ActorHome> home, ActorId id, std::string name, const std::type_info& type,
            const ActorOptions& options, Scope::Hold hold);

  // --- any thread ---
  ActorId id() const { return id_; }
  const std::string& name() const { return name_; }
  const std::type_info& type() const { return type_; }
  ActorState state() const { return state_.load(); }
  // It ends or has ended: no message is accepted any more.
  bool refuses() const { return admission_.closed(); }
  const ActorHome& home() const { return *home_; }
  // Completes when the message is accepted. Errors: kUnavailable (gone), kResourceExhausted
  // (waiting_bytes), and those of options. Takes the envelope.
  Future<void> send(Envelope* envelope, const CallOptions& options);
  // kResourceExhausted if it does not fit. Takes the envelope.
  Status try_send(Envelope* envelope);
  // Errors reach the ask's own future, through reject.
  void send_ask(Envelope* envelope);
  // A message of the system itself: needs no room. Takes the envelope; a gone actor drops it.
  void send_notice(Envelope* envelope);
  // A message that may wait for room was withdrawn: it releases its place and what it holds.
  void withdraw() { admission_.withdraw(); }
  // A turn of the actor: urgent, not bounded. Dropped once the actor has stopped.
  void submit(Work* work) noexcept override { submit_turn(work, inline_when_idle_); }
  // A turn on this thread, within this call, if the actor is idle and may run here
  // (inline_when_idle); it costs no queue entry. False: nothing has happened. The caller holds the
  // cell, or what turn leaves does.
  bool try_turn(FunctionRef<void()> turn) noexcept;
  // As submit(), never on this thread within this call.
  void submit_elsewhere(Work* work) noexcept { submit_turn(work, false); }
  // In a turn: work that this thread runs once the actor has been left, outside of every turn.
  static void after_turn(Work* work);
  void stop(Exit exit, StopMode mode);
  Future<Down> down();
  ActorSnapshot snapshot() const;
  // The error for a caller whose deadline came: it names what the actor was doing.
  Error deadline_error(const MessageType& type) const;
  std::stop_token stop_token();
  // The age of the handler or hook that runs, or of the oldest one in flight: the longer. Cheap.
  Duration longest_handling(TimePoint now) const;
  // The replies that this actor holds.
  Ref<ReplyList> replies();

  // --- the maker ---
  // Makes the actor; if its constructor throws, the cell is given up and this gives kInternal.
  Status construct(FunctionRef<std::unique_ptr<Actor>()> make);
  void start() { wake(inline_when_idle_); }

  // --- the slice ---
  void run() noexcept override;
  void drop() noexcept override;
  void request_exit(Exit exit, StopMode mode);
  void begin_in_flight(InFlight& handler, bool concurrent);
  void end_in_flight(InFlight& handler);

 private:
  friend class Registry;
  using Verdict = Admission::Verdict;
  enum class Step : std::uint8_t {
    kAgain,    // something was done, or has come
    kNothing,  // of life(): nothing to change
    kAsleep,   // the ownership was given up: another thread may run the actor already
  };
  // What has not ended and lets messages wait.
  enum class Hold : std::uint8_t { kNone, kHandler, kHook };
  enum class Hook : std::uint8_t { kStart, kStop };
  struct Ending {
    Ending(Exit given_exit, Error given_refusal)
        : exit(std::move(given_exit)), refusal(std::move(given_refusal)) {}
    Exit exit;
    const Error refusal;  // what senders get
  };
  // The handler that runs, for other threads. A reader that loads the type first finds its time.
  struct Mark {
    void set(const MessageType& handled, Duration::rep time) {
      since.store(time, std::memory_order_relaxed);  // published by type
      type.store(&handled, std::memory_order_release);
    }
    ActorSnapshot::Handling read(TimePoint now) const;
    void clear() { type.store(nullptr, std::memory_order_relaxed); }  // nothing follows from it
    std::atomic<const MessageType*> type{nullptr};
    std::atomic<Duration::rep> since{0};
  };

  ~ActorCell() override;
  // actor_cell.cc
  void submit_turn(Work* work, bool here) noexcept;
  void wake(bool here);
  // send.cc
  void settle(Envelope* envelope, Verdict verdict);
  void push(Envelope* envelope);
  void refuse(Envelope* envelope, const Error& error);
  // Why a message that is kFull or kClosed does not get in.
  Error refusal(Verdict verdict, const MessageType& type) const;
  // run_slice.cc
  void run_slice(WorkQueue& after);
  Step step();
  void handle(Envelope* envelope);
  void finish_message(Envelope* envelope);
  void release_room();
  void admit_waiting();
  Duration::rep now_count() const;
  void run_hook(Hook hook);
  void update_in_flight_mark();
  // life.cc
  Step life();
  void enter(ActorState next);
  void hook_ended(Hook hook, Status status);
  void begin_stopping();
  void reject_message(Envelope* envelope);
  void reject_in_flight();
  void drop_replies();
  void give_up(Exit exit);
  void finish();

  // In this order what senders write (the words of the bound and of the queue) and what the slice
  // writes lie in different cache lines: cells are aligned to one, and the bases take 48 bytes.
  Admission admission_;
  const ActorId id_;
  const std::type_info& type_;
  const Ref<ActorHome> home_;
  Mailbox mailbox_;
  Mark handler_mark_;
  Executor& executor_;
  const bool inline_when_idle_;
  const std::string name_;
  Mark in_flight_mark_;
  std::atomic<std::uint32_t> in_flight_count_{0};
  std::atomic<ActorState> state_{ActorState::kStarting};
  // The rest belongs to the slice, except ending_'s refusal, which closing the admission publishes.
  Hold hold_ = Hold::kNone;
  bool started_ = false;         // on_start succeeded and on_stop has not begun
  bool message_is_due_ = false;  // urgent entries had their turn
  InFlight* oldest_in_flight_ = nullptr;
  InFlight* newest_in_flight_ = nullptr;
  std::unique_ptr<Actor> actor_;
  std::unique_ptr<Ending> ending_;
  Scope::Hold system_hold_;
  std::atomic<Cell<Down>*> down_{nullptr};        // made when first asked for; one reference
  std::atomic<ReplyList*> replies_{nullptr};      // the same
  std::atomic<std::stop_source*> stop_{nullptr};  // made when first asked for
  ActorCell* older_ = nullptr;                    // the registry's, in order of creation
  ActorCell* newer_ = nullptr;
  ActorCell* next_in_bucket_ = nullptr;  // the registry's, by name
};

// A handler that answers later, from its first return until its future completes. The envelope
// itself waits on that future and then becomes the urgent entry for the actor, so it costs nothing
// extra. In the list of its cell while in flight. Thread-safety: external, like every
// envelope; on_complete hands the answer over on the completing thread and then only pushes itself.
class InFlight : public Envelope, public Waiter {
 public:
  using Envelope::Envelope;

  void on_complete(AsyncValue& value) noexcept final {
    answer(value);
    const Ref<ActorCell> cell = cell_;  // the slice may destroy this as soon as it is pushed
    cell->submit(this);
  }
  void run() noexcept final { cell_->end_in_flight(*this); }

 private:
  friend class ActorCell;
  Ref<ActorCell> cell_;
  InFlight* older_ = nullptr;
  InFlight* newer_ = nullptr;
  Duration::rep since_ = 0;
};

// Runs f as a turn of the actor at the deadline, by a timer of its environment.
template <class F>
TimerQueue::Id run_at(ActorCell& cell, TimePoint deadline, F f) {
  return cell.home().environment.timers->schedule(
      deadline, [kept = Ref<ActorCell>::share(&cell), f = std::move(f)]() mutable {
        post(*kept, std::move(f));
      });
}

// What this thread runs: for replies, which name their dropper and follow their message.
struct CurrentActor {
  ActorCell* cell = nullptr;    // whose slice runs; nullptr outside of slices
  const Error* gone = nullptr;  // set while what a gone actor held is destroyed: why it is gone
  ActorCell* under_construction = nullptr;  // for the constructor of Actor
  ActorCell* recipient = nullptr;           // for whom a message is being made
  WorkQueue* after = nullptr;               // of the slice: what runs once the actor is left
};
CurrentActor& current_actor();
// Where that lies: a slice puts its own here while it runs; nullptr outside of slices.
CurrentActor*& current_actor_slot();

// While a message is moved into its envelope.
class Recipient {
 public:
  explicit Recipient(ActorCell& cell) : before_(std::exchange(current_actor().recipient, &cell)) {}
  ~Recipient() { current_actor().recipient = before_; }
  Recipient(const Recipient&) = delete;
  Recipient& operator=(const Recipient&) = delete;

 private:
  ActorCell* const before_;
};

}  // namespace millrace::actors
