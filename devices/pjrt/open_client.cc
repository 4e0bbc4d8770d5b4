#include "millrace/devices/pjrt/open_client.h"

#include <optional>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>

#include "millrace/core/blocking.h"
#include "millrace/core/key_value_store.h"
#include "millrace/core/scope.h"

namespace millrace::devices::pjrt {
namespace {

// A store until take_back(): a plugin that waits in PJRT_Client_Create for its peers still has it
// when whoever has lent the store has gone. Thread-safety: thread-safe.
class LentStore final : public KeyValueStore {
 public:
  explicit LentStore(KeyValueStore& store) : store_(store) {}

  // Nobody asks the store any more; what waits for an answer is cancelled.
  void take_back() {
    static_cast<void>(wait_blocking(scope_.close()));  // calls that give a future, and wait not
    stop_.request_stop();
  }

  // The callers' deadlines are kept; they have no stops of their own.
  Future<std::string> get(std::string_view key, CallOptions call) override {
    const Scope::Hold hold = scope_.hold();
    if (!hold) return scope_.closed_error();
    call.stop = stop_.get_token();
    return store_.get(key, std::move(call));
  }
  Future<std::string> try_get(std::string_view key) override {
    const Scope::Hold hold = scope_.hold();
    if (!hold) return scope_.closed_error();
    return store_.try_get(key);
  }
  Future<void> put(std::string_view key, std::string_view value) override {
    const Scope::Hold hold = scope_.hold();
    if (!hold) return scope_.closed_error();
    return store_.put(key, value);
  }

 private:
  KeyValueStore& store_;
  std::stop_source stop_;
  Scope scope_{"the key-value store of an opening"};
};

}  // namespace

Result<std::unique_ptr<PjrtClient>> open_client(const Plugin& plugin, PjrtClientOptions options,
                                                const OpeningOptions& opening) {
  MILLRACE_TRY_STATUS(may_begin(plugin.name(), opening.call));
  if (opening.thread == nullptr) return PjrtClient::create(plugin, std::move(options));
  std::shared_ptr<LentStore> store;
  if (options.store != nullptr) {
    store = std::make_shared<LentStore>(*options.store);
    options.store = store.get();
    options.store_owner = store;
  }
  Opening under_way{.plugin = plugin.name(), .ended = {}};
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
