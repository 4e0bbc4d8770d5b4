// Executables as bytes.
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

using Need = Check::Need;

Result<std::string> serialized(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldExecutable executable, rig.executable(increment.get()));
  abi::ExecutableSerializeArgs args;
  args.executable = executable.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.serialized_executable_deleter == nullptr) {
    return broken("there is nothing that frees the bytes");
  }
  std::string bytes(args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_executable_deleter(args.serialized_executable);
  if (bytes.empty()) return broken("there are no bytes");
  return bytes;
}

Result<HeldLoaded> load(Rig& rig, abi::Client* client, const std::string& bytes) {
  abi::ExecutableDeserializeAndLoadArgs args;
  args.client = client;
  args.serialized_executable = bytes.data();
  args.serialized_executable_size = bytes.size();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.loaded_executable == nullptr) return broken("there is no executable");
  return rig.hold(args.loaded_executable);
}

Status round_trip(Rig& rig) {
  MILLRACE_TRY(const std::string bytes, serialized(rig));
  MILLRACE_TRY(abi::Client* const client, rig.client());
  MILLRACE_TRY(const HeldLoaded loaded, load(rig, client, bytes));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(loaded.get(), x.get()));
  MILLRACE_TRY(const Floats got, rig.get(y.get()));
  rig.note(std::to_string(bytes.size()) + " bytes");
  return expect_floats(got, Floats{2, 3, 4, 5}, "the result of what was loaded");
}

Status other_client(Rig& rig) {
  MILLRACE_TRY(const std::string bytes, serialized(rig));
  // The one that compiled it goes first.
  MILLRACE_TRY_STATUS(rig.restart());
  MILLRACE_TRY(abi::Client* const client, rig.client());
  MILLRACE_TRY(const HeldLoaded loaded, load(rig, client, bytes));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(loaded.get(), x.get()));
  MILLRACE_TRY(const Floats got, rig.get(y.get()));
  return expect_floats(got, Floats{2, 3, 4, 5}, "the result of what was loaded");
}

Status refused(Rig& rig, const std::string& bytes, const char* what) {
  MILLRACE_TRY(abi::Client* const client, rig.client());
  const Result<HeldLoaded> loaded = load(rig, client, bytes);
  return expect_refused(loaded ? Status() : std::unexpected(loaded.error()), what);
}

Status cut(Rig& rig) {
  MILLRACE_TRY(const std::string bytes, serialized(rig));
  return refused(rig, bytes.substr(0, bytes.size() / 2), "half an executable");
}

Status nonsense(Rig& rig) { return refused(rig, std::string(100, '\x7f'), "what is none"); }

}  // namespace

std::vector<Check> serialize_checks() {
  return after({"execute.result"},
               {
                   {.name = "serialize.round_trip",
                    .wants = "an executable that became bytes and was loaded again works",
                    .run = &round_trip},
                   {.name = "serialize.other_client",
                    .wants = "another client can load the bytes of one that is gone",
                    .run = &other_client,
                    .after = {"serialize.round_trip", "client.create_again"}},
                   {.name = "serialize.cut",
                    .wants = "half of the bytes are refused",
                    .run = &cut,
                    .after = {"serialize.round_trip"}},
                   {.name = "serialize.nonsense",
                    .wants = "bytes that are no executable are refused",
                    .run = &nonsense},
               });
}

}  // namespace millrace::conform
