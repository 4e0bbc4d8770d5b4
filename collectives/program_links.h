// ProgramLinks: carries over a mesh what programs that span processes give each other. It is what
// the backend of a client sees of the other processes of a job. Read next: program_mail.h, which
// has the rules and does the work.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/async/future.h"
#include "millrace/core/base/ref.h"
#include "millrace/core/net/mesh.h"
#include "millrace/devices/collective_backend.h"

namespace millrace::collectives {

class ProgramMail;

// One for a mesh and an epoch of it: it has the mesh's sink of its kind and its epoch. States: open
// -> closed. Destroyed after drained(). Its links and launches may outlive it. Thread-safety:
// thread-safe.
class ProgramLinks final : public devices::CollectiveBackend {
 public:
  // The mesh was started; its frames have kLeastPayload or more, and kWindow of them (see
  // program_mail.h) are much less than it lets wait. epoch: if the mesh is in another one, this is
  // closed, with kAborted. ranks: the processes that take part, ascending; CHECKed, as is that this
  // one is among them.
  ProgramLinks(Ref<net::Mesh> mesh, std::uint32_t epoch, std::vector<std::uint32_t> ranks);
  ProgramLinks(const ProgramLinks&) = delete;
  ProgramLinks& operator=(const ProgramLinks&) = delete;
  ~ProgramLinks() override;

  int processes() const override;
  int process() const override;
  // The error of close().
  Result<Ref<devices::ProgramLink>> open(std::string name, std::string_view digest) override;
  void close(const Error& why) override;
  // Completes on the mesh's home, without error, once it is closed, the mesh has taken what was
  // given to processes that had opened the program, and no sink is called any more. It waits for no
  // process that was never heard from. Any call gives the same end.
  Future<void> drained() const;

 private:
  const Ref<ProgramMail> mail_;
};

}  // namespace millrace::collectives
