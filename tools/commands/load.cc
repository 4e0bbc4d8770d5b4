// `millrace load`: requests to an inference server, and what became of them. Read next:
// tools/load/load_run.h.
#include <CLI/CLI.hpp>
#include <cmath>
#include <csignal>
#include <string>
#include <utility>

#include "millrace/tools/commands/command.h"
#include "millrace/tools/load/load_run.h"
#include "millrace/transfer/formats/file.h"

namespace millrace::commands {
namespace {

constexpr int kOpenConnections = 64;  // that an open loop has unless --clients says it

Duration seconds_of(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

std::string title_of(const LoadFlags& flags, const load::LoadSetting& setting) {
  const std::string rows = std::to_string(flags.rows) + (flags.rows == 1 ? " row" : " rows");
  if (flags.rate > 0)
    return flags.url + ": " + std::to_string(std::llround(flags.rate)) + " requests/s of " + rows;
  return flags.url + ": " + std::to_string(setting.connections) + " clients, requests of " + rows;
}

}  // namespace

Result<ExitCode> load_command(const LoadFlags& flags, Console& console) {
  std::signal(SIGPIPE, SIG_IGN);  // a server that goes is an error to count
  load::LoadSetting setting;
  const Result<load::LoadTarget> target = load::parse_target(flags.url);
  if (!target) return usage_error(target.error().message());
  setting.target = *target;
  if (!load::is_loopback(setting.target.host) && !flags.any_host) {
    return usage_error(
        "'" + setting.target.host +
        "' may be another machine, which a load can bring down; --any-host means it");
  }
  MILLRACE_TRY(setting.token, read_token(flags.token_file));
  // Found before the run, not after it.
  if (!flags.svg.empty()) MILLRACE_TRY_STATUS(transfer::NewFile::check(flags.svg));
  setting.plan = {.rate = flags.rate, .length = seconds_of(flags.seconds), .seed = flags.seed};
  setting.connections = flags.clients > 0 ? flags.clients : flags.rate > 0 ? kOpenConnections : 1;
  setting.rows = flags.rows;
  setting.length = flags.length;
  setting.timeout = seconds_of(flags.timeout_seconds);
  const bool bar = console.traits().bar;
  if (bar) {
    setting.progress = [&console](const load::LoadReport& report, TimePoint now) {
      console.words("\r\x1b[2K" + report.progress(now));
    };
  }
  Limits::Options limit_options;
  limit_options.grace = setting.timeout + Limits::kStep;
  limit_options.progress = [] { return std::string("while requests were under way"); };
  limit_options.json = flags.json;
  MILLRACE_TRY(const std::unique_ptr<Limits> limits, Limits::create(console, limit_options));
  const Result<load::LoadReport> report = load::run_load(setting, limits->call().stop);
  if (bar) console.words("\r\x1b[2K");
  if (!report) return std::unexpected(limits->at_end(report.error(), "before the first request"));
  MILLRACE_TRY_STATUS(console.data(flags.json ? report->json() + "\n" : report->words()));
  if (!flags.svg.empty())
    MILLRACE_TRY_STATUS(transfer::write_file(flags.svg, report->svg(title_of(flags, setting))));
  if (Limits::signal() != 0) return exit_code_of_signal(Limits::signal());
  return report->answered() > 0 ? ExitCode::kOk : ExitCode::kFailure;
}

void add_load_options(CLI::App& command, LoadFlags& flags) {
  command.add_option("URL", flags.url, "http://HOST:PORT or http://HOST:PORT/v2/models/NAME")
      ->required();
  command
      .add_option("--rate", flags.rate,
                  "an open loop: so many requests per second, at random (Poisson), whatever the "
                  "server does (default: a closed loop)")
      ->check(CLI::Range(0.001, 1e6));
  command
      .add_option("--clients", flags.clients,
                  "of a closed loop, each with one request at a time (default 1); of an open one: "
                  "its connections (default 64)")
      ->check(CLI::Range(1, 10000));
  command.add_option("--seconds", flags.seconds, "for how long requests are made")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  command.add_option("--timeout", flags.timeout_seconds, "of a request, in seconds: then an error")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
  command.add_option("--rows", flags.rows, "of each request")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20))
      ->capture_default_str();
  command.add_option("--length", flags.length, "of rows that have any length")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
  command.add_option("--seed", flags.seed, "of the times and the numbers")->capture_default_str();
  command.add_option("--token-file", flags.token_file, "the server's token, as for serve")
      ->type_name("FILE");
  command.add_option("--svg", flags.svg, "draw the latency over time")->type_name("FILE");
  command.add_flag("--any-host", flags.any_host, "also load servers that are not on loopback");
  command.add_flag("--json", flags.json, "one JSON object");
}

}  // namespace millrace::commands
