#include "bench/serve_job.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <stop_token>

#include "bench/figure.h"
#include "millrace/core/base/cores.h"
#include "millrace/tools/load/load_run.h"

namespace millrace::bench {
namespace {

// What is accepted and waits has a connection each, and those that are refused need some, too.
constexpr int kOpenConnections = 256;

// A server does not see that a bench has given up: what still runs at its end is killed.
struct RunningServers {
  std::set<pid_t> pids;
  ~RunningServers() {
    for (const pid_t pid : pids) ::kill(pid, SIGKILL);
  }
};
RunningServers running;

Words with_errors(const Words& command, const std::string& errors) {
  if (errors.empty()) return command;
  return Words{"sh", "-c", R"(errors=$1; shift; exec "$@" 2> "$errors")", "sh", errors} + command;
}

Seen load(load::LoadSetting setting, int port, const std::string& model, double seconds) {
  setting.target = {.host = "127.0.0.1", .port = port, .model = model};
  setting.plan.length =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  const Result<load::LoadReport> report = load::run_load(setting, std::stop_token());
  if (!report) give_up("the load on " + model, report.error().to_string());
  if (report->errors() > 0 || report->answered() == 0) {
    give_up("the load on " + model, std::to_string(report->errors()) + " requests failed, " +
                                        std::to_string(report->answered()) + " were answered");
  }
  const auto ms = [&](double q) {
    return std::chrono::duration<double, std::milli>(report->latencies().quantile(q)).count();
  };
  return {.per_second = report->answered_per_second(), .p50_ms = ms(0.5), .p99_ms = ms(0.99)};
}

}  // namespace

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

int device_threads() { return std::max(1, usable_cores() - 1); }

Words serve_command(const Words& words, int port) {
  return Words{program_folder() + "/millrace", "serve", "--listen",
               "127.0.0.1:" + std::to_string(port), "--json"} +
         words;
}

ServeJob::ServeJob(const Words& command, const std::string& errors)
    : child_(with_errors(command, errors)) {
  running.pids.insert(child_.pid());
  const std::string listening = wait_for("listening");
  const std::string port = "\"port\":";
  if (const std::size_t at = listening.find(port); at != std::string::npos)
    port_ = std::atoi(listening.c_str() + at + port.size());
  wait_for("ready");
}

ServeJob::~ServeJob() {
  if (!ended_) end(SIGTERM);
}

std::string ServeJob::wait_for(const std::string& event) {
  while (const auto line = child_.read_line()) {
    if (line->find("\"event\":\"" + event + "\"") != std::string::npos) return *line;
  }
  give_up("a server", "it ended before it said " + event);
}

double ServeJob::resident_mib() const {
  std::ifstream status("/proc/" + std::to_string(child_.pid()) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  }
  give_up("a server", "its memory cannot be read");
}

int ServeJob::end(int signal) {
  ended_ = true;
  running.pids.erase(child_.pid());
  return child_.end(signal);
}

Seen closed_loop(int port, const std::string& model, int clients, double seconds, int rows) {
  load::LoadSetting setting;
  setting.connections = clients;
  setting.rows = rows;
  return load(setting, port, model, seconds);
}

Seen open_loop(int port, const std::string& model, double rate, double seconds) {
  load::LoadSetting setting;
  setting.connections = kOpenConnections;
  setting.plan.rate = rate;
  return load(setting, port, model, seconds);
}

}  // namespace millrace::bench
