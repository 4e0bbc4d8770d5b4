// Linked into a copy of the `millrace` command, which is then killed as by `kill -9` at a fault
// point: MILLRACE_KILL_AT=checkpoint.renamed:2 is its second arrival there.
#include <signal.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "millrace/core/base/fault_point.h"

namespace {

std::unique_ptr<millrace::ArmedFault> arm() {
  const char* at = std::getenv("MILLRACE_KILL_AT");  // NOLINT(concurrency-mt-unsafe): before main
  if (at == nullptr) return nullptr;
  const std::string text = at;
  const std::size_t colon = text.rfind(':');
  return std::make_unique<millrace::ArmedFault>(
      text.substr(0, colon), std::stoull(text.substr(colon + 1)), [] { ::raise(SIGKILL); });
}

const std::unique_ptr<millrace::ArmedFault> armed = arm();

}  // namespace
