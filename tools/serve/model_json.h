// What the protocol says of models, as JSON. Pure.
#pragma once

#include <string>
#include <vector>

#include "millrace/tools/serve/status_json.h"
#include "millrace/transfer/batch_model.h"

namespace millrace::serve {

std::string server_json();
std::string models_json(const std::vector<std::string>& names, bool ready);
// {"name":..., "versions":["1"], "inputs":[...], ...}; -1 stands for the rows and other lengths
// that vary.
std::string model_json(const transfer::BatchModel& model);
std::string stats_json(const std::vector<ModelStatus>& models);

}  // namespace millrace::serve
