#include "bench/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "bench/figure.h"

extern char** environ;

namespace millrace::bench {
namespace {

using PartMain = int (*)(const std::string&);

std::map<std::string, PartMain>& parts() {
  static std::map<std::string, PartMain> all;
  return all;
}

std::vector<char*> arguments(const std::vector<std::string>& command) {
  std::vector<char*> out;
  for (const std::string& word : command) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

pid_t spawn(const std::vector<std::string>& command, posix_spawn_file_actions_t& actions) {
  pid_t pid = 0;
  auto argv = arguments(command);
  if (posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ) != 0) {
    give_up(command[0], "it could not be started");
  }
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

std::string own_path() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace

Child::Child(const std::vector<std::string>& command) : name_(command[0]) {
  int to_child[2], from_child[2];
  if (pipe2(to_child, O_CLOEXEC) != 0 || pipe2(from_child, O_CLOEXEC) != 0) {
    give_up(name_, "no pipe could be made");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to_child[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from_child[1], STDOUT_FILENO);
  pid_ = spawn(command, actions);
  close(to_child[0]);
  close(from_child[1]);
  in_ = fdopen(to_child[1], "w");
  out_ = fdopen(from_child[0], "r");
}

Child::~Child() {
  std::fclose(in_);
  std::fclose(out_);
  int status = 0;
  if (pid_ != 0) waitpid(pid_, &status, 0);
}

int Child::end(int signal) {
  int status = 0;
  kill(pid_, signal);
  waitpid(pid_, &status, 0);
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::optional<std::string> Child::read_line() {
  std::string line;
  for (int c = std::fgetc(out_); c != EOF; c = std::fgetc(out_)) {
    if (c == '\n') return line;
    line += static_cast<char>(c);
  }
  return std::nullopt;
}

double Child::ask(std::string_view line) {
  std::fprintf(in_, "%.*s\n", static_cast<int>(line.size()), line.data());
  std::fflush(in_);
  const std::optional<std::string> answer = read_line();
  if (!answer) give_up(name_, "it ended without an answer");
  char* end = nullptr;
  const double value = std::strtod(answer->c_str(), &end);
  if (end == answer->c_str()) give_up(name_, "it said: " + *answer);
  return value;
}

double seconds_of_program(const std::vector<std::string>& command) {
  return seconds_of([&] {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int status = 0;
    waitpid(spawn(command, actions), &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) give_up(command[0], "it failed");
  });
}

std::string program_folder() {
  const std::string path = own_path();
  return path.substr(0, path.rfind('/'));
}

std::string own_plugin_path() {
  const std::filesystem::path path =
      std::filesystem::path(program_folder()) / ".." / "lib" / "libmillrace_pjrt.so";
  return std::filesystem::exists(path) ? path.lexically_normal().string() : "";
}

std::string source_folder() { return MILLRACE_BENCH_SOURCE; }

PythonPeers python_peers() {
  if (const char* python = std::getenv("MILLRACE_PEERS")) return {.python = python};
  const char* why = std::getenv("MILLRACE_NO_PEERS");
  return {.why_not = why != nullptr ? why : "set MILLRACE_PEERS to the python of tools/peers"};
}

Part::Part(const char* name, PartMain run) { parts()[name] = run; }

std::vector<std::string> Part::command(const std::string& name, const std::string& argument) {
  return {own_path(), "--part", name, argument};
}

int Part::run(const std::string& name, const std::string& argument) {
  const auto found = parts().find(name);
  return found == parts().end() ? 2 : found->second(argument);
}

void answer_each_line(double (*answer)()) {
  int c = 0;
  while ((c = std::getchar()) != EOF) {
    if (c != '\n') continue;
    std::printf("%.9g\n", answer());
    std::fflush(stdout);
  }
}

}  // namespace millrace::bench
