// The extension Profiler: sessions that record what devices do, for jax.profiler and other clients
// of the C API. Its errors are its own, as the ABI has it. Read next: run_recording.h, xspace.h.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "millrace/core/base/mutex.h"
#include "millrace/tools/pjrt_plugin/error.h"
#include "millrace/tools/pjrt_plugin/extensions.h"
#include "millrace/tools/pjrt_plugin/handle.h"
#include "millrace/tools/pjrt_plugin/run_recording.h"
#include "millrace/tools/pjrt_plugin/xspace.h"

namespace millrace::devices::pjrt::abi {

struct ProfilerError {
  millrace::Error error;
};

// A session. Made -> recording -> stopped; what it has recorded is there from then on, as often as
// it is asked for. Thread-safety: thread-safe.
struct ProfilerHandle final : pjrt_plugin::Handle<ProfilerHandle> {
  enum class State { kMade, kRecording, kStopped };

  ~ProfilerHandle() {
    if (state == State::kRecording)
      static_cast<void>(pjrt_plugin::RunRecording::of_process().end());
  }

  Mutex mutex;
  State state MILLRACE_GUARDED_BY(mutex) = State::kMade;
  std::string recorded MILLRACE_GUARDED_BY(mutex);
};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {
namespace {

using Session = abi::ProfilerHandle;
using State = Session::State;

// A function of the table from one that takes the structure and gives a Status. The structures have
// never grown, and their size is not looked at: XLA's client leaves it unset where it stops.
template <class A, abi::FieldName kCall, class F>
auto profiler_function(F /*function*/) {
  return [](A* args) -> abi::ProfilerError* {
    try {
      const Status status = args != nullptr
                                ? F()(*args)
                                : fail(ErrorCode::kInvalidArgument,
                                       std::string(kCall.text) + " was given no structure");
      return status ? nullptr : new abi::ProfilerError{status.error()};
    } catch (...) {  // std::bad_alloc
      return new abi::ProfilerError{millrace::detail::exception_to_error(std::current_exception())};
    }
  };
}

Status start(Session& session) {
  MutexLock lock(session.mutex);
  if (session.state != State::kMade)
    return fail(ErrorCode::kFailedPrecondition, "this session of the profiler was started before");
  MILLRACE_TRY_STATUS(RunRecording::of_process().begin());
  session.state = State::kRecording;
  return {};
}

Status stop(Session& session) {
  MutexLock lock(session.mutex);
  if (session.state != State::kRecording) {
    return fail(ErrorCode::kFailedPrecondition, "this session of the profiler does not record");
  }
  session.state = State::kStopped;
  session.recorded = write_xspace(RunRecording::of_process().end());
  return {};
}

// Without a place for the bytes: these are the session's, as XLA's client takes them. Other clients
// ask for their number so, and then bring a place.
Status collect(Session& session, abi::ProfilerCollectDataArgs& a) {
  MutexLock lock(session.mutex);
  if (session.state != State::kStopped) {
    return fail(ErrorCode::kFailedPrecondition,
                "this session of the profiler has recorded nothing yet: start and stop it first");
  }
  if (a.buffer != nullptr) {
    if (a.buffer_size < session.recorded.size()) {
      return fail(ErrorCode::kInvalidArgument,
                  "what was recorded has " + std::to_string(session.recorded.size()) +
                      " bytes, the place " + std::to_string(a.buffer_size));
    }
    std::ranges::copy(session.recorded, reinterpret_cast<char*>(a.buffer));
  } else {
    a.buffer = reinterpret_cast<std::uint8_t*>(session.recorded.data());
  }
  a.buffer_size = session.recorded.size();
  return {};
}

void error_destroy(abi::ProfilerErrorDestroyArgs* a) {
  if (a != nullptr) delete a->error;
}

void error_message(abi::ProfilerErrorMessageArgs* a) {
  if (a == nullptr) return;
  const std::string_view text =
      a->error == nullptr ? std::string_view() : std::string_view(a->error->error.message());
  a->message = text.data();
  a->message_size = text.size();
}

abi::ProfilerApi make_profiler_api() {
  abi::ProfilerApi api{};
  api.struct_size = sizeof(api);
  api.error_destroy = &error_destroy;
  api.error_message = &error_message;
  api.error_get_code =
      profiler_function<abi::ProfilerErrorGetCodeArgs, "PLUGIN_Profiler_Error_GetCode">(
          [](abi::ProfilerErrorGetCodeArgs& a) -> Status {
            a.code = a.error == nullptr ? 0 : static_cast<int>(a.error->error.code());
            return {};
          });
  // What a caller may ask for beside the runs of devices is not there: options change nothing.
  api.create = profiler_function<abi::ProfilerCreateArgs, "PLUGIN_Profiler_Create">(
      [](abi::ProfilerCreateArgs& a) -> Status {
        a.profiler = new Session;
        return {};
      });
  api.destroy = profiler_function<abi::ProfilerArgs, "PLUGIN_Profiler_Destroy">(
      [](abi::ProfilerArgs& a) -> Status {
        MILLRACE_GIVEN(session, profiler);
        delete &session;
        return {};
      });
  api.start = profiler_function<abi::ProfilerArgs, "PLUGIN_Profiler_Start">(
      [](abi::ProfilerArgs& a) -> Status {
        MILLRACE_GIVEN(session, profiler);
        return start(session);
      });
  api.stop = profiler_function<abi::ProfilerArgs, "PLUGIN_Profiler_Stop">(
      [](abi::ProfilerArgs& a) -> Status {
        MILLRACE_GIVEN(session, profiler);
        return stop(session);
      });
  api.collect_data = profiler_function<abi::ProfilerCollectDataArgs, "PLUGIN_Profiler_CollectData">(
      [](abi::ProfilerCollectDataArgs& a) -> Status {
        MILLRACE_GIVEN(session, profiler);
        return collect(session, a);
      });
  return api;
}

// As later minors have it: they use the last field in structures of calls only.
struct WholeExtension : abi::ProfilerExtension {
  std::int64_t context = 0;
};

}  // namespace

const abi::ProfilerExtension& profiler_extension() {
  static const abi::ProfilerApi api = make_profiler_api();
  static WholeExtension extension = [] {
    WholeExtension made;
    made.struct_size = sizeof(made);
    made.type = abi::kProfilerExtension;
    made.next = const_cast<abi::ShardingsExtension*>(&shardings_extension());
    made.api = &api;
    return made;
  }();
  return extension;
}

void* first_extension() { return const_cast<abi::ProfilerExtension*>(&profiler_extension()); }

}  // namespace millrace::pjrt_plugin
