// Program: what a frontend exports (StableHLO), before any device has seen it. CompileOptions: how
// to compile it.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "millrace/core/base/braced.h"
#include "millrace/core/base/error.h"
#include "millrace/devices/buffer.h"

namespace millrace::devices {

// Value type, shares its text. Thread-safety: immutable.
class Program {
 public:
  // "mlir": StableHLO as text or as MLIR bytecode (a portable artifact): the first bytes say which.
  static Program from_text(std::string text, std::string name = "program");
  // The errors of core/base/read_file.h, which name the path; kInvalidArgument for an empty file or
  // one that is not regular. Blocking.
  static Result<Program> from_file(const std::string& path);

  std::string_view code() const { return *code_; }
  const std::string& name() const {
    return name_;
  }  // for messages: the file, or what the caller said

 private:
  Program(std::shared_ptr<const std::string> code, std::string name)
      : code_(std::move(code)), name_(std::move(name)) {}
  std::shared_ptr<const std::string> code_;
  std::string name_;
};

struct CompileOptions {
  // Devices that the program runs on: devices[replica * partitions + partition]; one entry = any
  // single device when portable, else that device.
  Braced<ListOf<DeviceId>> devices = ListOf<DeviceId>(DeviceId{0});
  int replicas = 1;
  int partitions = 1;
  // A program that spans processes of a job (Runtime::job): all of them compile it, with as many
  // devices each, replicas * partitions / processes, of which `devices` names this one's. Those of
  // the first process are the first of the program's. Each launch is made by all of them.
  int processes = 1;
  // True: one executable that may run on any one device of the client, chosen at each execution.
  bool portable = true;
  // True: it runs on any one device: `devices` say nothing.
  bool on_any_one() const { return portable && replicas == 1 && partitions == 1 && processes == 1; }
  // True: the same bits every time, whatever the number of threads (no choices by timing).
  bool deterministic = false;
  // A stop ends a compilation with kCancelled at its next stage; a plugin that cannot stop compiles
  // to the end.
  Braced<std::stop_token> stop = {};
  // Serialized CompileOptionsProto extras for a PJRT plugin, passed through.
  Braced<std::string> plugin_options = {};
};

}  // namespace millrace::devices
