// The extension Layouts.
#include "millrace/tools/conform/extensions.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

using Need = Check::Need;

// The extension, if it goes as far as `function`, one of its own.
template <class F>
Result<const abi::LayoutsExtension*> layouts(Rig& rig, F abi::LayoutsExtension::* function) {
  const abi::Extension* found = find_extension(rig.table(), kLayoutsExtension);
  if (found == nullptr) return lacks("there is no extension Layouts");
  const auto* extension = static_cast<const abi::LayoutsExtension*>(found);
  // Its functions grew with its versions.
  if (extension->struct_size < abi::end_in_layouts(function) || extension->*function == nullptr) {
    return lacks("the extension Layouts of " + std::to_string(extension->struct_size) +
                 " bytes has not this function");
  }
  return extension;
}

template <class A>
Status call(Rig& rig, abi::Function<A> function, A& args, const char* what) {
  args.struct_size = sizeof(A);
  abi::Error* const error = function(&args);
  if (error == nullptr) return {};
  return std::unexpected(rig.table().take_error(error, what));
}

// Its text; the layout is destroyed.
Result<std::string> read(Rig& rig, const abi::LayoutsExtension& extension, abi::Layout* layout) {
  if (layout == nullptr) return broken("a layout is null");
  abi::LayoutSerializeArgs args;
  args.layout = layout;
  MILLRACE_TRY_STATUS(call(rig, extension.serialize, args, "PJRT_Layouts_MemoryLayout_Serialize"));
  std::string text(args.text, args.text_size);
  if (args.deleter != nullptr) args.deleter(args.owner);
  abi::LayoutDestroyArgs destroy;
  destroy.layout = layout;
  MILLRACE_TRY_STATUS(call(rig, extension.destroy, destroy, "PJRT_Layouts_MemoryLayout_Destroy"));
  if (text.empty()) return broken("a layout is empty");
  return text;
}

Status of_buffer(Rig& rig) {
  MILLRACE_TRY(const auto* const extension, layouts(rig, &abi::LayoutsExtension::of_buffer));
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  abi::BufferLayoutArgs args;
  args.buffer = buffer.get();
  MILLRACE_TRY_STATUS(
      call(rig, extension->of_buffer, args, "PJRT_Layouts_PJRT_Buffer_MemoryLayout"));
  MILLRACE_TRY(const std::string text, read(rig, *extension, args.layout));
  rig.note(text);
  return {};
}

Status of_executable(Rig& rig,
                     abi::Function<abi::ExecutableLayoutsArgs> abi::LayoutsExtension::* which,
                     std::size_t wanted, const char* what) {
  MILLRACE_TRY(const auto* const extension, layouts(rig, which));
  MILLRACE_TRY(const HeldLoaded add, rig.compile(add_program()));
  MILLRACE_TRY(const HeldExecutable executable, rig.executable(add.get()));
  abi::ExecutableLayoutsArgs args;
  args.executable = executable.get();
  MILLRACE_TRY_STATUS(call(rig, extension->*which, args, what));
  if (args.num_layouts != wanted) {
    return broken("there are " + std::to_string(args.num_layouts) + " layouts of " +
                  std::to_string(wanted));
  }
  // The array and its layouts are the executable's.
  for (std::size_t i = 0; i < args.num_layouts; ++i) {
    if (args.layouts[i] == nullptr) return broken("a layout is null");
  }
  return {};
}

Status of_parameters(Rig& rig) {
  return of_executable(rig, &abi::LayoutsExtension::of_parameters, 2,
                       "PJRT_Layouts_PJRT_Executable_GetParameterLayouts");
}

Status of_results(Rig& rig) {
  return of_executable(rig, &abi::LayoutsExtension::of_outputs, 1,
                       "PJRT_Layouts_PJRT_Executable_GetOutputLayouts");
}

}  // namespace

std::vector<Check> layout_checks() {
  return after({"host.round_trip", "compile.text", "table.extensions"},
               {
                   {.name = "layouts.buffer",
                    .wants = "a buffer's layout is told as a text",
                    .run = &of_buffer,
                    .need = Need::kMay},
                   {.name = "layouts.parameters",
                    .wants = "every argument has a layout",
                    .run = &of_parameters,
                    .need = Need::kMay},
                   {.name = "layouts.results",
                    .wants = "every result has a layout",
                    .run = &of_results,
                    .need = Need::kMay},
               });
}

}  // namespace millrace::conform
