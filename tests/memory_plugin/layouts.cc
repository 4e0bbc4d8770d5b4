// The extension Layouts: everything lies row after row.
#include "tests/memory_plugin/objects.h"

namespace millrace::memory_plugin {
namespace {

using Handle = abi::MemoryLayoutHandle;

Handle* handle(std::string* text) { return reinterpret_cast<Handle*>(text); }
std::string* text_of(Handle* layout) { return reinterpret_cast<std::string*>(layout); }

std::string row_after_row(std::size_t rank) {
  std::string text = "{";
  for (std::size_t i = rank; i-- > 0;) text += std::to_string(i) + (i > 0 ? "," : "");
  return text + "}";
}

abi::Error* of_executable(abi::LayoutsOfExecutableArgs* a, std::size_t count) {
  // Never freed: an executable's layouts live as long as any of its owners.
  static std::string layout = "{0}";
  static std::vector<Handle*> list(64, handle(&layout));
  a->count = count;
  a->layouts = list.data();
  return nullptr;
}

}  // namespace

conform::abi::LayoutsExtension make_layouts() {
  conform::abi::LayoutsExtension e{};
  e.struct_size = sizeof(e);
  e.type = conform::kLayoutsExtension;
  e.destroy = +[](abi::LayoutDestroyArgs* a) -> abi::Error* {
    delete text_of(a->layout);
    return nullptr;
  };
  e.serialize = +[](abi::LayoutSerializeArgs* a) -> abi::Error* {
    a->bytes = text_of(a->layout)->data();
    a->bytes_size = text_of(a->layout)->size();
    a->deleter = +[](abi::SerializedBytes* /*holder*/) {};
    return nullptr;
  };
  e.of_buffer = +[](abi::LayoutOfBufferArgs* a) -> abi::Error* {
    a->layout = handle(new std::string(row_after_row(a->buffer->dims.size())));
    return nullptr;
  };
  e.of_outputs = +[](abi::LayoutsOfExecutableArgs* a) -> abi::Error* {
    return of_executable(a, a->executable->compiled->program.outputs.size());
  };
  e.of_parameters = +[](abi::LayoutsOfExecutableArgs* a) -> abi::Error* {
    return of_executable(a, a->executable->compiled->program.inputs.size());
  };
  return e;
}

}  // namespace millrace::memory_plugin
