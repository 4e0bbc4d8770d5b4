#include "millrace/devices/pjrt/plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include "millrace/core/async/blocking.h"
#include "millrace/core/base/memory_left.h"
#include "millrace/core/observe/log.h"
#include "millrace/devices/cache/build_id.h"
#include "millrace/devices/registry.h"

namespace millrace::devices::pjrt {
namespace {

std::string version_of(int major, int minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

ErrorCode code_of(int code) {
  return code >= static_cast<int>(ErrorCode::kCancelled) &&
                 code <= static_cast<int>(ErrorCode::kUnauthenticated)
             ? static_cast<ErrorCode>(code)
             : ErrorCode::kUnknown;
}

// A library that is loaded, or is about to be: all who want it wait for one thread.
struct Load {
  Opening opening;
  Future<const Plugin*> plugin;
};

// Every plugin of the process, for as long as it lives. No lock is held for long.
struct Loaded {
  Mutex paths_mutex;
  std::map<std::string, Load> paths MILLRACE_GUARDED_BY(paths_mutex);
  Mutex all_mutex;
  std::vector<std::unique_ptr<const Plugin>> all MILLRACE_GUARDED_BY(all_mutex);
};
Loaded& loaded() {
  static Loaded* instance = new Loaded;  // never destroyed: plugins' threads may outlive main
  return *instance;
}

Error given_up(const CallOptions& call, const std::string& what, OpeningGivenUp detail) {
  const bool stopped = call.stop.stop_requested();
  return Error(stopped ? ErrorCode::kCancelled : ErrorCode::kDeadlineExceeded, what)
      .with_detail(std::move(detail));
}

std::string seconds_since(TimePoint begin) {
  const auto time = std::chrono::round<std::chrono::milliseconds>(steady_clock().now() - begin);
  char text[32];
  std::snprintf(text, sizeof text, "%g s", std::chrono::duration<double>(time).count());
  return text;
}

// Its thread may wait for another one's.
std::string call_of(const Opening& opening) {
  std::string call = call_under_way_of(opening.thread->load());
  if (call.empty() && opening.number != 0) call = calls_under_way(opening.number);
  return call;
}

std::string name_or_thread(const std::string& call) { return call.empty() ? "its thread" : call; }

}  // namespace

Status may_begin(const std::string& plugin, const CallOptions& call) {
  const bool stopped = call.stop.stop_requested();
  if (!stopped && steady_clock().now() < call.deadline) return {};
  return std::unexpected(given_up(call,
                                  "the plugin " + plugin + " was not opened, because " +
                                      (stopped ? "a stop was requested" : "the deadline came") +
                                      " before that",
                                  {}));
}

Status wait_for(const Opening& opening, const CallOptions& call) {
  CallOptions patient = call;
  patient.deadline = std::min(call.deadline, opening.begin + opening.patience);
  if (wait_until(opening.ended, patient)) return {};
  if (patient.deadline < call.deadline && !call.stop.stop_requested()) {
    MILLRACE_LOG(kWarning, "pjrt",
                 "opening the plugin " + opening.plugin + " takes longer than most: " +
                     name_or_thread(call_of(opening)) + " has not returned after " +
                     seconds_since(opening.begin) + ", and is waited for");
    if (wait_until(opening.ended, call)) return {};
  }
  const std::string under_way = call_of(opening);
  if (opening.ended.ready()) return {};  // at the last moment
  std::string why;
  {
    const MutexLock lock(opening.failure->mutex);
    if (opening.failure->error) why = ", after " + opening.failure->error->message();
  }
  return std::unexpected(
      given_up(call,
               "opening the plugin " + opening.plugin + " was given up after " +
                   seconds_since(opening.begin) + ": " + name_or_thread(under_way) +
                   " has not returned, and is left to itself until the process ends" + why,
               {.call = under_way, .left = true}));
}

Result<const Plugin*> Plugin::load(const std::string& path, const OpeningOptions& opening,
                                   const std::string& known_as) {
  std::error_code unknown;
  const std::filesystem::path canonical = std::filesystem::canonical(path, unknown);
  const std::string shown = unknown ? path : canonical.string();
  const std::string name = known_as.empty() ? shown : known_as + " (" + shown + ")";
  if (unknown)
    return fail(ErrorCode::kNotFound, "loading the PJRT plugin " + name + ": " + unknown.message());
  Loaded& all = loaded();
  Promise<const Plugin*> promise;
  Load load;
  bool first = false;
  {
    MutexLock lock(all.paths_mutex);
    auto found = all.paths.find(canonical);
    if (found == all.paths.end()) {
      MILLRACE_TRY_STATUS(may_begin(name, opening.call));
      load = {.opening = {.plugin = name, .ended = {}}, .plugin = promise.future()};
      load.opening.ended =
          load.plugin.then(inline_executor(), [&all, canonical](Result<const Plugin*> plugin) {
            if (plugin) return;
            MutexLock erase(all.paths_mutex);
            all.paths.erase(canonical);  // the next one tries again
          });
      found = all.paths.emplace(canonical, load).first;
      first = true;
    }
    load = found->second;
  }
  if (first) {
    auto work = [canonical, name, thread = load.opening.thread,
                 promise = std::move(promise)](const Status&) mutable {
      thread->store(std::this_thread::get_id());
      promise.set(open(canonical, name));
    };
    Executor& thread = opening.thread != nullptr ? *opening.thread : inline_executor();
    make_ready().then(thread, std::move(work)).ignore();
  }
  MILLRACE_TRY_STATUS(wait_for(load.opening, opening.call));
  return load.plugin.result();
}

Result<const Plugin*> Plugin::open(const std::string& path, const std::string& name) {
  const CalledHere called(0, name.c_str());
  std::error_code unknown;  // then dlopen reports it
  // dlopen would wait for a pipe's other end.
  if (std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown))
    return fail(ErrorCode::kInvalidArgument, "loading the PJRT plugin " + name + ": it is no file");
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  if (!unknown) {
    MILLRACE_TRY_STATUS(check_memory_left("the PJRT plugin " + name, bytes));
  }
  // Local symbols: a plugin carries libraries of its own (protobuf, LLVM) that are none of ours.
  void* library = [&path] {
    const CallUnderWay under_way(0, OtherCall::kLoad);
    return ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  if (library == nullptr) {
    const char* why = ::dlerror();
    return fail(ErrorCode::kInvalidArgument, "loading the PJRT plugin " + name + ": " +
                                                 (why != nullptr ? why : "dlopen gives no reason"));
  }
  using GetApi = const abi::Api* (*)();
  const auto get_api = reinterpret_cast<GetApi>(::dlsym(library, "GetPjrtApi"));
  if (get_api == nullptr) {
    return fail(ErrorCode::kInvalidArgument,
                name + " is no PJRT plugin: it exports no function GetPjrtApi");
  }
  const abi::Api* api = nullptr;
  try {
    const CallUnderWay under_way(0, OtherCall::kGetApi);
    api = get_api();
  } catch (...) {
    return fail(ErrorCode::kInternal, "GetPjrtApi of " + name + " threw an exception");
  }
  return adopt(api, name, build_of(reinterpret_cast<const void*>(get_api), path));
}

Result<const Plugin*> Plugin::adopt(const abi::Api* api, std::string name, std::string build) {
  if (api == nullptr) {
    return fail(ErrorCode::kInvalidArgument, name + ": GetPjrtApi gives no table of functions");
  }
  std::unique_ptr<Plugin> plugin(new Plugin(api, std::move(name), std::move(build)));
  MILLRACE_TRY_STATUS(plugin->check_version());
  if (Status ready = plugin->initialize(); !ready)
    return std::unexpected(ready.error().with_context("loading a PJRT plugin"));
  const Plugin* const made = plugin.get();
  Loaded& all = loaded();
  MutexLock lock(all.all_mutex);
  all.all.push_back(std::move(plugin));
  return made;
}

Status Plugin::check_version() const {
  const abi::Version& v = api_->version;
  const std::string ours = "this client speaks " + version_of(abi::kMajor, abi::kOldestMinor) +
                           " to " + version_of(abi::kMajor, abi::kMinor) + " and newer minors";
  if (v.major_version != abi::kMajor || v.minor_version < abi::kOldestMinor) {
    return fail(ErrorCode::kInvalidArgument,
                name_ + " has PJRT API " + version_text() + "; " + ours);
  }
  const std::size_t least =
      offsetof(abi::Api, functions) + abi::least_functions(v.minor_version) * sizeof(void*);
  if (api_->struct_size < least) {
    return fail(ErrorCode::kInvalidArgument,
                name_ + " says PJRT API " + version_text() + ", but its table of " +
                    std::to_string(api_->struct_size) + " bytes is shorter than the " +
                    std::to_string(least) + " of that version; " + ours);
  }
  return {};
}

Status Plugin::initialize() {
  MILLRACE_TRY_STATUS(ask<abi::PluginInitializeArgs>());
  abi::PluginAttributesArgs attributes;
  MILLRACE_TRY(attributes_, values_of(attributes));
  return {};
}

std::uint16_t Plugin::next_number() {
  static std::atomic<std::uint16_t> last{0};
  return static_cast<std::uint16_t>(last.fetch_add(1) + 1);
}

std::string Plugin::calls_under_way() const { return pjrt::calls_under_way(number_); }

std::string Plugin::version_text() const {
  return version_of(api_->version.major_version, api_->version.minor_version);
}

const abi::Extension* Plugin::extension(int type) const {
  constexpr int kMost = 1000;  // a list that is longer leads back into itself
  const auto* e = static_cast<const abi::Extension*>(api_->extension_start);
  for (int i = 0; e != nullptr && i < kMost; ++i, e = e->next) {
    if (e->type == type) return e;
  }
  if (e != nullptr) {
    MILLRACE_LOG(kWarning, "pjrt",
                 name_ + ": its list of extensions has no end; what is not in its first " +
                     std::to_string(kMost) + " places is taken as missing");
  }
  return nullptr;
}

Status Plugin::lacks(std::string_view function) const {
  return fail(ErrorCode::kUnimplemented, "the plugin " + name_ + " (PJRT API " + version_text() +
                                             ") has no function " + std::string(function));
}

Status Plugin::thrown(std::string_view function) const {
  std::string what;
  try {
    throw;
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
    what = "what is no std::exception";
  }
  return fail(ErrorCode::kInternal, std::string(function) + " of the plugin " + name_ +
                                        " threw an exception through its C interface: " + what);
}

Error Plugin::take_error(abi::Error* error, std::string_view what) const {
  // What these three do not say is lost: an error that GetCode gives is not reported.
  // Message and destroy give nothing back.
  abi::ErrorGetCodeArgs code;
  code.struct_size = abi::Call<abi::ErrorGetCodeArgs>::kSize;
  code.error = error;
  abi::ErrorMessageArgs message;
  message.struct_size = abi::Call<abi::ErrorMessageArgs>::kSize;
  message.error = error;
  std::string text = std::string(what) + " of the plugin " + name_ + ": ";
  abi::Error* of_code = nullptr;
  if (has(abi::Slot::kError_GetCode)) {
    quietly("PJRT_Error_GetCode",
            [&] { of_code = api_->function<abi::ErrorGetCodeArgs>()(&code); });
  }
  if (has(abi::Slot::kError_Message)) {
    quietly("PJRT_Error_Message", [&] { api_->function<abi::ErrorMessageArgs>()(&message); });
  }
  if (message.message == nullptr) {
    text += "the plugin gives no message";
  } else {
    try {
      text.append(message.message, message.message_size);
    } catch (const std::exception&) {
      text += "there is no memory for its message of " + std::to_string(message.message_size) +
              " bytes";
    }
  }
  for (abi::Error* const gone : {error, of_code}) {
    if (gone == nullptr || !has(abi::Slot::kError_Destroy)) continue;
    abi::ErrorDestroyArgs destroy;
    destroy.struct_size = abi::Call<abi::ErrorDestroyArgs>::kSize;
    destroy.error = gone;
    quietly("PJRT_Error_Destroy", [&] { api_->function<abi::ErrorDestroyArgs>()(&destroy); });
  }
  return Error(code_of(of_code == nullptr ? code.code : 0), std::move(text));
}

Status Plugin::missing(abi::Slot slot, std::string_view what) const {
  return fail(ErrorCode::kInternal, std::string(abi::to_string(slot)) + " of the plugin " + name_ +
                                        " gives no " + std::string(what) + " and no error");
}

void Plugin::log_failure(const Error& error) const {
  MILLRACE_LOG(kWarning, "pjrt", error.message());
}

}  // namespace millrace::devices::pjrt
