// Figures: what bench/ measures, each beside a peer or a limit of the machine in the same run. A
// round measures both, one right after the other, and gives one ratio; the figure is met when the
// median of the rounds' ratios meets its goal, so that a machine that is busy for a while spoils a
// round of both and not the figure. Every family of figures is a binary, bench_<family>, whose main
// is here; tools/bench builds and runs them. Read next: future.cc, the smallest family.
//
//   bench_future [NAME...] [--json] [--rounds N]     NAME: a figure, or what its name begins with
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::bench {

enum class Goal {
  kAtMost,   // ratio <= limit: times, sizes
  kAtLeast,  // ratio >= limit: rates
};

struct Figure {
  std::string name;  // family.what
  std::string unit;  // of ours and of the peer's value
  std::string peer;
  Goal goal = Goal::kAtMost;
  double limit = 1;  // of ours / peer
};

// What one side of a round gives, in the figure's unit: of calls that were timed one by one, their
// median and their 99th percentile.
struct Measured {
  Measured(double value, double p99 = 0)  // NOLINT(google-explicit-constructor)
      : value(value), p99(p99) {}
  double value;
  double p99;  // 0: none
};

struct Round {
  Measured ours = 0;
  Measured peer = 0;
};

struct Summary {
  Measured ours = 0;  // medians of the rounds
  Measured peer = 0;
  double ratio = 0;                               // the median of the rounds' ratios
  double lower_quartile = 0, upper_quartile = 0;  // of the ratios
  std::size_t rounds = 0;
  bool met = false;
};

// The value below which a share q of the values lies: of an odd number, the one in the middle for
// 0.5. values is not empty.
double quantile(std::vector<double> values, double q);
// Microseconds of so many calls, each timed; few have no 99th percentile.
Measured latency_us(int calls, const std::function<void()>& call);
// rounds is not empty.
Summary summarize(const Figure& figure, const std::vector<Round>& rounds);
// One line; with the quartiles and the goal.
std::string to_text(const Figure& figure, const Summary& summary);
// One object with the fields of tools/bench --json and, for its table, quartiles, rounds and the
// kind of goal. p99 and peer_p99 are null where there is none.
std::string to_json(const Figure& figure, const Summary& summary);

// What a run of a binary measures and has found. Thread-safety: confined.
class Session {
 public:
  // Rounds: an odd number, at least nine.
  Session(std::vector<std::string> names, bool json, int rounds);

  // Whether the figure was asked for: by nothing in particular, by its name, or by its beginning.
  bool wants(std::string_view name) const;
  // Measures one round to warm up, then the rounds; ours goes first in every other one. Nothing if
  // the figure was not asked for.
  void measure(const Figure& figure, const std::function<Measured()>& ours,
               const std::function<Measured()>& peer);
  // For figures whose two values come out of one measurement.
  void measure(const Figure& figure, const std::function<Round()>& round);
  // For figures whose rounds came out of one measurement, or which take too long for several
  // rounds. Nothing if the figure was not asked for. rounds is not empty.
  void report(const Figure& figure, const std::vector<Round>& rounds);
  // There is no peer here, or nothing to measure; reason says what would help.
  void skip(std::string_view name, std::string_view reason);
  // More about a figure that has no goal of its own, in words, for a person.
  void remark(const std::string& words) const;

  int rounds() const { return rounds_; }
  // 0: every figure that was measured is met; 1: one is not; 2: no figure has such a name.
  int exit_code() const;

 private:
  const std::vector<std::string> names_;
  const bool json_;
  const int rounds_;
  bool any_ = false;
  bool missed_ = false;
};

// A static object per family file, which main runs: const Registration registration(&measure).
class Registration {
 public:
  explicit Registration(void (*measure)(Session&));
};

// What main does with them; the exit code.
int run_registered(Session& session);

double seconds_of(const std::function<void()>& work);

// Whether two sides that did the same work got the same number but for roundings: by so much of
// the larger one. NaN and infinities agree with nothing.
bool agree(double ours, double peer, double tolerance);

// Binds the calling thread to one of the cores that the process may use, counted from 0; threads
// that it makes later are bound so too. A wake-up on the same core costs a tenth of one on another:
// a figure that wakes a thread says on which core.
void pin_to_core(int core);
// The same, to the first of them.
void pin_to_cores(int count);

// Why a program that a figure needs could not do its part: written to stderr, and the run ends
// with 1.
[[noreturn]] void give_up(std::string_view what, std::string_view why);

}  // namespace millrace::bench
