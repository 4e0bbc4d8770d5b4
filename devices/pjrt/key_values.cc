#include "millrace/devices/pjrt/key_values.h"

#include <algorithm>
#include <exception>
#include <new>
#include <string_view>

#include "millrace/core/async/blocking.h"

namespace millrace::devices::pjrt {
namespace {

// An error as the plugin has them.
template <class A>
abi::Error* refuse(const A& args, const Error& error) {
  const std::string& text = error.message();
  return (*args.callback_error)(static_cast<int>(error.code()), text.data(), text.size());
}

// What answer() says; what it throws becomes an error, since between us and the handler that would
// catch it are the plugin's frames. what: a literal.
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
  } catch (const std::bad_alloc&) {  // nor is there memory for the words
    return (*args.callback_error)(static_cast<int>(ErrorCode::kResourceExhausted), what.data(),
                                  what.size());
  }
}

abi::Error* give(abi::KeyValuePutArgs& /*args*/, const Status& /*done*/) { return nullptr; }
template <class A>
abi::Error* give(A& args, const Result<std::string>& got) {
  args.value = new char[std::max<std::size_t>(got->size(), 1)];
  std::ranges::copy(*got, args.value);
  args.value_size = got->size();
  args.deleter = [](char* value) { delete[] value; };
  return nullptr;
}

}  // namespace

// What the store says to ask(self, key), in time: a thread of the plugin waits, which may hold
// locks of it. longer: beyond the patience.
template <class A, class Ask>
abi::Error* KeyValues::answer(A& args, const char* structure, const char* what, Duration longer,
                              Ask ask) {
  return without_throwing(args, what, [&]() -> abi::Error* {
    if (args.struct_size < sizeof(A)) {  // the plugin's structure ends before the last field
      return refuse(
          args, Error(ErrorCode::kInvalidArgument, std::string(structure) + " has " +
                                                       std::to_string(args.struct_size) +
                                                       " bytes, not " + std::to_string(sizeof(A))));
    }
    auto& self = *static_cast<KeyValues*>(args.user_arg);
    const std::string key = self.prefix_ + std::string(args.key, args.key_size);
    decltype(ask(self, key)) future;
    if (const Scope::Hold hold = self.scope_.hold()) {
      future = ask(self, key);
    } else {
      return refuse(args, self.scope_.closed_error());
    }
    const Duration limit = self.patience_ + longer;
    if (!wait_until(future.then(inline_executor(), [](const auto&) {}), limit)) {
      const auto seconds = std::chrono::duration<double>(limit).count();
      return refuse(args, Error(ErrorCode::kDeadlineExceeded,
                                "the key-value store has not answered " + std::string(what) +
                                    " of '" + key + "' within " + std::to_string(seconds) + " s"));
    }
    const auto& result = future.result();
    return result ? give(args, result) : refuse(args, result.error());
  });
}

void KeyValues::serve(abi::ClientCreateArgs& args) {
  const auto get = [](abi::KeyValueGetArgs* a) {
    const std::chrono::milliseconds allowed(std::max(a->timeout_in_ms, 0));
    return answer(*a, "PJRT_KeyValueGetCallback_Args", "a get", allowed,
                  [&](KeyValues& self, const std::string& key) {
                    return self.store_.get(key, {.stop = self.stop_.get_token(),
                                                 .deadline = self.clock_.now() + allowed});
                  });
  };
  const auto try_get = [](abi::KeyValueTryGetArgs* a) {
    return answer(*a, "PJRT_KeyValueTryGetCallback_Args", "a try_get", {},
                  [](KeyValues& self, const std::string& key) { return self.store_.try_get(key); });
  };
  const auto put = [](abi::KeyValuePutArgs* a) {
    return answer(*a, "PJRT_KeyValuePutCallback_Args", "a put", {},
                  [a](KeyValues& self, const std::string& key) {
                    return self.store_.put(key, {a->value, a->value_size});
                  });
  };
  args.kv_get_callback = reinterpret_cast<void*>(+get);
  args.kv_put_callback = reinterpret_cast<void*>(+put);
  args.kv_try_get_callback = reinterpret_cast<void*>(+try_get);
  args.kv_get_user_arg = args.kv_put_user_arg = args.kv_try_get_user_arg = this;
}

void KeyValues::revoke() {
  static_cast<void>(wait_blocking(scope_.close()));
  stop_.request_stop();
}

}  // namespace millrace::devices::pjrt
