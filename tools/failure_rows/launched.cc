#include "millrace/tools/failure_rows/launched.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "millrace/core/base/check.h"

extern char** environ;  // NOLINT

namespace millrace::failures {

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string program(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

Launched::Launched(const LaunchPlan& plan) : proxy_(plan.proxy) {
  std::vector<std::string> words = {program("millrace"), "launch", "--json", "-n",
                                    std::to_string(plan.ranks)};
  std::string script = plan.script;
  if (proxy_ != nullptr) {
    words.insert(words.end(), {"--store", "tcp", "--transport", "tcp"});
    script = "export MILLRACE_STORE=$STORE; " + script;
  }
  words.insert(words.end(), plan.options.begin(), plan.options.end());
  words.insert(words.end(), {"--", "/bin/sh", "-c", script});
  std::map<std::string, std::string> variables = plan.variables;
  variables["RANKS"] = program("failure_rank");
  variables["MILLRACE"] = program("millrace");
  variables["MILLRACE_THREADS"] = "1";
  variables["CPU_NUM_DEVICES"] = "1";
  if (proxy_ != nullptr) variables["STORE"] = "tcp:127.0.0.1:" + std::to_string(proxy_->door());
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!text.starts_with("MILLRACE_") && !variables.contains(text.substr(0, text.find('='))))
      environment.push_back(text);
  }
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  };
  int out[2] = {-1, -1}, err[2] = {-1, -1};
  MILLRACE_CHECK(::pipe2(out, O_CLOEXEC) == 0 && ::pipe2(err, O_CLOEXEC) == 0, "there is no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  const int failed = ::posix_spawn(&pid_, words[0].c_str(), &actions, nullptr,
                                   pointers(words).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(out[1]);
  ::close(err[1]);
  out_ = out[0];
  err_ = err[0];
  MILLRACE_CHECK(failed == 0, "`millrace launch` could not be started");
}

Launched::~Launched() {
  if (!code_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(out_);
  if (err_ >= 0) ::close(err_);
}

void Launched::take(std::string& text, const char* bytes, std::size_t size) {
  text.append(bytes, size);
  if (&text != &half_line_) return;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
    std::optional<Line> line = read_line(text.substr(0, end));
    text.erase(0, end + 1);
    if (!line) continue;
    if (proxy_ != nullptr && line->text("event") == "launch_start") {
      const std::string store = line->text("store");
      proxy_->set_host(std::stoi(store.substr(store.rfind(':') + 1)));
    }
    lines_.push_back(*std::move(line));
  }
}

// False: both streams have ended, or nothing came.
bool Launched::pump(double seconds) {
  pollfd polled[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  if (out_ < 0 && err_ < 0) return false;
  if (::poll(polled, 2, std::max(0, static_cast<int>(seconds * 1e3))) <= 0) return false;
  for (auto& one : polled) {
    if (one.fd < 0 || one.revents == 0) continue;
    char buffer[32 << 10];
    const ssize_t got = ::read(one.fd, buffer, sizeof buffer);
    int& stream = one.fd == out_ ? out_ : err_;
    if (got <= 0) {
      ::close(std::exchange(stream, -1));
      continue;
    }
    take(&stream == &out_ ? half_line_ : words_, buffer, static_cast<std::size_t>(got));
  }
  return true;
}

bool Launched::wait(const std::function<bool()>& condition, double seconds) {
  const double until = unix_seconds() + seconds;
  while (!condition()) {
    const double left = until - unix_seconds();
    if (left <= 0 || !pump(left)) return condition();
  }
  return true;
}

void Launched::read_for(double seconds) {
  static_cast<void>(wait([] { return false; }, seconds));
}

int Launched::end(double seconds) {
  static_cast<void>(wait([this] { return out_ < 0 && err_ < 0; }, seconds));
  if (code_) return *code_;
  if (out_ >= 0 || err_ >= 0) return -1;
  int status = 0;
  ::waitpid(pid_, &status, 0);
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return *code_;
}

const Line* Launched::did(int rank, const std::string& word) const {
  const auto found = std::ranges::find_if(lines_.rbegin(), lines_.rend(), [&](const Line& line) {
    return line.number("rank", -1) == rank && line.text("did") == word;
  });
  return found == lines_.rend() ? nullptr : &*found;
}

bool Launched::begun(int ranks, const std::string& word) const {
  return std::ranges::count_if(
             lines_, [&](const Line& line) { return line.text("begun") == word; }) >= ranks;
}

const Line* Launched::event(const std::string& name) const {
  const auto found = std::ranges::find_if(
      lines_.rbegin(), lines_.rend(), [&](const Line& line) { return line.text("event") == name; });
  return found == lines_.rend() ? nullptr : &*found;
}

pid_t Launched::pid_of(int rank) const {
  pid_t pid = -1;
  for (const Line& line : lines_) {
    if (line.text("event") == "rank_start" && line.number("rank", -1) == rank)
      pid = static_cast<pid_t>(line.number("pid"));
  }
  return pid;
}

}  // namespace millrace::failures
