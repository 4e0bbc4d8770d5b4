// `millrace status`: the jobs of this user, as their hosts report: core/net/job_observer.h.
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/base/json_text.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/core/net/job_observer.h"
#include "millrace/core/net/socket_transport.h"
#include "millrace/tools/commands/command.h"
#include "millrace/tools/launch/status_text.h"

namespace millrace::commands {

namespace {

using Json = nlohmann::ordered_json;

// A host may be stopped, or busy.
constexpr std::chrono::seconds kPatience(5);

struct Seen {
  net::JobPointer job;
  Result<net::JobStatus> status;
};

// All at once, on a loop of their own.
Result<std::vector<Seen>> look_at(const std::vector<net::JobPointer>& jobs) {
  MILLRACE_TRY(std::unique_ptr<EventLoop> loop, create_uv_event_loop());
  EventLoopThread thread(std::move(loop), "millrace-status");
  std::unique_ptr<net::Transport> transport;
  std::vector<Future<net::JobStatus>> looks;
  const auto begin = [&](Result<void>) {
    transport = net::make_socket_transport(thread.loop());
    for (const net::JobPointer& job : jobs) {
      looks.push_back(
          net::observe_job(*transport, job, {.deadline = steady_clock().now() + kPatience}));
    }
  };
  MILLRACE_TRY_STATUS(wait_blocking(make_ready().then(thread.loop(), begin)));
  std::vector<Seen> seen;
  for (std::size_t i = 0; i < jobs.size(); ++i) seen.push_back({jobs[i], wait_blocking(looks[i])});
  looks.clear();
  MILLRACE_TRY_STATUS(
      wait_blocking(make_ready().then(thread.loop(), [&](Result<void>) { transport.reset(); })));
  return seen;
}

Json json_of(const Seen& seen) {
  const net::JobStatus& status = *seen.status;
  Json ranks = Json::array();
  for (std::size_t i = 0; i < status.ranks.size(); ++i) {
    const net::RankStatus& rank = status.ranks[i];
    Json groups = Json::array();
    for (const net::GroupCount& group : rank.groups) {
      groups.push_back({{"name", group.name},
                        {"begun", group.begun},
                        {"done", group.done},
                        {"behind", launch::is_behind(status, rank, group)}});
    }
    ranks.push_back({{"rank", i},
                     {"pid", rank.pid > 0 ? Json(rank.pid) : Json(nullptr)},
                     {"state", net::name_of(rank.phase)},
                     {"groups", groups}});
  }
  return {{"job", status.job},
          {"pid", status.host_pid},
          {"seconds", std::chrono::duration<double>(status.age).count()},
          {"store", seen.job.address},
          {"turned_away", status.turned_away},
          {"ranks", ranks}};
}

}  // namespace

Result<ExitCode> status_command(const StatusFlags& flags, Console& console) {
  MILLRACE_TRY(const std::vector<Seen> all, look_at(net::find_jobs()));
  bool any = false;
  for (const Seen& seen : all) {
    // A folder that a killed host has left is no job.
    if (!seen.status && seen.status.error().code() == ErrorCode::kUnavailable) continue;
    any = true;
    if (!seen.status) {
      console.warning("job " + seen.job.job + ": " + seen.status.error().message());
    } else if (flags.json) {
      MILLRACE_TRY_STATUS(console.data(json_text(json_of(seen)) + "\n"));
    } else {
      MILLRACE_TRY_STATUS(
          console.data(Console::for_terminal(launch::status_text(*seen.status, seen.job.address))));
    }
  }
  if (!any && !flags.json) console.words("no job of this user runs here\n");
  return ExitCode::kOk;
}

}  // namespace millrace::commands
