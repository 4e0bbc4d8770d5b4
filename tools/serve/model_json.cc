#include "millrace/tools/serve/model_json.h"

#include <nlohmann/json.hpp>

#include "millrace/core/base/json_text.h"
#include "millrace/tools/api/version.h"
#include "millrace/tools/serve/route.h"
#include "millrace/tools/serve/v2_datatype.h"

namespace millrace::serve {
namespace {

using Json = nlohmann::ordered_json;

Json tensors_json(std::span<const transfer::BatchTensor> tensors) {
  Json list = Json::array();
  for (const transfer::BatchTensor& tensor : tensors) {
    Json shape = {-1};
    for (const std::int64_t dim : tensor.row.dims()) shape.push_back(dim);
    list.push_back({{"name", tensor.name},
                    {"datatype", std::string(datatype_of(tensor.row.dtype()))},
                    {"shape", shape}});
  }
  return list;
}

Json count_json(std::uint64_t count, std::uint64_t nanoseconds) {
  return {{"count", count}, {"ns", nanoseconds}};
}

}  // namespace

std::string server_json() {
  return json_text(Json{{"name", "millrace"},
                        {"version", std::string(version())},
                        {"extensions", {"binary_tensor_data", "statistics"}}});
}

std::string models_json(const std::vector<std::string>& names, bool ready) {
  Json models = Json::array();
  for (const std::string& name : names)
    models.push_back({{"name", name}, {"version", std::string(kModelVersion)}, {"ready", ready}});
  return json_text(Json{{"models", models}});
}

std::string model_json(const transfer::BatchModel& model) {
  return json_text(Json{{"name", model.name()},
                        {"versions", {std::string(kModelVersion)}},
                        {"platform", "millrace_stablehlo"},
                        {"max_batch_size", model.most_rows()},
                        {"inputs", tensors_json(model.inputs())},
                        {"outputs", tensors_json(model.outputs())}});
}

namespace {

Json stats_of(const transfer::BatchModel& model, const transfer::BatchQueueStats& stats) {
  const std::uint64_t failed = stats.failed + stats.cancelled + stats.refused;
  const Json inference = {
      {"success", count_json(stats.succeeded, stats.request_time.sum)},
      {"fail", count_json(failed, 0)},
      {"queue", count_json(stats.queue_time.count, stats.queue_time.sum)},
      {"compute_infer", count_json(stats.batch_time.count, stats.batch_time.sum)}};
  return Json{{"name", model.name()},
              {"version", std::string(kModelVersion)},
              {"inference_count", stats.rows},
              {"execution_count", stats.batch_rows.count},
              {"inference_stats", inference},
              {"queued", stats.queued},
              {"queued_bytes", stats.queued_bytes},
              {"refused", stats.refused},
              {"cancelled", stats.cancelled},
              {"padding_rows", stats.padding},
              {"batch_stats", Json::array()}};
}

}  // namespace

std::string stats_json(const std::vector<ModelStatus>& models) {
  Json list = Json::array();
  for (const ModelStatus& one : models) list.push_back(stats_of(*one.model, one.stats));
  return json_text(Json{{"model_stats", list}});
}

}  // namespace millrace::serve
