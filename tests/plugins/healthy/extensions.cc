// The extensions. Layouts: everything lies row after row. AbiVersion: there is one version. Stream:
// a stream is the thread that waits.
#include "tests/plugins/healthy/objects.h"

namespace millrace::memory_plugin {
namespace {

using Handle = abi::Layout;

Handle* handle(std::string* text) { return reinterpret_cast<Handle*>(text); }
std::string* text_of(Handle* layout) { return reinterpret_cast<std::string*>(layout); }

std::string row_after_row(std::size_t rank) {
  std::string text = "{";
  for (std::size_t i = rank; i-- > 0;) text += std::to_string(i) + (i > 0 ? "," : "");
  return text + "}";
}

abi::Error* of_executable(abi::ExecutableLayoutsArgs* a, std::size_t count) {
  // Never freed: an executable's layouts live as long as any of its owners.
  static std::string layout = "{0}";
  static std::vector<Handle*> list(64, handle(&layout));
  a->num_layouts = count;
  a->layouts = list.data();
  return nullptr;
}

}  // namespace

abi::AbiVersionExtension make_abi_versions() {
  abi::AbiVersionExtension e{};
  e.struct_size = sizeof(e);
  e.type = abi::kAbiVersionExtension;
  using Version = abi::AbiVersionHandle;
  e.of_client = +[](abi::AbiVersionOfClientArgs* a) -> abi::Error* {
    a->version = reinterpret_cast<Version*>(new int(1));
    return nullptr;
  };
  e.of_executable = +[](abi::AbiVersionOfExecutableArgs* a) -> abi::Error* {
    a->version = reinterpret_cast<Version*>(new int(1));
    return nullptr;
  };
  e.destroy_of_client = e.destroy_of_executable =
      +[](abi::AbiVersionDestroyArgs* a) -> abi::Error* {
    delete reinterpret_cast<int*>(a->version);
    return nullptr;
  };
  e.client_with_client = e.client_with_executable =
      +[](abi::AbiVersionCompatibleArgs* a) -> abi::Error* {
    const bool same = *reinterpret_cast<int*>(a->version) == *reinterpret_cast<int*>(a->other);
    return same ? nullptr : make_error(kFailedPrecondition, "of another version");
  };
  e.bytes_of_client = e.bytes_of_executable = +[](abi::AbiVersionBytesArgs* a) -> abi::Error* {
    a->bytes = "1";
    a->bytes_size = 1;
    a->deleter = +[](abi::SerializedBytes* /*holder*/) {};
    return nullptr;
  };
  return e;
}

abi::StreamExtension make_streams() {
  abi::StreamExtension e{};
  e.struct_size = sizeof(e);
  e.type = abi::kStreamExtension;
  e.of_device = +[](abi::StreamOfDeviceArgs* a) -> abi::Error* {
    a->stream = reinterpret_cast<std::intptr_t>(a->device);
    return nullptr;
  };
  e.wait = +[](abi::StreamWaitArgs* a) -> abi::Error* {
    a->buffer->ready->wait();
    return nullptr;
  };
  return e;
}

abi::LayoutsExtension make_layouts() {
  abi::LayoutsExtension e{};
  e.struct_size = sizeof(e);
  e.type = abi::kLayoutsExtension;
  e.destroy = +[](abi::LayoutDestroyArgs* a) -> abi::Error* {
    delete text_of(a->layout);
    return nullptr;
  };
  e.serialize = +[](abi::LayoutSerializeArgs* a) -> abi::Error* {
    a->text = text_of(a->layout)->data();
    a->text_size = text_of(a->layout)->size();
    a->deleter = +[](abi::SerializedLayout* /*owner*/) {};
    return nullptr;
  };
  e.client_default = +[](abi::ClientDefaultLayoutArgs* a) -> abi::Error* {
    a->layout = handle(new std::string(row_after_row(a->num_dims)));
    return nullptr;
  };
  e.of_buffer = +[](abi::BufferLayoutArgs* a) -> abi::Error* {
    a->layout = handle(new std::string(row_after_row(a->buffer->dims.size())));
    return nullptr;
  };
  e.of_outputs = +[](abi::ExecutableLayoutsArgs* a) -> abi::Error* {
    return of_executable(a, a->executable->compiled->program.outputs.size());
  };
  e.of_parameters = +[](abi::ExecutableLayoutsArgs* a) -> abi::Error* {
    return of_executable(a, a->executable->compiled->program.inputs.size());
  };
  return e;
}

}  // namespace millrace::memory_plugin
