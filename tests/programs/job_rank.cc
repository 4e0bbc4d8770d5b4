// A rank of a launched job, which joins it and then does as its words say, in turn:
//   joined          tells its pid
//   meet            puts its rank, gets those of all, and tells how many
//   link            sends a frame to each rank, and tells how many came of all
//   put KEY, get KEY
//   failure         waits for the job's failure, and tells it
//   sleep SECONDS   on its main thread
//   exit CODE       at once, without a goodbye
// Without a word it leaves, and ends with 0. An error is told, and ends it with 1.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/net/job_thread.h"

namespace millrace {
namespace {

std::optional<std::string> variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Status meet(net::Job& job, int ranks, int rank) {
  KeyValueStore& store = job.store();
  MILLRACE_TRY_STATUS(wait_blocking(store.put("met/" + std::to_string(rank), "here")));
  for (int other = 0; other < ranks; ++other)
    MILLRACE_TRY_STATUS(wait_blocking(store.get("met/" + std::to_string(other))
                                          .then(inline_executor(), [](Result<std::string> v) {
                                            return v ? Status()
                                                     : Status(std::unexpected(v.error()));
                                          })));
  std::printf("met %d\n", ranks);
  return {};
}

Status link(net::Mesh& mesh) {
  constexpr net::FrameKind kKind = net::FrameKind::kFirstOfUsers;
  Promise<void> all;
  std::uint32_t count = 0;  // on the mesh's thread
  mesh.set_sink({kKind}, [&](std::uint32_t, const net::Frame&) -> Future<void> {
    if (++count == mesh.size()) all.set_value();
    return {};
  });
  std::vector<Future<void>> sent = {all.future()};
  for (std::uint32_t rank = 0; rank < mesh.size(); ++rank)
    sent.push_back(mesh.send(rank, {{.kind = kKind}, {}}));
  MILLRACE_TRY_STATUS(wait_blocking(when_all(sent)));
  std::printf("linked %u\n", count);
  return {};
}

Status run(const std::vector<std::string>& words) {
  MILLRACE_TRY(const auto place, job_place(variable));
  MILLRACE_TRY(auto options, net::job_options(variable, place));
  if (!options) return fail(ErrorCode::kFailedPrecondition, "there is no job");
  MILLRACE_TRY(const auto thread, net::JobThread::create());
  MILLRACE_TRY_STATUS(wait_blocking(thread->join(*options)));
  net::Job& job = thread->job();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string argument = i + 1 < words.size() ? words[i + 1] : "";
    if (word == "joined") {
      std::printf("joined %d\n", ::getpid());
    } else if (word == "meet") {
      MILLRACE_TRY_STATUS(meet(job, place->process.count, place->process.index));
    } else if (word == "link") {
      MILLRACE_TRY_STATUS(link(thread->mesh()));
    } else if (word == "put") {
      MILLRACE_TRY_STATUS(wait_blocking(job.store().put(argument, "")));
      ++i;
    } else if (word == "get") {
      MILLRACE_TRY(const std::string value, wait_blocking(job.store().get(argument)));
      std::printf("got %s%s\n", argument.c_str(), value.c_str());
      ++i;
    } else if (word == "failure") {
      const Status heard = wait_blocking(job.failure());
      const auto* const failure = heard ? nullptr : heard.error().detail<net::JobFailure>();
      std::printf("heard %d %s\n", failure != nullptr ? static_cast<int>(failure->member.rank) : -1,
                  heard ? "nothing" : heard.error().message().c_str());
    } else if (word == "sleep") {
      ::poll(nullptr, 0, static_cast<int>(std::atof(argument.c_str()) * 1000));
      ++i;
    } else if (word == "exit") {
      std::fflush(stdout);
      ::_exit(std::atoi(argument.c_str()));
    }
    std::fflush(stdout);
  }
  return wait_blocking(thread->close());
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  const millrace::Status done = millrace::run({argv + 1, argv + argc});
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().to_string().c_str());
  return 1;
}
