#include "millrace/core/base/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <new>
#include <stdexcept>

#include "millrace/core/base/errno_code.h"
#include "millrace/core/base/memory_left.h"

namespace millrace {
namespace {

constexpr off_t kFirstBlock = off_t{64} << 20;

bool set_size(std::string& text, std::size_t size) {
  try {
    text.resize(size);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const std::length_error&) {
    return false;
  }
}

}  // namespace

const char* kind_of_file(unsigned mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a pipe";
    case S_IFCHR:
    case S_IFBLK:
      return "a device";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a file";
  }
}

Result<Descriptor> open_regular_file(const std::string& path) {
  // Without O_NONBLOCK, a pipe without a writer keeps the thread in here.
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status{};
  if (!fd || ::fstat(fd.get(), &status) != 0) return errno_error("opening " + path, errno);
  if (S_ISREG(status.st_mode)) return fd;
  return fail(ErrorCode::kInvalidArgument, "opening " + path + ": it is " +
                                               kind_of_file(status.st_mode) +
                                               ", where a regular file is expected");
}

Result<std::string> read_file(const std::string& path) {
  MILLRACE_TRY(const Descriptor fd, open_regular_file(path));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return errno_error("reading " + path, errno);
  std::string text;
  std::size_t done = 0;
  // Its size is a hint: those of /proc have none. One byte more, so that the end is seen.
  std::size_t room =
      static_cast<std::size_t>(std::clamp<off_t>(status.st_size, 1024, kFirstBlock)) + 1;
  while (true) {
    if (!set_size(text, room)) return std::unexpected(no_memory("reading " + path, room));
    const ssize_t count = ::read(fd.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error("reading " + path, errno);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
    if (done == text.size()) room = 2 * done;
  }
  text.resize(done);
  return text;
}

}  // namespace millrace
