// failure_rank: a rank of the jobs whose failures tools/failures looks at. It makes a runtime by
// its environment and then does its words in turn:
//   meet[:SECONDS]              the group of all, with a deadline
//   reduce:N[:BYTES[:SECONDS]]  N all_reduces, each with a deadline; 0: until one fails
//   split:C,C,...               a part of the group: the color of each rank
//   part:N                      N all_reduces in that part
//   mix:N:SEED                  N calls of each of two groups, in an order of this rank's own
//   busy:SECONDS                computes on all threads of the runtime, and on its own
//   sleep:SECONDS
//   memory                      the most that it has held, in KiB
//   die                         by SIGKILL
// It writes a line of JSON when it has begun a loop (`begun`) and after each word: how it went, and
// when. A word that fails does not end it; its exit code is 1 then.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/base/json_text.h"
#include "millrace/millrace.h"

namespace millrace {
namespace {

using collectives::CollectiveOptions;
using collectives::ProcessGroup;
using collectives::ReduceOp;
using Json = nlohmann::ordered_json;

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

TimePoint in_seconds(double seconds) {
  return steady_clock().now() +
         std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

std::vector<std::string> parts_of(const std::string& text, char by) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == by) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

class FailureRank {
 public:
  explicit FailureRank(const Runtime& runtime) : runtime_(runtime) {
    const char* const rank = std::getenv("RANK");
    rank_ = rank == nullptr ? 0 : std::atoi(rank);
  }

  // Whether all went well.
  bool run(const std::vector<std::string>& words) {
    bool all = true;
    for (const std::string& word : words) {
      const double begin = unix_seconds();
      word_ = word;
      Json line = {{"rank", rank_}, {"pid", ::getpid()}, {"did", word}};
      const Status done = run_word(parts_of(word, ':'));
      const double now = unix_seconds();
      line["ok"] = done.has_value();
      if (!done) line["code"] = to_string(done.error().code());
      if (!done) line["error"] = done.error().message();
      line["at"] = now;
      line["ms"] = (now - begin) * 1e3;
      if (memory_ > 0) line["memory"] = memory_;
      write(line);
      all = all && done;
    }
    return all;
  }

 private:
  static void write(const Json& line) {
    std::printf("%s\n", json_text(line).c_str());
    std::fflush(stdout);
  }
  void say_begun() const {
    write({{"rank", rank_}, {"pid", ::getpid()}, {"begun", word_}, {"at", unix_seconds()}});
  }
  // The n-th argument, or this.
  static double number(const std::vector<std::string>& word, std::size_t n, double otherwise) {
    return n < word.size() ? std::atof(word[n].c_str()) : otherwise;
  }

  Status run_word(const std::vector<std::string>& word) {
    const std::string& name = word[0];
    if (name == "meet") {
      MILLRACE_TRY(auto members, wait_blocking(runtime_.make_group(
                                     "world", {.deadline = in_seconds(number(word, 1, 60))})));
      world_ = members[0];
      return {};
    }
    if (name == "sleep") {
      ::poll(nullptr, 0, static_cast<int>(number(word, 1, 0) * 1000));
      return {};
    }
    if (name == "die") ::kill(::getpid(), SIGKILL);
    if (name == "busy") return busy(number(word, 1, 0));
    if (name == "memory") return read_memory();
    if (!world_) return fail(ErrorCode::kFailedPrecondition, "there is no group");
    if (name == "reduce") {
      const double seconds = number(word, 3, 0);
      return reduce(*world_, static_cast<int>(number(word, 1, 1)),
                    static_cast<std::size_t>(number(word, 2, 4096)), seconds);
    }
    if (name == "split") {
      const auto colors = parts_of(word.at(1), ',');
      const int color = std::atoi(colors.at(static_cast<std::size_t>(rank_)).c_str());
      MILLRACE_TRY(part_, wait_blocking(world_->split(color, rank_)));
      return {};
    }
    if (name == "part" && part_)
      return reduce(*part_, static_cast<int>(number(word, 1, 1)), 4096, 0);
    if (name == "mix")
      return mix(static_cast<int>(number(word, 1, 1)), static_cast<unsigned>(number(word, 2, 1)));
    return fail(ErrorCode::kInvalidArgument, "the word '" + name + "' cannot be done");
  }

  Future<devices::Buffers> begin_reduce(const ProcessGroup& group, std::size_t count,
                                        double seconds) {
    const Result<devices::Buffer> put = wait_blocking(
        group.device().put(std::vector<float>(count, 1.0F), {static_cast<std::int64_t>(count)}));
    if (!put) return put.error();
    CollectiveOptions options;
    if (seconds > 0) options.call.deadline = in_seconds(seconds);
    return group.all_reduce({*put}, ReduceOp::kSum, options);
  }
  static Status check_sum(const ProcessGroup& group, const Future<devices::Buffers>& sums) {
    MILLRACE_TRY(const devices::HostArray array, wait_blocking(fetch(group.device(), sums, 0)));
    const auto expected = static_cast<float>(group.size());
    for (const float one : array.as<float>()) {
      if (one != expected)
        return fail(ErrorCode::kDataLoss,
                    "a sum is " + std::to_string(one) + ", not " + std::to_string(expected));
    }
    return {};
  }
  Status reduce(const ProcessGroup& group, int count, std::size_t bytes, double seconds) {
    for (int i = 0; count == 0 || i < count; ++i) {
      const auto sums = begin_reduce(group, bytes / sizeof(float), seconds);
      MILLRACE_TRY_STATUS(check_sum(group, sums));
      if (i == 0 && count != 1) say_begun();
    }
    return {};
  }

  // Calls of two groups, those of each in their order, none awaited before all have begun.
  Status mix(int count, unsigned seed) {
    MILLRACE_TRY(auto others, wait_blocking(runtime_.make_group("other")));
    const ProcessGroup groups[] = {*world_, others[0]};
    std::mt19937 random(seed * 1000 + static_cast<unsigned>(rank_));
    std::vector<std::pair<int, Future<devices::Buffers>>> begun;
    int left[] = {count, count};
    while (left[0] + left[1] > 0) {
      int which = static_cast<int>(random() % 2);
      if (left[which] == 0) which = 1 - which;
      --left[which];
      begun.emplace_back(which, begin_reduce(groups[which], 1, 30));
    }
    for (const auto& [which, sums] : begun) MILLRACE_TRY_STATUS(check_sum(groups[which], sums));
    return {};
  }

  Status busy(double seconds) const {
    const TimePoint until = in_seconds(seconds);
    const auto spin = [until] {
      while (steady_clock().now() < until) {
      }
    };
    for (int i = 0; i < 64; ++i) post(runtime_.compute(), spin);
    spin();
    return {};
  }

  Status read_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) memory_ = std::atol(line.c_str() + 6);
    return {};
  }

  const Runtime& runtime_;
  int rank_ = 0;
  long memory_ = 0;
  std::string word_;
  std::optional<ProcessGroup> world_, part_;
};

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  using namespace millrace;
  auto runtime = Runtime::create(RuntimeOptions::from_env());
  if (!runtime) {
    std::fprintf(stderr, "%s\n", runtime.error().to_string().c_str());
    return 1;
  }
  const bool all = FailureRank(*runtime).run({argv + 1, argv + argc});
  return all ? 0 : 1;
}
