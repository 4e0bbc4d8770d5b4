// The oneTBB backend of PoolExecutor: an arena of its own on oneTBB's shared workers. Read
// executor_pool.h first.
#pragma once

#include <memory>
#include <string>

#include "millrace/core/executor_pool.h"

namespace millrace {

// At most `threads` workers at a time; oneTBB makes one per core for all arenas of the process and
// lends them.
std::unique_ptr<PoolExecutor> make_tbb_executor(int threads, std::string name);

}  // namespace millrace
