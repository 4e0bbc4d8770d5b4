// Which resource of the Open Inference Protocol v2 a method and a path name. Pure. Names of models
// are compared, never opened: no path of a file is reachable by them.
#pragma once

#include <string>
#include <string_view>

namespace millrace::serve {

struct Route {
  enum class Kind {
    kPage,          // GET /
    kStatus,        // GET /status
    kServer,        // GET /v2
    kLive,          // GET /v2/health/live
    kReady,         // GET /v2/health/ready
    kModels,        // GET /v2/models
    kModel,         // GET /v2/models/NAME
    kModelReady,    // GET /v2/models/NAME/ready
    kModelStats,    // GET /v2/models/NAME/stats
    kInfer,         // POST /v2/models/NAME/infer
    kMetrics,       // GET /metrics
    kUnknown,       // 404
    kWrongMethod,   // 405: the path has another one
    kWrongVersion,  // 404: models have the version 1
  };
  Kind kind = Kind::kUnknown;
  std::string model = {};         // percent-decoded
  std::string_view allowed = {};  // methods, of kWrongMethod
  bool operator==(const Route&) const = default;
};

inline constexpr std::string_view kModelVersion = "1";

// method: "GET". path: as it was sent, without the query. HEAD is as GET. A model of several
// versions has the path /v2/models/NAME/versions/VERSION, too.
Route route_of(std::string_view method, std::string_view path);

}  // namespace millrace::serve
