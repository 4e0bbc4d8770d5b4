// Errors: that mistakes are refused, and how they are told.
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family errors_family("compile.text");

namespace {

constexpr const char* kNoProgram = "this is no program";

// The plugin's own error of a program that cannot be compiled.
Result<abi::Error*> error_of_bad_program(Rig& rig) {
  std::string text = kNoProgram;
  const std::string format = "mlir";
  const std::string options = rig.portable_options();
  abi::Program program = borrowed_program(text, format);
  MILLRACE_TRY(abi::Client* const client, rig.client());
  abi::ClientCompileArgs args{{}, client, &program, options.data(), options.size()};
  MILLRACE_TRY(abi::Error* const error, rig.table().raw(args));
  if (error == nullptr) return broken("a text that is no program is compiled");
  return error;
}

MILLRACE_CONFORM(errors, bad_program, "a text that is no program is refused", .need = kMust) {
  return expect_refused(rig.compile(kNoProgram), "a text that is no program");
}

MILLRACE_CONFORM(errors, message, "an error has a message, which stays",
                 .after = "errors.bad_program", .need = kMust) {
  MILLRACE_TRY(abi::Error* const error, error_of_bad_program(rig));
  abi::ErrorMessageArgs args;
  args.error = error;
  MILLRACE_TRY_STATUS(rig.table().message(args));
  if (args.message == nullptr || args.message_size == 0) return broken("an error has no message");
  const std::string first(args.message, args.message_size);
  MILLRACE_TRY_STATUS(rig.table().message(args));
  const std::string second(args.message, args.message_size);
  MILLRACE_TRY_STATUS(rig.table().destroy(error));
  return expect(first == second, "an error has another message the second time");
}

MILLRACE_CONFORM(errors, code, "an error has one of the sixteen codes",
                 .after = "errors.bad_program", .need = kMust) {
  MILLRACE_TRY(abi::Error* const error, error_of_bad_program(rig));
  MILLRACE_TRY(const auto args, rig.ask<abi::ErrorGetCodeArgs>(error));
  MILLRACE_TRY_STATUS(rig.table().destroy(error));
  if (args.code < static_cast<int>(ErrorCode::kCancelled) ||
      args.code > static_cast<int>(ErrorCode::kUnauthenticated)) {
    return broken("an error has the code ", args.code);
  }
  return rig.note("a bad program is ", millrace::to_string(static_cast<ErrorCode>(args.code)));
}

MILLRACE_CONFORM(errors, bad_format, "a format that does not exist is refused") {
  return expect_refused(rig.compile_raw(add_program(), "no such format", rig.portable_options()),
                        "a format that does not exist");
}

MILLRACE_CONFORM(errors, bad_options, "compile options that cannot be read are refused") {
  return expect_refused(rig.compile_raw(add_program(), "mlir", "\xff\xff no options"),
                        "compile options that are none");
}

MILLRACE_CONFORM(errors, unknown_device, "a device that does not exist is not found") {
  for (const int id : {-7, 1 << 20}) {
    MILLRACE_TRY_STATUS(expect_refused(rig.ask_client<abi::ClientLookupDeviceArgs>(id),
                                       "device " + std::to_string(id)));
  }
  return {};
}

MILLRACE_CONFORM(errors, argument_count, "a launch with too few arguments is refused",
                 .after = "execute.result") {
  MILLRACE_TRY(const Launch l, rig.prepare(add_program(), numbers()));
  return expect_refused(rig.execute(l.program.get(), {{l.x.get()}}),
                        "one argument where there are two");
}

MILLRACE_CONFORM(errors, argument_shape, "an argument of another shape is refused",
                 .after = "execute.result") {
  MILLRACE_TRY(const Launch l, rig.prepare(increment_program(), Floats(8, 1)));
  return rig.expect_refused_run(rig.execute(l.program.get(), {{l.x.get()}}),
                                "an argument of 8 elements where there are 4");
}

}  // namespace
}  // namespace millrace::conform
