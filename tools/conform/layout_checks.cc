// The extension Layouts.
#include <algorithm>

#include "millrace/tools/conform/extensions.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family layouts_family("host.round_trip compile.text table.extensions");

namespace {

using Extension = abi::LayoutsExtension;

// Its text; the layout is destroyed.
Result<std::string> read(Rig& rig, abi::Layout* layout) {
  if (layout == nullptr) return broken("a layout is null");
  abi::LayoutSerializeArgs args{{}, layout};
  MILLRACE_TRY_STATUS(
      call(rig.table(), &Extension::serialize, args, "PJRT_Layouts_MemoryLayout_Serialize"));
  std::string text(args.text, args.text_size);
  if (args.deleter != nullptr) args.deleter(args.owner);
  abi::LayoutDestroyArgs destroy{{}, layout};
  MILLRACE_TRY_STATUS(
      call(rig.table(), &Extension::destroy, destroy, "PJRT_Layouts_MemoryLayout_Destroy"));
  if (text.empty()) return broken("a layout is empty");
  return text;
}

MILLRACE_CONFORM(layouts, buffer, "a buffer's layout is told as a text", .need = kMay) {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  abi::BufferLayoutArgs args{{}, buffer.get()};
  MILLRACE_TRY_STATUS(
      call(rig.table(), &Extension::of_buffer, args, "PJRT_Layouts_PJRT_Buffer_MemoryLayout"));
  MILLRACE_TRY(const std::string text, read(rig, args.layout));
  return rig.note(text);
}

Status of_executable(Rig& rig, abi::Function<abi::ExecutableLayoutsArgs> Extension::* which,
                     std::size_t wanted, const char* what) {
  MILLRACE_TRY(const HeldLoaded add, rig.compile(add_program()));
  MILLRACE_TRY(const HeldExecutable executable, rig.executable(add.get()));
  abi::ExecutableLayoutsArgs args{{}, executable.get()};
  MILLRACE_TRY_STATUS(call(rig.table(), which, args, what));
  if (args.num_layouts != wanted) {
    return broken("there are ", args.num_layouts, " layouts of ", wanted);
  }
  // The array and its layouts are the executable's.
  const auto missing = std::count(args.layouts, args.layouts + wanted, nullptr);
  return expect(missing == 0, "a layout is null");
}

MILLRACE_CONFORM(layouts, parameters, "every argument has a layout", .need = kMay) {
  return of_executable(rig, &Extension::of_parameters, 2,
                       "PJRT_Layouts_PJRT_Executable_GetParameterLayouts");
}

MILLRACE_CONFORM(layouts, results, "every result has a layout", .need = kMay) {
  return of_executable(rig, &Extension::of_outputs, 1,
                       "PJRT_Layouts_PJRT_Executable_GetOutputLayouts");
}

}  // namespace
}  // namespace millrace::conform
