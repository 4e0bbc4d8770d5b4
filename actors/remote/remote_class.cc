#include "millrace/actors/remote/remote_class.h"

#include <algorithm>

namespace millrace::actors {

const RemoteMessage* RemoteClass::find(std::uint64_t fingerprint) const {
  const auto found = std::ranges::find_if(
      messages, [&](const RemoteMessage& one) { return one.schema.fingerprint == fingerprint; });
  return found == messages.end() ? nullptr : &*found;
}

const RemoteMessage* RemoteClass::find_name(std::string_view name) const {
  const auto found = std::ranges::find_if(
      messages, [&](const RemoteMessage& one) { return one.schema.name == name; });
  return found == messages.end() ? nullptr : &*found;
}

void RemoteClasses::add(std::type_index type, const RemoteClass& served) {
  MutexLock lock(mutex_);
  classes_.emplace(type, &served);
}

const RemoteClass* RemoteClasses::find(std::type_index type) const {
  MutexLock lock(mutex_);
  const auto found = classes_.find(type);
  return found == classes_.end() ? nullptr : found->second;
}

Result<net::Bytes> detail::caught_reduction(const std::string& name) {
  return std::unexpected(millrace::detail::exception_to_error(std::current_exception())
                             .with_context("reducing " + name));
}

}  // namespace millrace::actors
