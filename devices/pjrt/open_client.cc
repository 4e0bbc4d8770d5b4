#include "millrace/devices/pjrt/open_client.h"

#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "millrace/devices/pjrt/lent_store.h"

namespace millrace::devices::pjrt {
Result<std::unique_ptr<PjrtClient>> open_client(const Plugin& plugin, PjrtClientOptions options,
                                                const OpeningOptions& opening) {
  MILLRACE_TRY_STATUS(may_begin(plugin.name(), opening.call));
  if (opening.thread == nullptr) return PjrtClient::create(plugin, std::move(options));
  if (options.store != nullptr) options.lent_store = std::make_shared<LentStore>(*options.store);
  const std::shared_ptr<LentStore> store = options.lent_store;
  Opening under_way{.plugin = plugin.name(), .ended = {}, .number = plugin.number()};
  options.on_failure = [failure = under_way.failure](const Error& error) {
    const MutexLock lock(failure->mutex);
    failure->error = error;
  };
  // Shared with the work: a client that nobody has taken goes on the thread that made it.
  const auto made = std::make_shared<std::optional<Result<std::unique_ptr<PjrtClient>>>>();
  under_way.ended =
      make_ready().then(*opening.thread,
                        [&plugin, options = std::move(options), thread = under_way.thread,
                         made](const Status&) mutable -> Status {
                          thread->store(std::this_thread::get_id());
                          *made = PjrtClient::create(plugin, std::move(options));
                          return {};
                        });
  if (Status ended = wait_for(under_way, opening.call); !ended) {
    if (store) store->take_back();
    return std::unexpected(std::move(ended).error());
  }
  MILLRACE_TRY_STATUS(under_way.ended.result());  // an exception, or the thread was not there
  return *std::move(*made);
}

}  // namespace millrace::devices::pjrt
