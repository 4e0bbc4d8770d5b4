// LoopBase and WatchBase: what the loops over libuv and over libevent have in common. Work that
// other threads post, and the next deadline as a descriptor (both libraries' own timers are too
// coarse for a loader's reads). Internal to event_loop_*.cc.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/base/short_wait.h"
#include "millrace/core/loop/event_loop.h"
#include "millrace/core/loop/loop_seat.h"

namespace millrace {

// "making an event loop: " why. kResourceExhausted.
std::unexpected<Error> no_loop(const std::string& why);
// That so many descriptors may be opened: for libraries that end the process where they may not.
Status check_descriptors_left(int count);

// A timerfd that becomes readable when a deadline comes. Thread-safety: confined.
class DeadlineFd {
 public:
  // Below 0 if the process has no descriptors left.
  DeadlineFd();

  int descriptor() const { return descriptor_.get(); }
  // From now on by the clock, whatever clock that is; a deadline that has come wakes at once.
  void arm(std::optional<TimePoint> deadline, const Clock& clock);
  // It was readable, and is not any more.
  void consume();

 private:
  const Descriptor descriptor_;
  std::optional<TimePoint> armed_for_;
};

// A loop without its library. Thread-safety: as EventLoop.
class LoopBase : public EventLoop {
 public:
  void submit(Work* work) noexcept final;
  bool run_some() noexcept final;
  void run() final;
  bool poll() final;
  void stop() final;
  TimerQueue& timers() final { return timers_; }
  void add(MemoryWatch& watch) final { memory_.push_back(&watch); }
  void remove(MemoryWatch& watch) final { std::erase(memory_, &watch); }
  void close() final;
  // The library's part goes, the rest stays and refuses.
  static void operator delete(LoopBase* loop, std::destroying_delete_t);
  // For one that was not made.
  static void operator delete(void* memory) { ::operator delete(memory); }

 protected:
  explicit LoopBase(const Clock& clock);

  // One turn of the library's loop. wait: until something is ready.
  virtual void turn(bool wait) = 0;
  // Has the library's loop call drain() soon. Any thread, while the library's part is there.
  virtual void signal() noexcept = 0;
  // The loop is deleted: gives everything of the library back.
  virtual void release() noexcept = 0;

  // Runs what was posted, up to a limit, so that descriptors and timers get their turn.
  void drain();
  bool run_posted();
  // Becomes readable at the next deadline. That only wakes: what is due runs before the next wait.
  DeadlineFd& deadline() { return *deadline_; }
  void on_deadline();

 private:
  friend class WatchBase;  // counts what it finds
  enum class Awake : std::uint8_t {
    kNo,       // a wake-up is needed to be heard -> kYes, kLooking
    kLooking,  // it is not: the thread looks for kYes -> kYes, kNo
    kYes,      // something was posted, or is to change -> kNo, kLooking
  };

  // Lets other threads run the loop (run_some) until it looks again.
  template <class Done>
  bool wait_offering(const Done& done);
  Work* take();
  bool empty();
  void wake();
  // Runs what is due, and sets the next deadline; looks for what comes soon.
  void before_wait();
  void run_timers();
  bool look_until_idle();
  bool look();
  bool memory_ready() const;
  bool descriptors_ready();
  void act_on_memory();

  const Clock& clock_;
  TimerQueue timers_;
  std::optional<DeadlineFd> deadline_{std::in_place};  // until the loop is deleted
  Mutex mutex_;
  // A list under a mutex, not moodycamel's queue: that one keeps the order of one producer's posts
  // only, and posts of two threads, one of which happens before the other, must keep theirs too.
  WorkQueue posted_ MILLRACE_GUARDED_BY(mutex_);
  bool closed_ MILLRACE_GUARDED_BY(mutex_) = false;
  std::atomic<Awake> awake_{Awake::kNo};
  std::atomic<bool> stopping_{false};
  // Wake-ups of other threads that are under way: what they use is there until the last is over.
  std::atomic<int> waking_{0};
  std::atomic<bool> deleted_{false};
  std::size_t ran_ = 0;  // since poll() began, or the last look at descriptors
  bool waits_ = false;   // in run()
  // By the thread that runs the loop, which looks for it before it waits: that needs no wake-up.
  bool posted_here_ = false;
  std::vector<MemoryWatch*> memory_;
  ShortWait short_wait_;
  LoopSeat seat_;  // its holder touches what is confined to the loop's thread
  const unsigned made_in_ = detail::fork_generation();  // the process whose loop it is
  bool ran_elsewhere_ = false;  // run_some() ran something since the loop's thread looked
};

// A watch without its library: one wait at a time. The library goes on watching between the waits,
// as long as each comes before the next thing to find: to begin and to end take system calls.
// Thread-safety: as DescriptorWatch.
class WatchBase : public DescriptorWatch {
 public:
  explicit WatchBase(LoopBase& loop) : loop_(loop) {}
  ~WatchBase() override;
  Future<unsigned> wait(unsigned wanted) final;

 protected:
  // Has the library call found() from now on, for these instead of what it watches for.
  virtual Status begin(unsigned wanted) = 0;
  // Has it call that no more.
  virtual void end() noexcept = 0;
  // Completes the wait with what of it was wanted: that may wait again, or destroy the watch.
  // over: the library has ended by itself.
  void found(unsigned readiness, bool over = false);

 private:
  LoopBase& loop_;
  unsigned watched_ = 0;  // what the library watches for
  std::optional<Promise<unsigned>> waiting_;
};

}  // namespace millrace
