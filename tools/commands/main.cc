// The `millrace` command: reads options, calls a command, turns its error into words and an exit
// code. Read next: command.h.
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <csignal>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "millrace/core/async/future.h"
#include "millrace/tools/commands/command.h"
#include "millrace/tools/commands/launch_hint.h"
#include "millrace/tools/commands/suggestion.h"
#include "millrace/tools/train/step_watch.h"

namespace {

using namespace millrace;            // NOLINT(google-build-using-namespace)
using namespace millrace::commands;  // NOLINT(google-build-using-namespace)

// Not CLI::Range: it takes a NaN.
const CLI::Validator kSeconds(
    [](std::string& text) -> std::string {
      double value = 0;
      if (CLI::detail::lexical_cast(text, value) && value >= 1e-6 && value <= 1e9) return "";
      return "'" + text + "' is no number of seconds from 0.000001 to 1000000000";
    },
    "SECONDS");

// Whole numbers as they are written: CLI11 takes -1 for the largest there is.
std::string check_whole_number(const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stopped == end) return "";
  return "'" + text + "' is no whole number from 0 to 18446744073709551615";
}

// A number from least to most, whose default the help prints.
template <class T>
CLI::Option& add_number(CLI::App& command, const char* name, T& number, T least, T most,
                        const char* help) {
  return *command.add_option(name, number, help)
              ->check(CLI::Range(least, most))
              ->capture_default_str();
}

// An option that may be repeated, with one word each.
void add_list(CLI::App& command, const char* name, std::vector<std::string>& words,
              const char* type, const char* help) {
  command.add_option(name, words, help)
      ->type_name(type)
      ->expected(1)
      ->allow_extra_args(false)  // what follows is an argument of the command
      ->take_all();
}

void add_json(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "one JSON object");
}

void add_plugins(CLI::App& command, PluginFlags& plugins) {
  add_list(command, "--plugin", plugins.given, "NAME=PATH[,OPTION=VALUE...]",
           "a PJRT plugin, with its create options; may be repeated (see also "
           "PJRT_NAMES_AND_LIBRARY_PATHS and MILLRACE_PLUGIN_PATH)");
  command.add_flag("--find-plugins", plugins.find,
                   "also those that pip has installed (jax_plugins, libtpu, torch_xla)");
}

void add_compilation_cache(CLI::App& command, RuntimeFlags& flags) {
  command
      .add_option("--compilation-cache", flags.compilation_cache,
                  "keep what is compiled in this folder, for the next time "
                  "(MILLRACE_COMPILATION_CACHE)")
      ->type_name("DIR[,read_only][,max=BYTES]");
}

CLI::Option& add_threads(CLI::App& command, RuntimeFlags& flags) {
  return *command
              .add_option("--threads", flags.threads,
                          "that run programs, shared out over the devices, at least one each "
                          "(MILLRACE_THREADS; default: one per core)")
              ->check(CLI::Range(1, RuntimeOptions::most_threads()));
}

void add_deadline(CLI::App& command, RuntimeFlags& flags) {
  command
      .add_option("--deadline", flags.deadline_seconds,
                  "give up after so many seconds (exit code 124)")
      ->check(kSeconds);
}

void add_trace_file(CLI::App& command, RuntimeFlags& flags) {
  command
      .add_option(
          "--trace", flags.trace,
          "write a timeline that ui.perfetto.dev opens (MILLRACE_TRACE); see millrace trace")
      ->type_name("FILE");
}

void add_program(CLI::App& command, std::string& file) {
  command.add_option("FILE", file, "the program: StableHLO, text or bytecode; - for stdin")
      ->required();
}

void add_devices_options(CLI::App& command, DevicesFlags& flags) {
  add_plugins(command, flags.plugins);
  command
      .add_option("--deadline", flags.deadline_seconds,
                  "a plugin that takes longer to list its devices cannot be used, in seconds")
      ->check(kSeconds)
      ->capture_default_str();
  add_json(command, flags.json);
}

void add_inputs(CLI::App& command, InputFlags& flags) {
  add_list(command, "--input", flags.files, "A.npy",
           "an argument (.npy; - for stdin), in order; may be repeated");
  command.add_option("--inputs", flags.folder, "arguments DIR/0.npy, DIR/1.npy, ...")
      ->type_name("DIR")
      ->excludes(command.get_option("--input"));
}

void add_run_options(CLI::App& command, RunFlags& flags) {
  add_program(command, flags.file);
  add_inputs(command, flags.inputs);
  add_plugins(command, flags.plugins);
  add_compilation_cache(command, flags);
  command
      .add_option("--outputs", flags.outputs_folder,
                  "write the results to DIR/0.npy, DIR/1.npy, ...; of devices with arrays of "
                  "their own to DIR/DEVICE/0.npy, ...")
      ->type_name("DIR");
  command
      .add_option("--devices", flags.devices,
                  "that the program runs on (default: as many as it says it is for)")
      ->check(CLI::Range(1, RuntimeOptions::kMostDevices));
  add_number(command, "--repeat", flags.repeat, 1, 1'000'000'000, "how often to execute");
  add_threads(command, flags);
  add_deadline(command, flags);
  add_trace_file(command, flags);
  command.add_flag("--deterministic", flags.deterministic,
                   "the same bits with any number of threads");
  command.add_flag("--json", flags.json, "print times and memory as one JSON object");
}

void add_collectives_runs(CLI::App& command, CollectivesFlags& flags) {
  add_collectives_options(command, flags);
  add_plugins(command, flags.plugins);
  command.add_option("--devices", flags.devices, "use so many devices (default: all)")
      ->check(CLI::Range(1, RuntimeOptions::kMostDevices));
  add_threads(command, flags);
  add_deadline(command, flags);
  add_trace_file(command, flags);
  command.add_flag("--json", flags.json, "one JSON object per line on stdout");
}
void add_serving_options(CLI::App& command, ServeFlags& flags) {
  add_serve_options(command, flags);
  add_plugins(command, flags.plugins);
  add_compilation_cache(command, flags);
  command.add_option("--devices", flags.devices, "use so many devices (default: all)")
      ->check(CLI::Range(1, RuntimeOptions::kMostDevices));
  add_threads(command, flags);
  add_trace_file(command, flags);
  command.add_flag("--json", flags.json, "one JSON object per line on stdout");
}

void add_train_options(CLI::App& command, TrainFlags& flags) {
  train::TrainingOptions& training = flags.training;
  command.add_option("--model", training.model, "folder with manifest.json and its programs")
      ->required()
      ->type_name("DIR");
  auto* data = command.add_option_group("data", "where the images come from");
  data->add_option("--data", flags.data, "folder of IDX files, plain or gzip, as MNIST's")
      ->type_name("DIR");
  data->add_flag("--fake-data", flags.fake_data, "generated images");
  data->require_option(1);
  add_plugins(command, flags.plugins);
  add_compilation_cache(command, flags);
  command.add_option("--devices", flags.devices, "use so many devices (default: all)")
      ->check(CLI::Range(1, RuntimeOptions::kMostDevices));
  add_number(command, "--batch-size", training.batch_size, std::int64_t{1}, std::int64_t{1} << 40,
             "rows per step, split over the devices");
  add_number(command, "--epochs", training.epochs, std::uint64_t{1}, std::uint64_t{1} << 40,
             "times through the training images");
  command.add_option("--max-steps", training.max_steps, "end after so many steps")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 60));
  command.add_option("--seed", training.seed, "of parameters and shuffling")
      ->check(check_whole_number, "UINT")
      ->capture_default_str();
  add_threads(command, flags);
  add_number(command, "--steps-in-flight", training.steps_in_flight, 1,
             train::StepWatch::kMostInFlight, "steps begun before the oldest has ended");
  command
      .add_option("--bucket-bytes", training.bucket_bytes,
                  "gradients reduced together; 0: chosen by the model")
      ->check(check_whole_number, "UINT")
      ->capture_default_str();
  add_deadline(command, flags);
  auto* checkpoint =
      command
          .add_option("--checkpoint", flags.checkpoint.folder,
                      "save the training here while it runs; the two newest are kept")
          ->type_name("DIR");
  command
      .add_option("--every", flags.checkpoint.every,
                  "steps from one checkpoint to the next (default: once per epoch)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 60))
      ->needs(checkpoint);
  command
      .add_flag("--resume", flags.checkpoint.resume,
                "resume from the newest checkpoint, or begin if there is none")
      ->needs(checkpoint);
  add_number(command, "--restarts", training.device_restarts.restarts, 0, 1000,
             "restart devices that fail, so often within a minute, and resume from the last step "
             "that is committed; 0: their failure ends the run");
  add_number(command, "--commit-every", training.commit_every, std::uint64_t{1},
             std::uint64_t{1} << 60,
             "steps between two commits to host memory, from which the run resumes where it has no "
             "checkpoints");
  add_trace_file(command, flags);
  command.add_flag("--deterministic", training.deterministic, "two runs give identical bits");
  command.add_flag("--no-shuffle", flags.no_shuffle, "take the images in the order of the files");
  auto* json = command.add_flag("--json", flags.json,
                                "one JSON object per line on stdout, the last one the report");
  command.add_flag("--quiet", flags.quiet, "no progress, only the report")->excludes(json);
}

void add_env_options(CLI::App& command, EnvFlags& flags) { add_json(command, flags.json); }

void add_status_options(CLI::App& command, StatusFlags& flags) {
  command.add_flag("--json", flags.json, "one JSON object per line: a job each");
}

void add_trace_options(CLI::App& command, TraceFlags& flags) {
  command.add_option("FILE", flags.file, "what --trace or MILLRACE_TRACE has written")->required();
  command.add_option("--svg", flags.svg, "draw a picture")->type_name("OUT");
  command.add_option("--from", flags.from, "leave out what is before, in seconds")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--to", flags.to, "leave out what is after, in seconds")
      ->check(CLI::PositiveNumber);
  add_number(command, "--top", flags.top, std::size_t{0}, std::size_t{1'000'000},
             "kinds of events to print of each lane");
  command.add_flag("--all-lanes", flags.all_lanes,
                   "also draw the lanes that no batch passes through");
  add_json(command, flags.json);
}

void add_inspect_options(CLI::App& command, InspectFlags& flags) {
  add_program(command, flags.file);
  auto* ops = command.add_flag("--ops", flags.ops,
                               "run it on the CPU and print the time of each kind of step");
  command
      .add_option("--svg", flags.svg,
                  "draw what is in the memory of a run on the CPU, step by step")
      ->type_name("OUT")
      ->excludes(ops);
  auto* write = command.add_option("--write", flags.write,
                                   "write the program: as text, or as a portable artifact if OUT "
                                   "ends in .bc or .mlirbc");
  write->type_name("OUT")->excludes(ops);
  command
      .add_option("--vhlo", flags.vhlo,
                  "with --write: the artifact's version (default: the oldest from 1.0.0 on that "
                  "has all of it)")
      ->type_name("X.Y.Z")
      ->needs(write);
  add_plugins(command, flags.plugins);
  command.get_option("--plugin")
      ->excludes(ops)
      ->description(
          "also compile it with this PJRT plugin (or PJRT_DEVICE's), and print what that makes of "
          "it");
  add_inputs(command, flags.inputs);
  command.get_option("--input")->description(
      "an argument (.npy), in order; may be repeated: for a program of dynamic shapes, and for "
      "--ops (default there: random numbers)");
  command.get_option("--inputs")->description("arguments DIR/0.npy, DIR/1.npy, ...");
  add_number(command, "--repeat", flags.repeat, 1, 1'000'000,
             "with --ops: how often to run; medians are printed")
      .needs(ops);
  add_threads(command, flags)
      .description("with --ops: that run it (MILLRACE_THREADS; default: one per core)")
      ->needs(ops);
  add_deadline(command, flags);
  command
      .add_flag("--deterministic", flags.deterministic,
                "with --ops: the same bits with any number of threads")
      ->needs(ops);
  add_json(command, flags.json);
}

void add_conform_options(CLI::App& command, ConformFlags& flags) {
  command.add_option("PLUGIN", flags.plugin,
                     "the plugin: PATH or NAME=PATH, with its create options as "
                     "PATH,OPTION=VALUE...");
  add_list(command, "--option", flags.options, "OPTION=VALUE", "a create option; may be repeated");
  add_list(command, "--filter", flags.filters, "PATTERN",
           "only these checks: a name, a family, or a pattern with *; may be repeated");
  add_number(command, "--deadline", flags.deadline_seconds, 0.1, 1e6,
             "a check that takes longer has failed, in seconds");
  add_number(command, "--executions", flags.executions, 100, 100'000'000,
             "how often the checks that look for leaks do what they watch");
  command.add_option("--junit", flags.junit, "also write a report as JUnit does")
      ->type_name("FILE");
  auto* list = command.add_flag("--list", flags.list, "print the checks and what each wants");
  command
      .add_flag("--here", flags.here,
                "run the checks in this process, without a deadline: for a debugger")
      ->excludes(list);
  command.add_flag("--json", flags.json,
                   "one JSON object per line: each check, and at last how many passed");
}

// glibc takes 64 MiB of addresses for each thread that allocates: where these are limited, nothing
// would be left for what the threads do.
void allocate_in_few_arenas() {
  struct rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  static_cast<void>(
      ::mallopt(M_ARENA_MAX, static_cast<int>(1 + std::min(limit.rlim_cur >> 30, rlim_t{1024}))));
}

// The end of the process: at once where a plugin keeps a thread, for which exit() may wait.
int end_with(ExitCode code) {
  command_has_ended(code);
  if (!Runtime::left_behind()) return static_cast<int>(code);
  std::fflush(nullptr);
  ::_exit(static_cast<int>(code));
}

template <class Flags>
int call(const char* name, Result<ExitCode> (*command)(const Flags&, Console&),
         const Flags& flags) {
  const std::string words = std::string("millrace ") + name;
  Console console(words);
  watch_for_crashes(words, flags.json);
  const Result<ExitCode> result = [&]() -> Result<ExitCode> {
    try {
      return command(flags, console);
    } catch (const std::system_error& error) {  // a thread that could not be started
      return fail(ErrorCode::kResourceExhausted, error.what());
    } catch (const std::bad_alloc&) {
      return std::unexpected(detail::exception_to_error(std::current_exception()));
    }
  }();
  if (result) return end_with(*result);
  return end_with(report_error(result.error(), console, flags.json));
}

// A verb of the command: its options, and what it does with them.
struct Verb {
  const CLI::App* command;
  std::function<int()> run;
};

template <class Flags>
Verb add_verb(CLI::App& app, const char* name, const char* help,
              void (*add_options)(CLI::App&, Flags&),
              Result<ExitCode> (*command)(const Flags&, Console&)) {
  CLI::App& added = *app.add_subcommand(name, help);
  const auto flags = std::make_shared<Flags>();
  add_options(added, *flags);
  return {&added, [name, flags, command] { return call(name, command, *flags); }};
}

// Else the next files that are opened get the numbers of streams that are closed, and what is
// written to those. And a file that grows beyond the process's limit is an error with words.
void prepare_process() {
  int lowest = -1;
  do {
    lowest = ::open("/dev/null", O_RDWR);
  } while (lowest >= 0 && lowest <= STDERR_FILENO);
  if (lowest >= 0) ::close(lowest);
  std::signal(SIGXFSZ, SIG_IGN);
}

// What may follow the command: its options and verbs.
std::vector<std::string> words_of(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* verb : command.get_subcommands([](const CLI::App*) { return true; }))
    words.push_back(verb->get_name());
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  return words;
}

// One for which the words behind the value were not looked at.
bool is_of_value(const CLI::ParseError& error) {
  return dynamic_cast<const CLI::ValidationError*>(&error) != nullptr ||
         dynamic_cast<const CLI::ConversionError*>(&error) != nullptr ||
         dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;  // given twice
}

// words: what is wrong, and "; see ".
int usage_exit(const std::string& name, const std::string& words) {
  Console(name).error(Error(ErrorCode::kInvalidArgument, words + name + " --help"));
  return static_cast<int>(ExitCode::kUsage);
}

// Empty: launch was not asked for, or knows nothing better to say than the error does.
std::string hint_of_launch(const CLI::App& app, const CLI::ParseError& error,
                           const std::vector<std::string>& words) {
  const bool help = dynamic_cast<const CLI::CallForHelp*>(&error) != nullptr;
  if (!app.got_subcommand("launch") || is_of_value(error)) return "";
  if (error.get_exit_code() == 0 && !help) return "";
  const auto launch = std::ranges::find(words, "launch");
  if (launch == words.end()) return "";
  return launch_hint(*app.get_subcommand("launch"), {launch + 1, words.end()});
}

// CLI11 reports a missing option before an unknown word, though a slip in the word is often why it
// is missing.
int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  if (const auto chosen = app.get_subcommands(); !chosen.empty()) command = chosen.front();
  std::vector<std::string> unknown = command->remaining();  // before words that it left to app
  if (unknown.empty()) unknown = app.remaining(true);
  if (is_of_value(error)) unknown.clear();
  const std::string name = command == &app ? "millrace" : "millrace " + command->get_name();
  std::string words = error.what();
  const char* see = "; see ";
  if (!unknown.empty()) {
    words = "there is no option or command '" + unknown.front() + "'";
    if (const std::string meant = closest(unknown.front(), words_of(*command)); !meant.empty()) {
      words += "; did you mean '" + meant + "'?";
      see = " See ";
    }
  }
  return usage_exit(name, words + see);
}

}  // namespace

int main(int argc, char** argv) {
  prepare_process();
  allocate_in_few_arenas();
  CLI::App app("Millrace: an asynchronous actor runtime for accelerator devices", "millrace");
  app.set_version_flag("--version", version_text);
  app.require_subcommand(1);
  app.footer(
      "Environment: PJRT_DEVICE, CPU_NUM_DEVICES, MILLRACE_THREADS, MILLRACE_TRACE, "
      "MILLRACE_COMPILATION_CACHE, MILLRACE_LOG, NO_COLOR, CI "
      "(see README.md)");
  const Verb verbs[] = {
      add_verb(app, "devices", "list the devices (PJRT_DEVICE, CPU_NUM_DEVICES)",
               add_devices_options, devices_command),
      add_verb(app, "run", "compile and run a StableHLO program on arrays from .npy files",
               add_run_options, run_command),
      add_verb(app, "train", "train an exported model, data-parallel", add_train_options,
               train_command),
      add_verb(app, "inspect",
               "print what a program is made of, and where the time of a run of it goes",
               add_inspect_options, inspect_command),
      add_verb(app, "env",
               "print what this build is and what it finds here: libraries, processor, variables",
               add_env_options, env_command),
      {app.add_subcommand("completion",
                          "print a script that completes the command line in bash: source it"),
       [&app] {
         const Status printed = Console("millrace completion").data(bash_completion(app));
         return printed ? 0 : static_cast<int>(ExitCode::kFailure);
       }},
      add_verb(app, "trace", "print where the time of a timeline went, and draw it",
               add_trace_options, trace_command),
      add_verb(app, "conform",
               "check a PJRT plugin: each check in a process of its own, with a deadline",
               add_conform_options, conform_command),
      add_verb(app, "collectives",
               "check or time the collectives between all devices, of all ranks of a job",
               add_collectives_runs, collectives_command),
      add_verb(app, "launch", "run a program many times, as the ranks of one job on this host",
               add_launch_options, launch_command),
      add_verb(app, "serve", "answer inference requests over HTTP: the Open Inference Protocol v2",
               add_serving_options, serve_command),
      add_verb(app, "load", "load an inference server, and measure what it answers and how fast",
               add_load_options, load_command),
      add_verb(app, "status",
               "print the jobs of this user here: their ranks, and how far these are",
               add_status_options, status_command),
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (const std::string hint = hint_of_launch(app, error, {argv + 1, argv + argc}); !hint.empty())
      return usage_exit("millrace launch", hint + "; see ");
    // --help and --version come here too.
    if (error.get_exit_code() != 0) return report_usage(app, error);
    app.exit(error);
    return std::cout.flush() ? 0 : static_cast<int>(ExitCode::kFailure);
  }
  return std::ranges::find_if(verbs, [](const Verb& verb) { return verb.command->parsed(); })
      ->run();
}
