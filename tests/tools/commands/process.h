// Process: the `millrace` command (or another program of the build) run by a test: options and
// environment in, streams and exit code out. Real processes and real signals, because those are
// what is tested.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/paths.h"

extern char** environ;  // NOLINT

namespace millrace::testing {

struct Outcome {
  int code = -1;  // as a shell tells it: 128 + the signal that ended it
  std::string out;
  std::string err;
};

class Process {
 public:
  enum class Words { kPipe, kTerminal };  // what stderr is

  // False in a container without /dev/pts, for one.
  static bool has_terminals() {
    int ends[2];
    if (::openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr) != 0) return false;
    ::close(ends[0]);
    ::close(ends[1]);
    return true;
  }

  // The variables that the command reads are those given, and no others.
  explicit Process(const std::vector<std::string>& words,
                   const std::map<std::string, std::string>& variables = {},
                   Words stderr_is = Words::kPipe) {
    int out[2];
    int err[2];
    if (::pipe2(out, O_CLOEXEC) != 0) ADD_FAILURE() << "no pipe";
    const bool terminal = stderr_is == Words::kTerminal;
    if (terminal ? ::openpty(&err[0], &err[1], nullptr, nullptr, nullptr) != 0
                 : ::pipe2(err, O_CLOEXEC) != 0) {
      ADD_FAILURE() << "no pipe or terminal";
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    std::vector<std::string> environment = make_environment(variables);
    std::vector<std::string> arguments = words;
    const int failed = ::posix_spawn(&pid_, words[0].c_str(), &actions, nullptr,
                                     pointers(arguments).data(), pointers(environment).data());
    if (failed != 0) ADD_FAILURE() << "cannot run " << words[0] << ": error " << failed;
    posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    ::close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    for (const int descriptor : {out_, err_}) {
      if (descriptor >= 0) ::close(descriptor);
    }
  }

  // Reads until condition holds; false if the streams end before, or nothing comes for five
  // minutes.
  bool wait_for(const std::function<bool(const Outcome&)>& condition) {
    while (!condition(outcome_)) {
      if (!pump()) return condition(outcome_);
    }
    return true;
  }
  pid_t pid() const { return pid_; }
  // Nothing once it has ended: kill(-1) would end every process here.
  void send(int signal) const {
    if (pid_ > 0) {
      ::kill(pid_, signal);
    } else {
      ADD_FAILURE() << "signal " << signal << " for a process that has ended";
    }
  }
  // Until the process has a handler for it; false after five minutes.
  bool wait_until_caught(int signal) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    while (std::chrono::steady_clock::now() < end) {
      std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
      for (std::string line; std::getline(status, line);) {
        if (!line.starts_with("SigCgt:")) continue;
        if ((std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0) return true;
      }
      ::poll(nullptr, 0, 1);
    }
    return false;
  }

  // Until a handler has begun with it, or the process has ended; false after five minutes.
  bool wait_until_taken(int signal) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    while (std::chrono::steady_clock::now() < end) {
      std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
      bool pending = false;
      for (std::string line; std::getline(status, line);) {
        if (line.starts_with("ShdPnd:"))
          pending = (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
      }
      if (!pending) return true;
      ::poll(nullptr, 0, 1);
    }
    return false;
  }

  // Until the process has ended.
  const Outcome& wait() {
    while (pump()) {
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    outcome_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome_;
  }

 private:
  static std::vector<std::string> make_environment(
      const std::map<std::string, std::string>& variables) {
    std::vector<std::string> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      bool ours = text.starts_with("MILLRACE_") ||
                  variables.contains(std::string(text.substr(0, text.find('='))));
      for (const char* name : {"PJRT_DEVICE=", "PJRT_NAMES_AND_LIBRARY_PATHS=", "CPU_NUM_DEVICES=",
                               "NO_COLOR=", "CI=", "TERM="}) {
        ours = ours || text.starts_with(name);
      }
      if (!ours) environment.emplace_back(text);
    }
    for (const auto& [name, value] : variables) {
      environment.push_back(name);
      environment.back().append("=").append(value);
    }
    return environment;
  }
  static std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> list;
    for (std::string& word : words) list.push_back(word.data());
    list.push_back(nullptr);
    return list;
  }
  // False at the end of both streams.
  bool pump() {
    pollfd polled[] = {{.fd = out_, .events = POLLIN}, {.fd = err_, .events = POLLIN}};
    if (out_ < 0 && err_ < 0) return false;
    if (::poll(polled, 2, 300'000) <= 0) {
      ADD_FAILURE() << "nothing came for five minutes; so far: " << outcome_.out << outcome_.err;
      if (pid_ > 0) ::kill(pid_, SIGKILL);
      return false;
    }
    if (polled[0].revents != 0) take(out_, outcome_.out);
    if (polled[1].revents != 0) take(err_, outcome_.err);
    return true;
  }
  static void take(int& descriptor, std::string& text) {
    char bytes[4096];
    const ssize_t count = ::read(descriptor, bytes, sizeof bytes);
    if (count > 0) {
      text.append(bytes, static_cast<std::size_t>(count));
    } else {
      ::close(descriptor);
      descriptor = -1;
    }
  }

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  Outcome outcome_;
};

inline std::vector<std::string> millrace_command(std::vector<std::string> words) {
  words.insert(words.begin(), testing::build_folder() + "/bin/millrace");
  return words;
}
inline Outcome run_millrace(const std::vector<std::string>& words,
                            const std::map<std::string, std::string>& variables = {}) {
  return Process(millrace_command(words), variables).wait();
}

inline std::string mnist_model() { return testing::source_folder() + "/tools/models/mnist"; }

}  // namespace millrace::testing
