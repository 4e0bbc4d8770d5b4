// ProgramMail: what programs that span processes give each other, on its way and where it has come.
// It has the links of a process, their launches, and the other processes; ProgramLinks and what it
// gives out call it. Read next: program_frames.h, what goes over the mesh; message_line.h.
//
//  - PL-1 the messages of a process at an edge of a launch are taken in the order of their give()
//    calls, each once. They wait where they are given until the other process says that the link is
//    open there, and where they came until they are taken. So no link of the mesh is held up.
//  - PL-2 at most kMostUnderWay launches of a program are under way in a process, and none begins
//    kMostAhead launches before another process is done with what it got, so what waits is bounded.
//  - PL-3 an error that ends a launch in one process ends it in the others that are not done with
//    it, also if it ends before it begins there, and names the process in which it arose. Each of
//    them says it to the others, too, before it says that the launch is over. Nothing of a launch
//    outlives it.
//  - PL-4 what needs a process that is lost, has left, has released the program, or has ended the
//    launch fails by its name, once what had come from it is taken. A process that is not there yet
//    is waited for: each process says to all others what it opens, and again where the mesh had no
//    link in time. The answer to what has been released is that it is gone.
//  - PL-5 each await is woken once, and no lock is held then.
//  - PL-6 close() ends every launch. What was given before goes where the link is open by then; the
//    rest is dropped. Once drained() is complete no sink is called.
//  - PL-7 a frame that has no place ends the link of the mesh that it came by; so does one about a
//    link that is not open here, and was not. Memory grows with the bytes that have come, never
//    with a number that a frame claims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/collectives/message_line.h"
#include "millrace/collectives/program_frames.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/net/later.h"
#include "millrace/core/net/mesh.h"

namespace millrace::collectives {

// States: open -> closed. The calls are those of devices::CollectiveBackend, of its links and of
// its launches. Kept by what the mesh may call. Thread-safety: thread-safe.
class ProgramMail final : public RefCounted {
 public:
  static constexpr std::uint64_t kMostUnderWay = 2;
  static constexpr std::uint64_t kMostAhead = 4;
  static constexpr std::uint64_t kReportEvery = 2;  // launches, of what is over here
  static constexpr std::size_t kWindow = 8;         // frames to a process that the mesh has

  // mesh: its max_payload is kLeastPayload or more, CHECKed.
  static Ref<ProgramMail> make(Ref<net::Mesh> mesh, std::uint32_t epoch,
                               std::vector<std::uint32_t> ranks);

  int processes() const { return static_cast<int>(ranks_.size()); }
  int process() const { return self_; }
  Result<std::uint64_t> open(std::string name, std::string_view digest);
  // No launch of it is left.
  void release_link(std::uint64_t link);
  void close(const Error& why);
  Future<void> drained() const { return drained_; }

  // The launch has not ended: CHECKed, but for interrupt() and waits_for().
  LaunchId next(std::uint64_t link);
  Result<bool> begin(const LaunchId& id);
  Status give(const LaunchId& id, int edge, int to, std::span<const std::byte> bytes);
  Result<bool> take(const LaunchId& id, int edge, int from, std::span<std::byte> bytes);
  void await(const LaunchId& id, std::function<void()> wake);
  void interrupt(const LaunchId& id);
  std::string waits_for(const LaunchId& id) const;
  void end(const LaunchId& id, const Status& status);

 private:
  using Source = std::pair<int, int>;  // edge, from
  using Frames = PooledDeque<net::Frame>;
  struct Failure {
    int from = 0;
    Error error;
  };
  // It may be here before it is made.
  struct Launch {
    bool begun = false;
    std::optional<Failure> failed = {};  // in another process
    std::map<Source, MessageLine> came = {};
    // Since begin() or take() said false.
    std::vector<Source> wanted = {};
    bool wants_begin = false;
    std::optional<int> waits_for = {};  // the process, if the last of these calls said false
    bool reason = false;                // to ask again
    std::function<void()> wake = {};
  };
  using Launches = std::map<std::uint64_t, Launch>;
  // Another process that uses a link.
  struct User {
    bool open = false;                   // there, too
    bool used = false;                   // something was given to it, or came from it
    Frames waiting = {};                 // until it is open there
    std::set<std::uint64_t> given = {};  // launches of which it got something and is not done with
    std::uint64_t over = 0;              // all below are over there, as far as is known
    std::optional<std::uint64_t> gone = {};  // it has released the link after so many launches
    std::uint64_t reported = 0;              // it knows that all below are over here
  };
  // It may be here before it is opened: another process has opened it.
  struct Link {
    std::string name = {};
    bool open = false;
    std::uint64_t next = 0;
    std::uint64_t over = 0;                   // all launches below are over here
    std::set<std::uint64_t> over_early = {};  // these, too
    Launches launches = {};
    std::map<int, User> users = {};  // by process
  };
  // A link that is open no more. What comes of it is dropped.
  struct Released {
    std::uint64_t launches = 0;  // that it had
    std::map<int, Frames> waiting = {};
  };
  // Another process.
  struct Peer {
    std::optional<Error> end = {};  // why it gives and takes nothing more
    Frames line = {};
    std::size_t in_flight = 0;
    bool busy = false;   // a thread gives the mesh the first of the line
    bool heard = false;  // a frame came from it; until then kOpen and kLeft alone go to it
    bool left = false;   // kLeft is for it, or went
  };

  ProgramMail(Ref<net::Mesh> mesh, std::uint32_t epoch, std::vector<std::uint32_t> ranks);
  ~ProgramMail() override;
  Ref<ProgramMail> self_ref() { return Ref<ProgramMail>::share(this); }

  // program_mail.cc: what this process does.
  Launch& launch_of(const LaunchId& id) MILLRACE_REQUIRES(mutex_);
  std::string named(int process) const;
  std::optional<Error> ended(const LaunchId& id, const Launch& launch) MILLRACE_REQUIRES(mutex_);
  std::optional<Error> without(const LaunchId& id, int process) MILLRACE_REQUIRES(mutex_);
  std::optional<Error> missed(const LaunchId& id, const Source& source) MILLRACE_REQUIRES(mutex_);
  int held_up_by(const Link& link, std::uint64_t number) const MILLRACE_REQUIRES(mutex_);
  void note(Launch& launch, net::Later& later) MILLRACE_REQUIRES(mutex_);
  void note_takers(Link& link, int from, std::uint64_t below, net::Later& later)
      MILLRACE_REQUIRES(mutex_);
  void note_begins(Link& link, net::Later& later) MILLRACE_REQUIRES(mutex_);
  void send_end(Link& link, const LaunchId& id, const Failure& failure, net::Later& later)
      MILLRACE_REQUIRES(mutex_);

  // program_mail_links.cc: which links are open, here and there.
  void watch();
  void hear_open(int from, std::uint64_t id, net::Later& later) MILLRACE_REQUIRES(mutex_);
  // A frame about the link.
  void say(Link& link, int to, net::Frame frame, net::Later& later) MILLRACE_REQUIRES(mutex_);

  // program_mail_out.cc: how frames go, and the end.
  void queue(int to, net::Frame frame, net::Later& later) MILLRACE_REQUIRES(mutex_);
  void queue_all(int to, Frames frames, net::Later& later) MILLRACE_REQUIRES(mutex_);
  void pump(int to);
  // opened: the link of the frame, if the process had not been heard from.
  void take_sent(int to, std::optional<std::uint64_t> opened, const Result<void>& sent);
  void say_left(int to, net::Later& later) MILLRACE_REQUIRES(mutex_);
  void end_peer(int process, const Error& error);
  void end_peer(int process, const Error& error, net::Later& later) MILLRACE_REQUIRES(mutex_);
  void check_drained(net::Later& later) MILLRACE_REQUIRES(mutex_);

  // program_mail_in.cc: what comes.
  Status hear(std::uint32_t rank, net::Frame frame);
  Status hear_data(int from, ProgramSaying saying, net::Later& later) MILLRACE_REQUIRES(mutex_);
  Status hear_end(int from, const ProgramSaying& saying, net::Later& later)
      MILLRACE_REQUIRES(mutex_);
  void hear_news(int from, const ProgramSaying& saying, net::Later& later)
      MILLRACE_REQUIRES(mutex_);
  bool waits_here(int from, const LaunchId& id, net::Later& later) MILLRACE_REQUIRES(mutex_);
  void report_over(std::uint64_t id, Link& link, int to, net::Later& later)
      MILLRACE_REQUIRES(mutex_);

  const Ref<net::Mesh> mesh_;
  const std::vector<std::uint32_t> ranks_;  // by process
  const int self_;
  const std::uint32_t epoch_;  // the channel of its frames, too

  mutable Mutex mutex_;
  std::vector<Peer> peers_ MILLRACE_GUARDED_BY(mutex_);  // by process
  std::map<std::uint64_t, Link> links_ MILLRACE_GUARDED_BY(mutex_);
  std::map<std::uint64_t, Released> released_ MILLRACE_GUARDED_BY(mutex_);
  // How many links of a digest were opened.
  std::map<std::string, std::uint64_t, std::less<>> opened_ MILLRACE_GUARDED_BY(mutex_);
  bool watched_ MILLRACE_GUARDED_BY(mutex_) = false;
  std::optional<Error> closed_ MILLRACE_GUARDED_BY(mutex_);
  std::optional<Promise<void>> drain_ MILLRACE_GUARDED_BY(mutex_);
  Future<void> drained_;
};

}  // namespace millrace::collectives
