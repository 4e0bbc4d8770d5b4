// The extensions Layouts, AbiVersion, which says whether an executable of another build can be
// loaded, and Stream, which lets a foreign stream wait for a buffer.
#include <algorithm>
#include <functional>
#include <memory>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family layouts_family("host.round_trip compile.text table.extensions");
Family interop_family("execute.result table.extensions");

namespace {

// Its text; the layout is destroyed.
Result<std::string> read(Rig& rig, abi::Layout* layout) {
  if (layout == nullptr) return broken("a layout is null");
  abi::LayoutSerializeArgs args{{}, layout};
  MILLRACE_TRY_STATUS(call(rig.table(), &abi::LayoutsExtension::serialize, args,
                           "PJRT_Layouts_MemoryLayout_Serialize"));
  std::string text(args.text, args.text_size);
  if (args.deleter != nullptr) args.deleter(args.owner);
  abi::LayoutDestroyArgs destroy{{}, layout};
  MILLRACE_TRY_STATUS(call(rig.table(), &abi::LayoutsExtension::destroy, destroy,
                           "PJRT_Layouts_MemoryLayout_Destroy"));
  if (text.empty()) return broken("a layout is empty");
  return text;
}

MILLRACE_CONFORM(layouts, buffer, "a buffer's layout is reported as a text", .need = kMay) {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  abi::BufferLayoutArgs args{{}, buffer};
  MILLRACE_TRY_STATUS(call(rig.table(), &abi::LayoutsExtension::of_buffer, args,
                           "PJRT_Layouts_PJRT_Buffer_MemoryLayout"));
  MILLRACE_TRY(const std::string text, read(rig, args.layout));
  return rig.note(text);
}

Status of_executable(Rig& rig,
                     abi::Function<abi::ExecutableLayoutsArgs> abi::LayoutsExtension::* which,
                     std::size_t wanted, const char* what) {
  MILLRACE_TRY(const HeldLoaded add, rig.compile(add_program()));
  MILLRACE_TRY(const HeldExecutable executable, rig.executable(add));
  abi::ExecutableLayoutsArgs args{{}, executable};
  MILLRACE_TRY_STATUS(call(rig.table(), which, args, what));
  if (args.num_layouts != wanted) {
    return broken("there are ", args.num_layouts, " layouts of ", wanted);
  }
  // The array and its layouts are the executable's.
  const auto missing = std::count(args.layouts, args.layouts + wanted, nullptr);
  return expect(missing == 0, "a layout is null");
}

MILLRACE_CONFORM(layouts, parameters, "every argument has a layout", .need = kMay) {
  return of_executable(rig, &abi::LayoutsExtension::of_parameters, 2,
                       "PJRT_Layouts_PJRT_Executable_GetParameterLayouts");
}

MILLRACE_CONFORM(layouts, results, "every result has a layout", .need = kMay) {
  return of_executable(rig, &abi::LayoutsExtension::of_outputs, 1,
                       "PJRT_Layouts_PJRT_Executable_GetOutputLayouts");
}

using Version = abi::AbiVersionHandle;
// Destroyed by a function of the extension; a failure is trouble.
using HeldVersion = std::unique_ptr<Version, std::function<void(Version*)>>;

HeldVersion hold(Rig& rig, Version* version,
                 abi::Function<abi::AbiVersionDestroyArgs> abi::AbiVersionExtension::* destroy) {
  return {version, [&rig, destroy](Version* held) {
            abi::AbiVersionDestroyArgs args{.version = held};
            const Status done = call(rig.table(), destroy, args, "to destroy an ABI version");
            if (!done) rig.trouble().note(done.error());
          }};
}

Result<HeldVersion> of_increment(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldExecutable executable, rig.executable(increment));
  abi::AbiVersionOfExecutableArgs args{.executable = executable};
  MILLRACE_TRY_STATUS(call(rig.table(), &abi::AbiVersionExtension::of_executable, args,
                           "PJRT_Executable_GetAbiVersion"));
  if (args.version == nullptr) return broken("an executable has no ABI version");
  return hold(rig, args.version, &abi::AbiVersionExtension::destroy_of_executable);
}

MILLRACE_CONFORM(interop, abi_version, "an executable's ABI version is reported as bytes") {
  MILLRACE_TRY(const HeldVersion version, of_increment(rig));
  abi::AbiVersionBytesArgs args{.version = version.get()};
  MILLRACE_TRY_STATUS(call(rig.table(), &abi::AbiVersionExtension::bytes_of_executable, args,
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
  MILLRACE_TRY_STATUS(call(rig.table(), &abi::AbiVersionExtension::of_client, of_client,
                           "PJRT_Client_RuntimeAbiVersion"));
  if (of_client.version == nullptr) return broken("a client has no ABI version");
  const HeldVersion client =
      hold(rig, of_client.version, &abi::AbiVersionExtension::destroy_of_client);
  MILLRACE_TRY(const HeldVersion version, of_increment(rig));
  abi::AbiVersionCompatibleArgs args{.version = client.get(), .other = version.get()};
  const Status reported = call(rig.table(), &abi::AbiVersionExtension::client_with_executable, args,
                               "PJRT_RuntimeAbiVersion_IsCompatibleWithExecutable");
  if (reported || reported.error().code() == ErrorCode::kUnimplemented) return reported;
  return broken("a client cannot load what it has compiled itself: ", reported.error().message());
}

MILLRACE_CONFORM(interop, stream, "a foreign stream can wait for a buffer") {
  abi::StreamOfDeviceArgs get;
  MILLRACE_TRY(get.device, rig.device());
  MILLRACE_TRY_STATUS(call(rig.table(), &abi::StreamExtension::of_device, get,
                           "PJRT_Get_Stream_For_External_Ready_Events"));
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  abi::StreamWaitArgs wait{.stream = get.stream, .buffer = buffer};
  MILLRACE_TRY_STATUS(call(rig.table(), &abi::StreamExtension::wait, wait,
                           "PJRT_Wait_Until_Buffer_Ready_On_Stream"));
  return rig.expect(buffer, numbers(), "the buffer that a stream has waited for");
}

}  // namespace
}  // namespace millrace::conform
