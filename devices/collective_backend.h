// CollectiveBackend: what carries the arrays of a program that spans processes: each process runs
// the part of its devices, and gives the others what they need of it. The backend of a client calls
// it; collectives/program_links.h implements it over the processes of a job, and Runtime hands it
// in.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/core/base/ref.h"

namespace millrace::devices {

// One launch of a program, as one process sees it. No call waits. An edge is a number that the
// program gives to what one process gives another at one place; what is given there more than once,
// as in a loop, is taken in the same order. Thread-safety: external, but for interrupt().
class ProcessLaunch {
 public:
  virtual ~ProcessLaunch() = default;

  // True: it may give and take. False: too many launches of the program are under way before it,
  // here or elsewhere; await() then. An error: it has ended elsewhere, or the backend is closed.
  virtual Result<bool> begin() = 0;
  // The bytes are copied, and are on their way. The errors of take().
  virtual Status give(int edge, int to, std::span<const std::byte> bytes) = 0;
  // True: the bytes are written. False: they have not come yet; await() then. The error with which
  // the launch has ended in another process, which its words name; kUnavailable for a process that
  // is lost or has left; that of CollectiveBackend::close(); kInternal where the other process gave
  // another number of bytes.
  virtual Result<bool> take(int edge, int from, std::span<std::byte> bytes) = 0;
  // After false: calls wake once, on any thread, perhaps before this returns, when there is reason
  // to ask again.
  virtual void await(std::function<void()> wake) = 0;
  // Wakes what awaits now, or the next await(), without reason. Any thread.
  virtual void interrupt() = 0;
  // Whom it waits for, where the last answer was false: "process 1 (rank 1, host h, pid 4711)"; for
  // errors.
  virtual std::string waits_for() const = 0;
  // The last call. An error ends the launch in the other processes, too, unless it came from there.
  virtual void end(const Status& status) = 0;
};

// A program that processes have compiled together. Thread-safety: thread-safe.
class ProgramLink : public RefCounted {
 public:
  // The k-th one of each process belongs to the k-th of the others: it is made where the launch is
  // called for, and ended also where the launch fails before it begins.
  virtual std::unique_ptr<ProcessLaunch> next_launch() = 0;
};

// Thread-safety: thread-safe.
class CollectiveBackend {
 public:
  virtual ~CollectiveBackend() = default;

  virtual int processes() const = 0;
  virtual int process() const = 0;  // this one, from 0
  // digest: of the program and how it is compiled. The n-th of a digest in each process belongs to
  // the n-th in the others. name: for errors.
  virtual Result<Ref<ProgramLink>> open(std::string name, std::string_view digest) = 0;
  // Every launch that is under way or comes later fails with this, here and in the processes that
  // wait for it. What was given before still goes to processes that have opened the program.
  virtual void close(const Error& why) = 0;
};

}  // namespace millrace::devices
