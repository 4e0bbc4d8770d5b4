// Child: a program that measures in a process of its own, beside ours: a Python peer, or a part of
// ours that needs a process of its own. It answers every line on its stdin with a line on its
// stdout.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::bench {

// Thread-safety: confined.
class Child {
 public:
  // Gives up (figure.h) where no process can be made.
  explicit Child(const std::vector<std::string>& command);
  ~Child();  // closes its stdin and waits for its end
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Its next line, without the end of the line; nullopt if it has ended.
  std::optional<std::string> read_line();
  // The number that it answers; gives up if it has ended or says something else.
  double ask(std::string_view line);
  pid_t pid() const { return pid_; }
  // Sends it the signal and waits for its end; its exit code, 128 and more where a signal ended it.
  int end(int signal);

 private:
  const std::string name_;
  pid_t pid_ = 0;            // 0: it has ended
  std::FILE* in_ = nullptr;  // what it reads
  std::FILE* out_ = nullptr;
};

// Runs it to its end, its stdout dropped; the wall time in seconds, from before the fork until
// it was waited for. Gives up if it fails.
double seconds_of_program(const std::vector<std::string>& command);

// The Python that has the peers (tools/peers made it), as tools/bench names it in MILLRACE_PEERS;
// or why there is none.
struct PythonPeers {
  std::string python;  // empty: none
  std::string why_not;
};
PythonPeers python_peers();
// The folder of the sources, where the scripts are.
std::string source_folder();

// The folder of the running program, where the other programs of the build are.
std::string program_folder();

// The CPU device as a PJRT plugin, of this build; empty where it is not built.
std::string own_plugin_path();
inline constexpr const char* kNoOwnPlugin = "no plugin of ours here: tools/build millrace_pjrt";

// A part of a bench that runs in a process of its own: bench_<family> --part NAME ARGUMENT. run
// serves stdin and stdout as Child wants it.
class Part {
 public:
  Part(const char* name, int (*run)(const std::string& argument));
  static std::vector<std::string> command(const std::string& name, const std::string& argument);
  // What main does with --part; 2 if there is none of that name.
  static int run(const std::string& name, const std::string& argument);
};

// Answers each line of stdin with a number, until stdin ends. For the child process of a figure.
void answer_each_line(double (*answer)());

}  // namespace millrace::bench
