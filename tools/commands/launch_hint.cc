#include "millrace/tools/commands/launch_hint.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>

namespace millrace::commands {
namespace {

// The words as a user may have meant them. Empty: there is no such word.
struct Parts {
  std::string ranks = {};    // the value of -n
  std::string count = {};    // a number where the program would be, without -n
  std::string program = {};  // before or behind --
  std::string foreign = {};  // behind the program: an option that is none of launch, or --
  bool marked = false;       // there is a --
  bool own = false;          // the --help, or the slip, is before the program
};

bool is_number(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

// "--ranks" of "--ranks=2", "-n" of "-n2".
std::string name_of(const std::string& option) {
  return option[1] == '-' ? option.substr(0, option.find('=')) : option.substr(0, 2);
}

class Splitter {
 public:
  Splitter(const CLI::App& launch, std::span<const std::string> words)
      : launch_(launch), words_(words) {}

  Parts split() {
    for (; next_ < words_.size() && !parts_.own && !parts_.marked; ++next_) {
      const std::string& word = words_[next_];
      if (word == "--") {
        take_mark();
      } else if (is_option(word)) {
        take_option(word);
      } else if (parts_.program.empty()) {
        take_program(word);
      }
    }
    return parts_;
  }

 private:
  void take_mark() {
    parts_.marked = true;
    if (!parts_.program.empty()) {
      if (parts_.foreign.empty()) parts_.foreign = "--";
    } else if (next_ + 1 < words_.size()) {
      parts_.program = words_[next_ + 1];
    }
  }
  void take_program(const std::string& word) {
    const bool counts = parts_.ranks.empty() && parts_.count.empty() && is_number(word);
    (counts ? parts_.count : parts_.program) = word;
  }
  void take_option(const std::string& word) {
    const std::string name = name_of(word);
    const CLI::Option* const option = launch_.get_option_no_throw(name);
    if (option == nullptr || option == launch_.get_help_ptr()) {
      if (parts_.program.empty()) parts_.own = true;
      if (parts_.foreign.empty()) parts_.foreign = word;
      return;
    }
    if (option->get_items_expected_min() == 0) return;  // a flag
    std::string value = word.substr(name.size());
    if (value.empty() && next_ + 1 < words_.size()) value = words_[++next_];
    if (option->check_name("-n")) parts_.ranks = value.substr(value.starts_with('=') ? 1 : 0);
  }

  const CLI::App& launch_;
  const std::span<const std::string> words_;
  std::size_t next_ = 0;
  Parts parts_;
};

}  // namespace

std::string launch_hint(const CLI::App& launch, std::span<const std::string> words) {
  const Parts parts = Splitter(launch, words).split();
  if (parts.own || (parts.program.empty() && parts.count.empty() && !parts.marked)) return "";
  const std::string ranks = !parts.ranks.empty()   ? parts.ranks
                            : !parts.count.empty() ? parts.count
                                                   : std::string("2");
  const std::string example = ", as in millrace launch -n " + ranks + " -- " +
                              (parts.program.empty() ? "PROGRAM" : parts.program);
  if (parts.foreign == "--") return "put -- before the program, not behind it" + example;
  if (!parts.foreign.empty()) {
    return "'" + parts.foreign + "' is taken for an option of launch: put -- before the program" +
           example + " " + parts.foreign;
  }
  if (parts.ranks.empty())
    return "-n is required before the program: how many ranks are started" + example;
  return parts.program.empty() ? "a program must follow the --" + example : "";
}

}  // namespace millrace::commands
