// JobFolder: a folder of this user's alone, where the processes of a job find each other: sockets,
// and the secret where they talk by TCP. Read next: job_options.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/core/net/handshake.h"

namespace millrace::net {

// Its end removes it, with all that lies in it. Thread-safety: external.
class JobFolder {
 public:
  static constexpr const char* kSecret = "/secret";
  static constexpr const char* kPrefix = "millrace-";  // of the names of all

  // A new one (0700) of a random name. kPermissionDenied and so on: no place takes one.
  static Result<JobFolder> create();
  JobFolder(JobFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  JobFolder& operator=(JobFolder&&) = delete;
  ~JobFolder() { remove(path_); }

  const std::string& path() const { return path_; }
  std::string socket() const { return path_ + "/store"; }
  std::string secret() const { return path_ + kSecret; }

  // The name of a folder that ranks find by themselves; other folders have other names.
  static std::string name_of_hosted(std::uint64_t number);
  static bool is_name_of_hosted(std::string_view name);

  // Where such folders are: XDG_RUNTIME_DIR, if it is a path, and /tmp.
  static std::vector<std::string> places();
  // The one of them that takes one; runtime_folder: as XDG_RUNTIME_DIR has it.
  static std::string place(const std::optional<std::string>& runtime_folder);
  // The folder, with its files and sockets. Also of a folder that is not there, or "".
  static void remove(const std::string& path);

 private:
  explicit JobFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// A secret in a file. kInvalidArgument for one that others may read, or of another length; the
// errors of opening it. what: begins their messages.
Result<Secret> read_secret(const std::string& path, const std::string& what);

}  // namespace millrace::net
