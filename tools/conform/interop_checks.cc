// Extensions that let others work with a plugin: AbiVersion, which says whether an executable of
// another build can be loaded, and Stream, which lets a foreign stream wait for a buffer.
#include "millrace/tools/conform/extensions.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

using Need = Check::Need;

template <class E>
Result<const E*> extension(Rig& rig, int type) {
  const auto* found = static_cast<const E*>(find_extension(rig.table(), type));
  if (found == nullptr) return lacks("there is no extension " + extension_name(type));
  if (found->struct_size < sizeof(E)) {
    return lacks("the extension " + extension_name(type) + " has " +
                 std::to_string(found->struct_size) + " of " + std::to_string(sizeof(E)) +
                 " bytes");
  }
  return found;
}

template <class A>
Status call(Rig& rig, abi::Function<A> function, A& args, const char* what) {
  if (function == nullptr) return lacks(std::string("there is no ") + what);
  args.struct_size = sizeof(A);
  abi::Error* const error = function(&args);
  if (error == nullptr) return {};
  return std::unexpected(rig.table().take_error(error, what));
}

// Destroys what the extension made.
template <class A>
class HeldVersion {
 public:
  HeldVersion(Rig& rig, abi::Function<A> destroy, abi::AbiVersionHandle* handle)
      : rig_(rig), destroy_(destroy), handle_(handle) {}
  HeldVersion(const HeldVersion&) = delete;
  HeldVersion& operator=(const HeldVersion&) = delete;
  ~HeldVersion() {
    A args;
    args.version = handle_;
    const Status done = call(rig_, destroy_, args, "function that destroys an ABI version");
    if (!done) rig_.trouble().note(done.error());
  }

 private:
  Rig& rig_;
  abi::Function<A> destroy_;
  abi::AbiVersionHandle* handle_;
};
using Destroying = HeldVersion<abi::AbiVersionDestroyArgs>;

Result<abi::AbiVersionHandle*> of_increment(Rig& rig, const abi::AbiVersionExtension& e) {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldExecutable executable, rig.executable(increment.get()));
  abi::AbiVersionOfExecutableArgs args;
  args.executable = executable.get();
  MILLRACE_TRY_STATUS(call(rig, e.of_executable, args, "PJRT_Executable_GetAbiVersion"));
  if (args.version == nullptr) return broken("an executable has no ABI version");
  return args.version;
}

Status bytes(Rig& rig) {
  MILLRACE_TRY(const auto* const e, extension<abi::AbiVersionExtension>(rig, kAbiVersionExtension));
  MILLRACE_TRY(abi::AbiVersionHandle* const version, of_increment(rig, *e));
  const Destroying held(rig, e->destroy_of_executable, version);
  abi::AbiVersionBytesArgs args;
  args.version = version;
  MILLRACE_TRY_STATUS(call(rig, e->bytes_of_executable, args, "PJRT_ExecutableAbiVersion_ToProto"));
  const std::size_t size = args.bytes_size;
  if (args.deleter != nullptr) args.deleter(args.holder);
  rig.note(std::to_string(size) + " bytes");
  return size > 0 ? Status() : broken("there are no bytes");
}

Status compatible(Rig& rig) {
  MILLRACE_TRY(const auto* const e, extension<abi::AbiVersionExtension>(rig, kAbiVersionExtension));
  abi::AbiVersionOfClientArgs of_client;
  MILLRACE_TRY(of_client.client, rig.client());
  MILLRACE_TRY_STATUS(call(rig, e->of_client, of_client, "PJRT_Client_RuntimeAbiVersion"));
  if (of_client.version == nullptr) return broken("a client has no ABI version");
  const Destroying held_client(rig, e->destroy_of_client, of_client.version);
  MILLRACE_TRY(abi::AbiVersionHandle* const version, of_increment(rig, *e));
  const Destroying held(rig, e->destroy_of_executable, version);
  abi::AbiVersionCompatibleArgs args;
  args.version = of_client.version;
  args.other = version;
  const Status told = call(rig, e->client_with_executable, args,
                           "PJRT_RuntimeAbiVersion_IsCompatibleWithExecutable");
  if (told || told.error().code() == ErrorCode::kUnimplemented) return told;
  return broken("a client cannot load what it has compiled itself: " + told.error().message());
}

Status stream(Rig& rig) {
  MILLRACE_TRY(const auto* const e, extension<abi::StreamExtension>(rig, kStreamExtension));
  abi::StreamOfDeviceArgs get;
  MILLRACE_TRY(get.device, rig.device());
  MILLRACE_TRY_STATUS(call(rig, e->of_device, get, "PJRT_Get_Stream_For_External_Ready_Events"));
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  abi::StreamWaitArgs wait;
  wait.stream = get.stream;
  wait.buffer = buffer.get();
  MILLRACE_TRY_STATUS(call(rig, e->wait, wait, "PJRT_Wait_Until_Buffer_Ready_On_Stream"));
  MILLRACE_TRY(const Floats got, rig.get(buffer.get()));
  return expect_floats(got, numbers(), "the buffer that a stream has waited for");
}

}  // namespace

std::vector<Check> interop_checks() {
  return after({"execute.result", "table.extensions"},
               {
                   {.name = "interop.abi_version",
                    .wants = "an executable's ABI version is told as bytes",
                    .run = &bytes},
                   {.name = "interop.compatible",
                    .wants = "a client can load what it has compiled itself, and says so",
                    .run = &compatible,
                    .after = {"interop.abi_version"}},
                   {.name = "interop.stream",
                    .wants = "a foreign stream can wait for a buffer",
                    .run = &stream},
               });
}

}  // namespace millrace::conform
