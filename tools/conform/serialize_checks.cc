// Executables as bytes.
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family serialize_family("execute.result");

namespace {

Result<std::string> serialized(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldExecutable executable, rig.executable(increment.get()));
  MILLRACE_TRY(const auto args, rig.ask<abi::ExecutableSerializeArgs>(executable.get()));
  if (args.serialized_executable_deleter == nullptr) {
    return broken("there is nothing that frees the bytes");
  }
  std::string bytes(args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_executable_deleter(args.serialized_executable);
  if (bytes.empty()) return broken("there are no bytes");
  return bytes;
}

Result<HeldLoaded> load(Rig& rig, const std::string& bytes) {
  MILLRACE_TRY(const auto args,
               rig.ask_client<abi::ExecutableDeserializeAndLoadArgs>(bytes.data(), bytes.size()));
  if (args.loaded_executable == nullptr) return broken("there is no executable");
  return rig.hold(args.loaded_executable);
}

Status expect_increment(Rig& rig, const std::string& bytes) {
  MILLRACE_TRY(const HeldLoaded loaded, load(rig, bytes));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(loaded.get(), x.get()));
  return rig.expect(y.get(), numbers(1), "the result of what was loaded");
}

MILLRACE_CONFORM(serialize, round_trip,
                 "an executable that became bytes and was loaded again works") {
  MILLRACE_TRY(const std::string bytes, serialized(rig));
  static_cast<void>(rig.note(bytes.size(), " bytes"));
  return expect_increment(rig, bytes);
}

MILLRACE_CONFORM(serialize, other_client, "another client can load the bytes of one that is gone",
                 .after = "serialize.round_trip client.create_again") {
  MILLRACE_TRY(const std::string bytes, serialized(rig));
  // The one that compiled it goes first.
  MILLRACE_TRY_STATUS(rig.close());
  return expect_increment(rig, bytes);
}

MILLRACE_CONFORM(serialize, cut, "half of the bytes are refused", .after = "serialize.round_trip") {
  MILLRACE_TRY(const std::string bytes, serialized(rig));
  return expect_refused(load(rig, bytes.substr(0, bytes.size() / 2)), "half an executable");
}

MILLRACE_CONFORM(serialize, nonsense, "bytes that are no executable are refused") {
  return expect_refused(load(rig, std::string(100, '\x7f')), "what is none");
}

}  // namespace
}  // namespace millrace::conform
