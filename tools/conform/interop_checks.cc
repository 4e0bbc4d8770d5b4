// Extensions that let others work with a plugin: AbiVersion, which says whether an executable of
// another build can be loaded, and Stream, which lets a foreign stream wait for a buffer.
#include <functional>
#include <memory>

#include "millrace/tools/conform/extensions.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family interop_family("execute.result table.extensions");

namespace {

using Extension = abi::AbiVersionExtension;
using Version = abi::AbiVersionHandle;
// Destroyed by a function of the extension; a failure is trouble.
using HeldVersion = std::unique_ptr<Version, std::function<void(Version*)>>;

HeldVersion hold(Rig& rig, Version* version,
                 abi::Function<abi::AbiVersionDestroyArgs> Extension::* destroy) {
  return {version, [&rig, destroy](Version* held) {
            abi::AbiVersionDestroyArgs args{.version = held};
            const Status done = call(rig.table(), destroy, args, "to destroy an ABI version");
            if (!done) rig.trouble().note(done.error());
          }};
}

Result<HeldVersion> of_increment(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldExecutable executable, rig.executable(increment.get()));
  abi::AbiVersionOfExecutableArgs args{.executable = executable.get()};
  MILLRACE_TRY_STATUS(
      call(rig.table(), &Extension::of_executable, args, "PJRT_Executable_GetAbiVersion"));
  if (args.version == nullptr) return broken("an executable has no ABI version");
  return hold(rig, args.version, &Extension::destroy_of_executable);
}

MILLRACE_CONFORM(interop, abi_version, "an executable's ABI version is told as bytes") {
  MILLRACE_TRY(const HeldVersion version, of_increment(rig));
  abi::AbiVersionBytesArgs args{.version = version.get()};
  MILLRACE_TRY_STATUS(call(rig.table(), &Extension::bytes_of_executable, args,
                           "PJRT_ExecutableAbiVersion_ToProto"));
  const std::size_t size = args.bytes_size;
  if (args.deleter != nullptr) args.deleter(args.holder);
  static_cast<void>(rig.note(size, " bytes"));
  return expect(size > 0, "there are no bytes");
}

MILLRACE_CONFORM(interop, compatible, "a client can load what it has compiled itself, and says so",
                 .after = "interop.abi_version") {
  abi::AbiVersionOfClientArgs of_client;
  MILLRACE_TRY(of_client.client, rig.client());
  MILLRACE_TRY_STATUS(
      call(rig.table(), &Extension::of_client, of_client, "PJRT_Client_RuntimeAbiVersion"));
  if (of_client.version == nullptr) return broken("a client has no ABI version");
  const HeldVersion client = hold(rig, of_client.version, &Extension::destroy_of_client);
  MILLRACE_TRY(const HeldVersion version, of_increment(rig));
  abi::AbiVersionCompatibleArgs args{.version = client.get(), .other = version.get()};
  const Status told = call(rig.table(), &Extension::client_with_executable, args,
                           "PJRT_RuntimeAbiVersion_IsCompatibleWithExecutable");
  if (told || told.error().code() == ErrorCode::kUnimplemented) return told;
  return broken("a client cannot load what it has compiled itself: ", told.error().message());
}

MILLRACE_CONFORM(interop, stream, "a foreign stream can wait for a buffer") {
  abi::StreamOfDeviceArgs get;
  MILLRACE_TRY(get.device, rig.device());
  MILLRACE_TRY_STATUS(call(rig.table(), &abi::StreamExtension::of_device, get,
                           "PJRT_Get_Stream_For_External_Ready_Events"));
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  abi::StreamWaitArgs wait{.stream = get.stream, .buffer = buffer.get()};
  MILLRACE_TRY_STATUS(call(rig.table(), &abi::StreamExtension::wait, wait,
                           "PJRT_Wait_Until_Buffer_Ready_On_Stream"));
  return rig.expect(buffer.get(), numbers(), "the buffer that a stream has waited for");
}

}  // namespace
}  // namespace millrace::conform
