// ClientRegistry: backends by name, and the choice of one from PJRT_DEVICE, or of the best that can
// be opened. Backends are added: "cpu" by cpu/backends.h, PJRT plugins by pjrt/plugin_list.h;
// nothing else in the tree names a kind of device.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/environment.h"
#include "millrace/core/async/key_value_store.h"
#include "millrace/core/base/process_place.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/client.h"
#include "millrace/devices/collective_backend.h"

namespace millrace::devices {

using millrace::ProcessPlace;
using millrace::Variables;
Variables process_variables();

// Detail of the error of an opening that ClientOptions::call has ended.
struct OpeningGivenUp {
  std::string call;  // that has not returned: "PJRT_Client_Create"; empty: none was made yet
  // A thread is left in that call. It uses what the options lend, and may hold the lock of the C
  // library's loader, for which other threads wait at unexpected places (at the first use of a
  // thread_local): all of that must stay until the process ends.
  bool left = false;
};

// What a backend is made of. Borrowed pointers outlive the client.
struct ClientOptions {
  Environment environment = {};
  Variables variables = process_variables();
  // How many devices; nullopt: as the backend's own variable says (CPU_NUM_DEVICES), else all.
  std::optional<int> devices = {};
  // For backends that compute on the host: the threads of device i of n. Called once per device.
  std::function<DeviceThreads(int i, int n)> threads = {};
  // For backends whose opening may never end: how long it may take, by steady_clock() (then it is
  // kCancelled or kDeadlineExceeded, with the detail OpeningGivenUp), and a thread of its own to be
  // left behind. Called once at most for each backend; left out, the caller's thread opens, without
  // a limit.
  CallOptions call = {};
  std::function<Executor*()> opener = {};
  // For backends whose calls may block: a thread of its own for frees. It outlives the client.
  // Called once at most; left out, the environment's blocking executor makes these calls.
  std::function<Executor*()> frees = {};
  TraceRecorder* trace = nullptr;
  std::string lane_suffix = {};  // of its lanes' names, where another client records there, too
  bool profile = false;     // what a plugin's own profiler records goes to trace, too, at the close
  Duration inline_time{0};  // see cpu/devices.h; for backends that compute on the host
  std::int64_t memory_bytes = 0;  // per device, where the backend can limit it; 0: no limit
  std::map<std::string, Attribute> settings = {};  // create options of a plugin, passed through
  ProcessPlace process = {};
  // What carries programs over processes, for the CPU device (cpu/devices.h).
  std::function<Result<CollectiveBackend*>()> processes = {};
  KeyValueStore* store = nullptr;  // shared by the job's processes; nullptr: none
  // How long the close of the client waits for what a plugin has begun.
  Duration close_timeout = std::chrono::seconds(30);
};

using ClientFactory = std::function<Result<std::unique_ptr<Client>>(const ClientOptions&)>;

// A backend's name, and in words why it is this one: for one line on the log.
struct ClientChoice {
  std::string name = {};
  std::string reason = {};
  bool automatic = false;  // chosen among several by priority: users should see that line
};

struct OpenedClient {
  std::unique_ptr<Client> client = {};
  ClientChoice choice = {};
};

// Thread-safety: external; filled before it is used.
class ClientRegistry {
 public:
  // Names are compared without case: PJRT_DEVICE=CPU means "cpu". kAlreadyExists, and the
  // error of check_backend_name.
  // Where none is chosen, the highest priority comes first, of equal ones the first added; "cpu"
  // has 0. named_by: where the user has named this backend ("--plugin"), so that no other is meant.
  Status add(std::string_view name, const ClientFactory& factory, int priority = 1,
             std::string_view named_by = {});
  // In the order in which they are tried.
  std::vector<std::string> names() const;

  // PJRT_DEVICE if it is set, else the first of names() for which can_open has no error; one that
  // the user has named is not passed over. The reason names those passed over, and why. kNotFound
  // for an unknown name, with those that are known; can_open's first error where nothing is left.
  // said_by: where the name stands, for these words.
  using CanOpen = std::function<Status(const std::string& name)>;
  Result<ClientChoice> choose(const Variables& variables, const CanOpen& can_open,
                              std::string_view said_by = "PJRT_DEVICE") const;
  // The client of that choice. An opening that is given up ends it: no other is tried.
  Result<OpenedClient> open(const Variables& variables, const ClientOptions& options,
                            std::string_view said_by = "PJRT_DEVICE") const;
  Result<std::unique_ptr<Client>> create(std::string_view name, const ClientOptions& options) const;

 private:
  struct Entry {
    ClientFactory factory;
    int priority = 0;
    std::size_t place = 0;  // in the order of adding
    std::string named_by;
  };
  Status check(std::string_view name, std::string_view origin) const;

  std::map<std::string, Entry> entries_;
};

// How kinds of devices and plugins are named here: without capitals.
std::string lower(std::string_view name);
// kInvalidArgument for an empty name and for control characters in one: names stand in lists, on
// terminals and in variables.
Status check_backend_name(std::string_view name);
// Control characters as "\x1b": for what a stranger wrote, in messages.
std::string printable(std::string_view text);

// The number in a variable, e.g. CPU_NUM_DEVICES; nullopt if it is not set or empty.
// kInvalidArgument names the variable, what it says, and what it may say.
Result<std::optional<int>> read_count(const Variables& variables, const std::string& name,
                                      int least, int most);

}  // namespace millrace::devices
