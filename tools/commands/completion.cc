#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "millrace/tools/commands/command.h"

namespace millrace::commands {

namespace {

// What may follow an option: nothing (a flag), a file, a folder, or something that only its user
// knows.
enum class Value { kNone, kFile, kFolder, kOther };

Value value_of(const CLI::Option& option) {
  if (option.get_expected_max() == 0) return Value::kNone;
  const std::string type = option.get_type_name();
  if (type == "DIR") return Value::kFolder;
  return type == "FILE" || type == "OUT" || type.ends_with(".npy") ? Value::kFile : Value::kOther;
}

void join(std::string& list, const std::string& word, const char* between) {
  list += (list.empty() ? "" : between) + word;
}

// Options of `app` and of its groups.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> all;
  for (const CLI::Option* option : app.get_options()) all.push_back(option);
  for (const CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!group->get_name().empty()) continue;  // a command, not a group
    for (const CLI::Option* option : options_of(*group)) {
      if (option != group->get_help_ptr()) all.push_back(option);
    }
  }
  return all;
}

// One verb's line of the `case` that chooses by it.
std::string verb_case(const CLI::App& verb) {
  std::string words;
  std::string by_value[4];
  bool file_argument = false;
  for (const CLI::Option* option : options_of(verb)) {
    if (option->get_positional()) file_argument = true;
    for (const std::string& name : option->get_lnames()) {
      join(words, "--" + name, " ");
      join(by_value[static_cast<int>(value_of(*option))], "--" + name, "|");
    }
    for (const std::string& name : option->get_snames()) join(words, "-" + name, " ");
  }
  const auto list = [&by_value](Value value) {
    const std::string& names = by_value[static_cast<int>(value)];
    return "'" + (names.empty() ? names : "|" + names + "|") + "'";
  };
  return "    " + verb.get_name() + ") words='" + words + "' files=" + list(Value::kFile) +
         " folders=" + list(Value::kFolder) + " others=" + list(Value::kOther) +
         " argument=" + (file_argument ? "file" : "none") + " ;;\n";
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string verbs;
  std::string cases;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    join(verbs, verb->get_name(), " ");
    cases += verb_case(*verb);
  }
  std::string global;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) join(global, "--" + name, " ");
  }
  return "# bash completion of " + app.get_name() + "; made by `" + app.get_name() +
         " completion`.\n_" + app.get_name() + R"BASH(() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD - 1]}"
  local words='' files='' folders='' others='' argument=none
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W ')BASH" +
         verbs + " " + global + R"BASH(' -- "$word")
    return
  fi
  case "${COMP_WORDS[1]}" in
)BASH" + cases +
         R"BASH(    *) return ;;
  esac
  if [[ "$before" == -* && "$files" == *"|$before|"* ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  elif [[ "$before" == -* && "$folders" == *"|$before|"* ]]; then
    mapfile -t COMPREPLY < <(compgen -d -- "$word")
  elif [[ "$before" == -* && "$others" == *"|$before|"* ]]; then
    return
  elif [[ "$word" == -* || "$argument" == none ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _)BASH" +
         app.get_name() + " " + app.get_name() + "\n";
}

}  // namespace millrace::commands
