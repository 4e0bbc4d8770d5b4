#include "bench/figure.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace millrace::bench {
namespace {

using Measure = void (*)(Session&);

std::vector<Measure>& registered() {
  static std::vector<Measure> measures;
  return measures;
}

constexpr int kLeastRounds = 9;

const char* sign(Goal goal) { return goal == Goal::kAtMost ? "<=" : ">="; }

std::string format(const char* text, auto... values) {
  std::string out(512, '\0');
  const int size = std::snprintf(out.data(), out.size(), text, values...);
  out.resize(std::min<std::size_t>(out.size() - 1, static_cast<std::size_t>(std::max(size, 0))));
  return out;
}

// Those of the process, before anything was bound; at least one.
const std::vector<int>& allowed_cores() {
  static const std::vector<int> cores = [] {
    std::vector<int> found;
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &allowed)) found.push_back(i);
    }
    return found.empty() ? std::vector<int>{0} : found;
  }();
  return cores;
}

void bind(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : cores) CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

Measured latency_us(int calls, const std::function<void()>& call) {
  constexpr int kCallsForP99 = 1000;
  std::vector<double> times(static_cast<std::size_t>(calls));
  for (double& time : times) time = 1e6 * seconds_of(call);
  return {quantile(times, 0.5), calls < kCallsForP99 ? 0 : quantile(times, 0.99)};
}

Summary summarize(const Figure& figure, const std::vector<Round>& rounds) {
  const auto median = [&](auto part) {
    std::vector<double> values;
    for (const Round& round : rounds) values.push_back(part(round));
    return quantile(std::move(values), 0.5);
  };
  std::vector<double> ratios;
  for (const Round& round : rounds) ratios.push_back(round.ours.value / round.peer.value);
  Summary summary{.ours = {median([](const Round& r) { return r.ours.value; }),
                           median([](const Round& r) { return r.ours.p99; })},
                  .peer = {median([](const Round& r) { return r.peer.value; }),
                           median([](const Round& r) { return r.peer.p99; })},
                  .ratio = quantile(ratios, 0.5),
                  .lower_quartile = quantile(ratios, 0.25),
                  .upper_quartile = quantile(ratios, 0.75),
                  .rounds = rounds.size()};
  summary.met =
      figure.goal == Goal::kAtMost ? summary.ratio <= figure.limit : summary.ratio >= figure.limit;
  return summary;
}

std::string to_text(const Figure& figure, const Summary& s) {
  const auto p99 = [](const Measured& side) {
    return side.p99 > 0 ? format(" (p99 %.5g)", side.p99) : "";
  };
  return format(
      "%-30s %12.5g %s%s, %s: %.5g%s, ratio %.3f (quartiles %.3f to %.3f, %zu rounds), "
      "goal %s %g: %s",
      figure.name.c_str(), s.ours.value, figure.unit.c_str(), p99(s.ours).c_str(),
      figure.peer.c_str(), s.peer.value, p99(s.peer).c_str(), s.ratio, s.lower_quartile,
      s.upper_quartile, s.rounds, sign(figure.goal), figure.limit, s.met ? "met" : "MISSED");
}

std::string to_json(const Figure& figure, const Summary& s) {
  const auto p99 = [](const Measured& side) {
    return side.p99 > 0 ? format("%.6g", side.p99) : "null";
  };
  return format(
      "{\"figure\":\"%s\",\"unit\":\"%s\",\"ours\":%.6g,\"p99\":%s,\"peer\":\"%s\","
      "\"peer_value\":%.6g,\"peer_p99\":%s,\"ratio\":%.4f,\"goal\":%g,\"met\":%s,"
      "\"quartiles\":[%.4f,%.4f],\"rounds\":%zu,\"goal_is\":\"%s\"}",
      figure.name.c_str(), figure.unit.c_str(), s.ours.value, p99(s.ours).c_str(),
      figure.peer.c_str(), s.peer.value, p99(s.peer).c_str(), s.ratio, figure.limit,
      s.met ? "true" : "false", s.lower_quartile, s.upper_quartile, s.rounds, sign(figure.goal));
}

Session::Session(std::vector<std::string> names, bool json, int rounds)
    : names_(std::move(names)), json_(json), rounds_(std::max(rounds, kLeastRounds) | 1) {}

bool Session::wants(std::string_view name) const {
  return names_.empty() || std::ranges::any_of(names_, [&](const std::string& asked) {
           return name.starts_with(asked);
         });
}

void Session::measure(const Figure& figure, const std::function<Measured()>& ours,
                      const std::function<Measured()>& peer) {
  bool ours_first = false;
  measure(figure, [&] {
    Round round;
    ours_first = !ours_first;
    if (ours_first) round.ours = ours();
    round.peer = peer();
    if (!ours_first) round.ours = ours();
    return round;
  });
}

void Session::measure(const Figure& figure, const std::function<Round()>& round) {
  if (!wants(figure.name)) return;
  std::vector<Round> rounds;
  static_cast<void>(round());
  for (int i = 0; i < rounds_; ++i) rounds.push_back(round());
  report(figure, rounds);
}

void Session::report(const Figure& figure, const std::vector<Round>& rounds) {
  if (!wants(figure.name)) return;
  const Summary summary = summarize(figure, rounds);
  any_ = true;
  missed_ = missed_ || !summary.met;
  std::printf("%s\n", (json_ ? to_json(figure, summary) : to_text(figure, summary)).c_str());
  std::fflush(stdout);
}

void Session::skip(std::string_view name, std::string_view reason) {
  if (!wants(name)) return;
  any_ = true;
  const std::string n(name), r(reason);
  if (json_) {
    std::printf("{\"figure\":\"%s\",\"skipped\":\"%s\"}\n", n.c_str(), r.c_str());
  } else {
    std::printf("%-30s skipped: %s\n", n.c_str(), r.c_str());
  }
  std::fflush(stdout);
}

void Session::remark(const std::string& words) const {
  std::fprintf(json_ ? stderr : stdout, "%-30s %s\n", "", words.c_str());
}

int Session::exit_code() const { return !any_ ? 2 : missed_ ? 1 : 0; }

Registration::Registration(Measure measure) { registered().push_back(measure); }

int run_registered(Session& session) {
  for (Measure measure : registered()) measure(session);
  return session.exit_code();
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool agree(double ours, double peer, double tolerance) {
  return std::isfinite(ours) && std::isfinite(peer) &&
         std::fabs(ours - peer) <= tolerance * std::max(std::fabs(ours), std::fabs(peer));
}

void pin_to_core(int core) {
  bind({allowed_cores()[static_cast<std::size_t>(core) % allowed_cores().size()]});
}

void pin_to_cores(int count) {
  const auto& cores = allowed_cores();
  const auto used = std::min(cores.size(), static_cast<std::size_t>(count));
  bind({cores.begin(), cores.begin() + static_cast<std::ptrdiff_t>(used)});
}

void give_up(std::string_view what, std::string_view why) {
  std::fprintf(stderr, "bench: %.*s: %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(why.size()), why.data());
  std::exit(1);
}

}  // namespace millrace::bench
