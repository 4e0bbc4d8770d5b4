// Errors: that mistakes are refused, and how they are told.
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

using Need = Check::Need;

constexpr const char* kNoProgram = "this is no program";

// The plugin's own error of a program that cannot be compiled.
Result<abi::Error*> error_of_bad_program(Rig& rig) {
  std::string text = kNoProgram;
  const std::string format = "mlir";
  const std::string options = rig.portable_options();
  abi::Program program = borrowed_program(text, format);
  abi::ClientCompileArgs args;
  MILLRACE_TRY(args.client, rig.client());
  args.program = &program;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  MILLRACE_TRY(abi::Error* const error, rig.table().raw(args));
  if (error == nullptr) return broken("a text that is no program is compiled");
  return error;
}

Status refused(const Result<HeldLoaded>& compiled, std::string_view what) {
  return expect_refused(compiled ? Status() : std::unexpected(compiled.error()), what);
}

Status bad_program(Rig& rig) {
  return refused(rig.compile(kNoProgram), "a text that is no program");
}

Status message(Rig& rig) {
  MILLRACE_TRY(abi::Error* const error, error_of_bad_program(rig));
  abi::ErrorMessageArgs args;
  args.error = error;
  MILLRACE_TRY_STATUS(rig.table().message(args));
  if (args.message == nullptr || args.message_size == 0) return broken("an error has no message");
  const std::string first(args.message, args.message_size);
  MILLRACE_TRY_STATUS(rig.table().message(args));
  const std::string second(args.message, args.message_size);
  MILLRACE_TRY_STATUS(rig.table().destroy(error));
  return first == second ? Status() : broken("an error has another message the second time");
}

Status code(Rig& rig) {
  MILLRACE_TRY(abi::Error* const error, error_of_bad_program(rig));
  abi::ErrorGetCodeArgs args;
  args.error = error;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  MILLRACE_TRY_STATUS(rig.table().destroy(error));
  if (args.code < static_cast<int>(ErrorCode::kCancelled) ||
      args.code > static_cast<int>(ErrorCode::kUnauthenticated)) {
    return broken("an error has the code " + std::to_string(args.code));
  }
  rig.note("a bad program is " +
           std::string(millrace::to_string(static_cast<ErrorCode>(args.code))));
  return {};
}

Status bad_format(Rig& rig) {
  MILLRACE_TRY(abi::Client* const client, rig.client());
  return refused(rig.compile_raw(client, add_program(), "no such format", rig.portable_options()),
                 "a format that does not exist");
}

Status bad_options(Rig& rig) {
  MILLRACE_TRY(abi::Client* const client, rig.client());
  return refused(rig.compile_raw(client, add_program(), "mlir", std::string("\xff\xff no options")),
                 "compile options that are none");
}

Status unknown_device(Rig& rig) {
  for (const int id : {-7, 1 << 20}) {
    abi::ClientLookupDeviceArgs args;
    MILLRACE_TRY(args.client, rig.client());
    args.id = id;
    MILLRACE_TRY_STATUS(expect_refused(rig.table().call(args), "device " + std::to_string(id)));
  }
  return {};
}

Status argument_count(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded add, rig.compile(add_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  const Result<Run> run = rig.execute(add.get(), {{x.get()}});
  return expect_refused(run ? Status() : std::unexpected(run.error()),
                        "one argument where there are two");
}

// At the launch, or by the result.
Status refused_launch(Rig& rig, const Result<Run>& run, std::string_view what) {
  if (!run) return expect_refused(std::unexpected(run.error()), what);
  return expect_refused(rig.wait_ready(run->outputs[0].get()), what);
}

Status argument_shape(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(Floats(8, 1)));
  return refused_launch(rig, rig.execute(increment.get(), {{x.get()}}),
                        "an argument of 8 elements where there are 4");
}

}  // namespace

std::vector<Check> error_checks() {
  return after({"compile.text"}, {
                                     {.name = "errors.bad_program",
                                      .wants = "a text that is no program is refused",
                                      .run = &bad_program,
                                      .need = Need::kMust},
                                     {.name = "errors.message",
                                      .wants = "an error has a message, which stays",
                                      .run = &message,
                                      .after = {"errors.bad_program"},
                                      .need = Need::kMust},
                                     {.name = "errors.code",
                                      .wants = "an error has one of the sixteen codes",
                                      .run = &code,
                                      .after = {"errors.bad_program"},
                                      .need = Need::kMust},
                                     {.name = "errors.bad_format",
                                      .wants = "a format that does not exist is refused",
                                      .run = &bad_format},
                                     {.name = "errors.bad_options",
                                      .wants = "compile options that cannot be read are refused",
                                      .run = &bad_options},
                                     {.name = "errors.unknown_device",
                                      .wants = "a device that does not exist is not found",
                                      .run = &unknown_device},
                                     {.name = "errors.argument_count",
                                      .wants = "a launch with too few arguments is refused",
                                      .run = &argument_count,
                                      .after = {"execute.result"}},
                                     {.name = "errors.argument_shape",
                                      .wants = "an argument of another shape is refused",
                                      .run = &argument_shape,
                                      .after = {"execute.result"}},
                                 });
}

}  // namespace millrace::conform
