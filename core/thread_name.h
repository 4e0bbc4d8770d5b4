// The name of the calling thread, as debuggers, perf and traces show it.
#pragma once

#include <string>

namespace millrace {

// Linux keeps 15 characters: a longer name keeps its end, where the number is.
void set_thread_name(const std::string& name);

}  // namespace millrace
