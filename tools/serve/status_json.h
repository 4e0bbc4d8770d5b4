// What the status page shows, as JSON: GET /status. Pure. Numbers are counts since the start, and
// times are histograms, so that two answers have all that happened between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/base/clock.h"
#include "millrace/core/base/error.h"
#include "millrace/devices/device.h"
#include "millrace/transfer/batch_model.h"
#include "millrace/transfer/batch_options.h"

namespace millrace::serve {

struct DeviceStatus {
  std::size_t number = 0;
  std::string kind = {};
  std::optional<Error> failure = {};
  devices::DeviceStats stats = {};
  std::optional<std::int64_t> memory_bytes = {};  // in use, where the device says
};

struct ModelStatus {
  std::shared_ptr<const transfer::BatchModel> model = {};
  transfer::BatchQueueStats stats = {};
};

struct ServerStatus {
  std::string state = {};  // one word or two: "ready"
  Duration uptime{};
  std::uint64_t requests = 0;  // of any kind
  std::size_t in_flight = 0;   // inferences without an answer
  std::vector<DeviceStatus> devices = {};
  std::vector<ModelStatus> models = {};
};

std::string status_json(const ServerStatus& status);

// {"ready":false, "reason":"...", "devices_failed":[{"device":0, "reason":"..."}]}; reason is left
// out where it is empty, and the list where no device has failed.
std::string ready_json(bool ready, const std::string& reason,
                       const std::vector<std::optional<Error>>& failures);

}  // namespace millrace::serve
