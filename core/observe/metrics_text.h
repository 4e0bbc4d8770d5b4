// Metrics as text that Prometheus and its kin scrape: the exposition format, version 0.0.4.
// https://prometheus.io/docs/instrumenting/exposition_formats/
#pragma once

#include <string>

#include "millrace/core/observe/metrics.h"

namespace millrace {

// Serve it as "text/plain; version=0.0.4". Names are made valid (a character that is not allowed
// becomes '_'). A name that ends with _nanoseconds, or with it before _total, is written in
// seconds, the unit of Prometheus. Histograms are written by the powers of four, always the same
// ones, so that their series can be compared over time; a bucket's count is exact. Pure.
std::string prometheus_text(const MetricsSnapshot& snapshot);

}  // namespace millrace
