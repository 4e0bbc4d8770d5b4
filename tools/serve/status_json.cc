#include "millrace/tools/serve/status_json.h"

#include <nlohmann/json.hpp>

#include "millrace/core/base/json_text.h"
#include "millrace/tools/api/version.h"

namespace millrace::serve {
namespace {

using Json = nlohmann::ordered_json;

// [[largest value, how many], ...] of the buckets that have some.
Json buckets_json(const Histogram::Snapshot& histogram) {
  Json list = Json::array();
  for (const auto& [largest, count] : histogram.buckets) {
    if (count > 0) list.push_back(Json::array({largest, count}));
  }
  return list;
}

Json device_json(const DeviceStatus& device) {
  Json json = {{"device", device.number},
               {"kind", device.kind},
               {"state", device.failure ? "failed" : "works"},
               {"queued", device.stats.queued},
               {"launches_in_flight", device.stats.launches_in_flight},
               {"launches", device.stats.launches},
               {"busy_ns", device.stats.busy.count()}};
  if (device.failure) json["reason"] = device.failure->to_string();
  if (device.memory_bytes) json["memory_bytes"] = *device.memory_bytes;
  return json;
}

Json model_status_json(const ModelStatus& of) {
  const transfer::BatchQueueStats& stats = of.stats;
  return {{"model", of.model->name()},
          {"batch_sizes", of.model->sizes()},
          {"queued", stats.queued},
          {"most_queued", stats.most_requests},
          {"queued_bytes", stats.queued_bytes},
          {"most_queued_bytes", stats.most_bytes},
          {"succeeded", stats.succeeded},
          {"failed", stats.failed},
          {"cancelled", stats.cancelled},
          {"refused", stats.refused},
          {"rows", stats.rows},
          {"padding", stats.padding},
          {"batch_rows", buckets_json(stats.batch_rows)},
          {"request_ns", buckets_json(stats.request_time)},
          {"queue_ns", buckets_json(stats.queue_time)},
          {"batch_ns", buckets_json(stats.batch_time)}};
}

}  // namespace

std::string status_json(const ServerStatus& status) {
  Json devices = Json::array();
  Json models = Json::array();
  for (const DeviceStatus& device : status.devices) devices.push_back(device_json(device));
  for (const ModelStatus& model : status.models) models.push_back(model_status_json(model));
  return json_text(Json{{"version", std::string(version())},
                        {"state", status.state},
                        {"uptime_s", std::chrono::duration<double>(status.uptime).count()},
                        {"requests", status.requests},
                        {"in_flight", status.in_flight},
                        {"devices", devices},
                        {"models", models}});
}

std::string ready_json(bool ready, const std::string& reason,
                       const std::vector<std::optional<Error>>& failures) {
  Json json = {{"ready", ready}};
  if (!reason.empty()) json["reason"] = reason;
  for (std::size_t d = 0; d < failures.size(); ++d) {
    if (failures[d])
      json["devices_failed"].push_back({{"device", d}, {"reason", failures[d]->to_string()}});
  }
  return json_text(json);
}

}  // namespace millrace::serve
