#include "millrace/core/async/future.h"

#include <new>

#include "millrace/core/base/memory_left.h"

namespace millrace::detail {

Error exception_to_error(std::exception_ptr exception) {
  try {
    std::rethrow_exception(std::move(exception));
  } catch (const NoMemory& e) {
    return e.error();
  } catch (const std::bad_alloc&) {
    return no_memory();
  } catch (const std::exception& e) {
    return Error(ErrorCode::kInternal, std::string("a callback threw an exception: ") + e.what());
  } catch (...) {
    return Error(ErrorCode::kInternal, "a callback threw something that is no std::exception");
  }
}

}  // namespace millrace::detail
