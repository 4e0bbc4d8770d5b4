#include "millrace/tools/failure_rows/row.h"

#include "millrace/core/net/job_member.h"

namespace millrace::failures {

bool Seen::expect(bool holds, const std::string& words) {
  text_ += (text_.empty() ? "" : "; ") + std::string(holds ? "" : "NOT: ") + words;
  met_ = met_ && holds;
  return holds;
}

bool Seen::expect_error(const Launched& job, int rank, const std::string& word,
                        const std::string& code, std::initializer_list<std::string> names) {
  const std::string who = "rank " + std::to_string(rank);
  const Line* const line = job.did(rank, word);
  if (line == nullptr) return expect(false, who + " ended its wait in " + word);
  const std::string got = line->text("code"), error = line->text("error");
  bool all = got == code;
  for (const std::string& name : names) all = all && error.find(name) != std::string::npos;
  return expect(all, who + ": " + got + (error.empty() ? "" : ": " + error));
}

bool Seen::expect_did(const Launched& job, int ranks, const std::string& word) {
  std::string wrong;
  for (int rank = 0; rank < ranks; ++rank) {
    const Line* const line = job.did(rank, word);
    if (line == nullptr) wrong = "rank " + std::to_string(rank) + " did not end";
    if (line != nullptr && !line->is("ok")) wrong = line->text("error");
  }
  return expect(wrong.empty(), "all did " + word + (wrong.empty() ? "" : ": " + wrong));
}

std::string name_of(const Launched& job, int rank) {
  return to_string(net::JobMember{
      .rank = static_cast<std::uint32_t>(rank), .host = net::host_name(), .pid = job.pid_of(rank)});
}

}  // namespace millrace::failures
