#include "millrace/devices/pjrt/key_values.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "millrace/core/ends_in_time.h"

namespace millrace::devices::pjrt {
namespace {

// An error as the plugin has them.
template <class A>
abi::Error* refuse(const A& args, const Error& error) {
  const std::string& text = error.message();
  return (*args.callback_error)(static_cast<int>(error.code()), text.data(), text.size());
}

// What answer() says; what it throws becomes an error, since between us and whoever would catch it
// are the plugin's frames. what: a literal.
template <class A, class F>
abi::Error* without_throwing(const A& args, std::string_view what, F answer) {
  try {
    try {
      return answer();
    } catch (const std::exception& error) {
      return refuse(args, Error(ErrorCode::kInternal, "the key-value store threw an exception in " +
                                                          std::string(what) + ": " + error.what()));
    } catch (...) {
      return refuse(args,
                    Error(ErrorCode::kInternal,
                          "the key-value store threw something that is no std::exception in " +
                              std::string(what)));
    }
  } catch (const std::bad_alloc&) {  // nor is there memory to tell it
    return (*args.callback_error)(static_cast<int>(ErrorCode::kResourceExhausted), what.data(),
                                  what.size());
  }
}

// Fails where the plugin's structure ends before the last field.
template <class A>
Status check_size(const A& args, const char* name, std::size_t least) {
  if (args.struct_size >= least) return {};
  return fail(ErrorCode::kInvalidArgument, std::string(name) + " has " +
                                               std::to_string(args.struct_size) + " bytes, not " +
                                               std::to_string(least));
}

template <class A>
abi::Error* give(A& args, const Result<std::string>& got) {
  if (!got) return refuse(args, got.error());
  args.value = new char[std::max<std::size_t>(got->size(), 1)];
  std::ranges::copy(*got, args.value);
  args.value_size = got->size();
  args.deleter = [](char* value) { delete[] value; };
  return nullptr;
}

// What the store says, in time: a thread of the plugin waits, which may hold locks of it.
template <class T>
Result<T> answer(const Future<T>& future, Duration limit, const char* what,
                 const std::string& key) {
  const Future<void> answered = future.then(inline_executor(), [](const Result<T>&) {});
  if (ends_in_time(answered, limit)) return future.result();
  const auto seconds = std::chrono::duration<double>(limit).count();
  return fail(ErrorCode::kDeadlineExceeded, "the key-value store has not answered " +
                                                std::string(what) + " of '" + key + "' within " +
                                                std::to_string(seconds) + " s");
}

}  // namespace

void KeyValues::serve(abi::ClientCreateArgs& args) {
  args.kv_get_callback = reinterpret_cast<void*>(&get);
  args.kv_put_callback = reinterpret_cast<void*>(&put);
  args.kv_try_get_callback = reinterpret_cast<void*>(&try_get);
  args.kv_get_user_arg = args.kv_put_user_arg = args.kv_try_get_user_arg = this;
}

abi::Error* KeyValues::get(abi::KeyValueGetArgs* args) {
  return without_throwing(*args, "a get", [args]() -> abi::Error* {
    if (const Status size = check_size(*args, "PJRT_KeyValueGetCallback_Args", 80); !size)
      return refuse(*args, size.error());
    auto& self = *static_cast<KeyValues*>(args->user_arg);
    const auto allowed = std::chrono::milliseconds(std::max(args->timeout_in_ms, 0));
    CallOptions call;
    call.deadline = self.clock_.now() + allowed;
    const std::string key = self.prefix_ + std::string(args->key, args->key_size);
    return give(*args, answer(self.store_.get(key, call), allowed + self.patience_, "a get", key));
  });
}

abi::Error* KeyValues::try_get(abi::KeyValueTryGetArgs* args) {
  return without_throwing(*args, "a try_get", [args]() -> abi::Error* {
    if (const Status size = check_size(*args, "PJRT_KeyValueTryGetCallback_Args", 72); !size)
      return refuse(*args, size.error());
    auto& self = *static_cast<KeyValues*>(args->user_arg);
    const std::string key = self.prefix_ + std::string(args->key, args->key_size);
    return give(*args, answer(self.store_.try_get(key), self.patience_, "a try_get", key));
  });
}

abi::Error* KeyValues::put(abi::KeyValuePutArgs* args) {
  return without_throwing(*args, "a put", [args]() -> abi::Error* {
    if (const Status size = check_size(*args, "PJRT_KeyValuePutCallback_Args", 64); !size)
      return refuse(*args, size.error());
    auto& self = *static_cast<KeyValues*>(args->user_arg);
    const std::string key = self.prefix_ + std::string(args->key, args->key_size);
    const std::string_view value(args->value, args->value_size);
    const Status done = answer(self.store_.put(key, value), self.patience_, "a put", key);
    return done ? nullptr : refuse(*args, done.error());
  });
}

}  // namespace millrace::devices::pjrt
