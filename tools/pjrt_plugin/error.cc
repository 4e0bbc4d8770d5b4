#include "millrace/tools/pjrt_plugin/error.h"

#include <string>

#include "millrace/tools/pjrt_plugin/handle.h"

namespace millrace::devices::pjrt::abi {

struct Error {
  const ErrorTable* table;  // first: facts of the ABI
  millrace::Error error;
};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {
namespace {

void destroy(abi::Error* error) { delete error; }
void message(const abi::Error* error, const char** text, std::size_t* size) {
  *text = error->error.message().data();
  *size = error->error.message().size();
}
int get_code(const abi::Error* error) { return static_cast<int>(error->error.code()); }
void for_each_payload(const abi::Error* /*error*/, void* /*visitor*/, void* /*user_arg*/) {}

constexpr abi::ErrorTable kTable{.struct_size = sizeof(abi::ErrorTable),
                                 .instance_size = sizeof(abi::Error),
                                 .extension_start = nullptr,
                                 .destroy = &destroy,
                                 .message = &message,
                                 .get_code = &get_code,
                                 .for_each_payload = &for_each_payload};

}  // namespace

abi::Error* make_error(const Error& error) { return new abi::Error{&kTable, error}; }

abi::Error* refuse(std::string_view call, std::size_t given, std::size_t needed,
                   const char* field) {
  return make_error(
      Error(ErrorCode::kInvalidArgument, std::string(call) + " was given a structure of " +
                                             std::to_string(given) + " bytes, which ends before '" +
                                             field + "': it needs " + std::to_string(needed)));
}

Error from_caller(int code, const char* text, std::size_t size) {
  const bool known = code >= static_cast<int>(ErrorCode::kCancelled) &&
                     code <= static_cast<int>(ErrorCode::kUnauthenticated);
  return Error(known ? static_cast<ErrorCode>(code) : ErrorCode::kUnknown,
               text == nullptr ? std::string() : std::string(text, size));
}

std::unexpected<Error> bad_handle(std::string_view call, std::string_view argument, bool is_null) {
  return fail(
      ErrorCode::kInvalidArgument,
      "the argument '" + std::string(argument) + "' of " + std::string(call) +
          (is_null ? " is null" : " is nothing that this plugin has made, or is destroyed"));
}

void add_errors(abi::Api& api) {
  api.set([](abi::ErrorDestroyArgs* a) {
    if (a != nullptr && a->struct_size >= abi::end_of(&abi::ErrorDestroyArgs::error))
      delete a->error;
  });
  api.set([](abi::ErrorMessageArgs* a) {
    if (a == nullptr || a->struct_size < abi::end_of(&abi::ErrorMessageArgs::message_size)) return;
    a->message = "";
    a->message_size = 0;
    if (a->error != nullptr) message(a->error, &a->message, &a->message_size);
  });
  add<&abi::ErrorGetCodeArgs::code, "code">(
      api, [](abi::ErrorGetCodeArgs& a) { a.code = a.error == nullptr ? 0 : get_code(a.error); });
  // Our errors have none. Callers ask for them about every error, about one of this call too.
  add<&abi::ErrorForEachPayloadArgs::error, "error">(api, [](abi::ErrorForEachPayloadArgs&) {});
}

}  // namespace millrace::pjrt_plugin
