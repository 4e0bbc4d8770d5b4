// What a process does of a job that processes.cc launches: bench_processes --part rank WORDS. Rank
// 0 prints the median of its calls in microseconds.
//   all_reduce BYTES RUNS, barrier RUNS, cast RUNS, ask RUNS
//   meet   starts, meets the others, ends
//   die    rank 1 kills itself while rank 0 waits for it; both print the time, in Unix seconds
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/answerer.h"
#include "bench/child.h"
#include "bench/figure.h"
#include "millrace/collectives/process_group.h"
#include "millrace/millrace.h"

namespace millrace::bench {
namespace {

template <class T>
T need(Result<T> result) {
  if (!result) give_up("a rank", result.error().to_string());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// A process of the job: its group, and its actors where it has some. Thread-safety: confined.
class Member {
 public:
  Member() : runtime_(need(Runtime::create(options()))) {
    group_.push_back(need(wait_blocking(runtime_.make_group("bench")))[0]);
  }
  ~Member() {
    if (serves_) barrier();  // others may still ask
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  const collectives::ProcessGroup& group() const { return group_[0]; }
  int rank() const { return index(group().rank()); }
  void barrier() { need(wait_blocking(group().barrier())); }
  // The answerers of all ranks are there when it returns.
  actors::RemoteActors& serve() {
    serves_ = true;
    runtime_.remote_actors()->serve<Answerer>();
    need(runtime_.actors().spawn<Answerer>("answerer", {.inline_when_idle = true}));
    barrier();
    return *runtime_.remote_actors();
  }

 private:
  static Result<RuntimeOptions> options() {
    auto options = RuntimeOptions::from_env();
    if (options) options->devices = 1;
    return options;
  }
  Runtime runtime_;
  std::vector<collectives::ProcessGroup> group_;
  bool serves_ = false;
};

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The first call makes the links.
void report(const Member& member, int runs, const std::function<void()>& call) {
  call();
  const double us = latency_us(runs, call).value;
  if (member.rank() == 0) std::printf("%.9g\n", us);
}

void die(Member& member) {
  member.barrier();
  if (member.rank() == 1) {
    std::printf("ends %.9f\n", unix_seconds());
    std::fflush(stdout);
    static_cast<void>(std::raise(SIGKILL));
  }
  if (wait_blocking(member.group().barrier())) give_up("a barrier without a rank", "it met");
  std::printf("heard %.9f\n", unix_seconds());
}

int rank_part(const std::string& text) {
  std::istringstream words(text);
  std::string what;
  std::size_t bytes = 0;
  int runs = 0;
  words >> what;
  if (what == "all_reduce") words >> bytes;
  words >> runs;
  Member member;
  if (what == "all_reduce") {
    const auto count = bytes / sizeof(float);
    const devices::Buffer mine = need(wait_blocking(member.group().device().put(
        std::vector<float>(count, 1.0F), {static_cast<std::int64_t>(count)})));
    report(member, runs, [&] {
      need(wait_blocking(member.group().all_reduce({mine}, collectives::ReduceOp::kSum)));
    });
  } else if (what == "barrier") {
    report(member, runs, [&] { member.barrier(); });
  } else if (what == "cast") {
    actors::RemoteActors& remote = member.serve();
    if (member.rank() == 0) {
      report(member, runs,
             [&] { need(wait_blocking(remote.cast<Answerer>("answerer", Question{1}))); });
    }
  } else if (what == "ask") {
    actors::RemoteActors& remote = member.serve();
    if (member.rank() == 0) {
      const auto answerer = need(wait_blocking(remote.find<Answerer>(1, "answerer")));
      report(member, runs, [&] { need(wait_blocking(answerer.ask(Question{7}))); });
    }
  } else if (what == "die") {
    die(member);
  } else {
    member.barrier();
  }
  return 0;
}
const Part part("rank", &rank_part);

}  // namespace
}  // namespace millrace::bench
