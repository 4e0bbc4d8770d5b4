// The plain backend of PoolExecutor: threads around one queue. Read executor_pool.h first.
#pragma once

#include <memory>
#include <string>

#include "millrace/core/executor_pool.h"

namespace millrace {

// Work starts in the order in which it was submitted. Throws as start_thread.h says.
std::unique_ptr<PoolExecutor> make_thread_executor(int threads, const std::string& name);

}  // namespace millrace
