#include "millrace/collectives/program_links.h"

#include <utility>

#include "millrace/collectives/program_mail.h"

namespace millrace::collectives {
namespace {

// A link that is open in the mail.
class OpenLink final : public devices::ProgramLink {
 public:
  OpenLink(Ref<ProgramMail> mail, std::uint64_t id) : mail_(std::move(mail)), id_(id) {}
  ~OpenLink() override { mail_->release_link(id_); }
  std::unique_ptr<devices::ProcessLaunch> next_launch() override;

 private:
  const Ref<ProgramMail> mail_;
  const std::uint64_t id_;
};

class OpenLaunch final : public devices::ProcessLaunch {
 public:
  OpenLaunch(Ref<ProgramMail> mail, Ref<OpenLink> link, const LaunchId& id)
      : link_(std::move(link)), mail_(std::move(mail)), id_(id) {}
  ~OpenLaunch() override {
    if (!ended_) end(fail(ErrorCode::kCancelled, "the launch was given up"));
  }

  Result<bool> begin() override { return mail_->begin(id_); }
  Status give(int edge, int to, std::span<const std::byte> bytes) override {
    return mail_->give(id_, edge, to, bytes);
  }
  Result<bool> take(int edge, int from, std::span<std::byte> bytes) override {
    return mail_->take(id_, edge, from, bytes);
  }
  void await(std::function<void()> wake) override { mail_->await(id_, std::move(wake)); }
  void interrupt() override { mail_->interrupt(id_); }
  std::string waits_for() const override { return mail_->waits_for(id_); }
  void end(const Status& status) override {
    ended_ = true;
    mail_->end(id_, status);
  }

 private:
  const Ref<OpenLink> link_;  // which stays open
  const Ref<ProgramMail> mail_;
  const LaunchId id_;
  bool ended_ = false;
};

std::unique_ptr<devices::ProcessLaunch> OpenLink::next_launch() {
  return std::make_unique<OpenLaunch>(mail_, Ref<OpenLink>::share(this), mail_->next(id_));
}

}  // namespace

ProgramLinks::ProgramLinks(Ref<net::Mesh> mesh, std::uint32_t epoch,
                           std::vector<std::uint32_t> ranks)
    : mail_(ProgramMail::make(std::move(mesh), epoch, std::move(ranks))) {}

ProgramLinks::~ProgramLinks() {
  mail_->close(Error(ErrorCode::kCancelled, "the links of programs are gone"));
}

int ProgramLinks::processes() const { return mail_->processes(); }

int ProgramLinks::process() const { return mail_->process(); }

Result<Ref<devices::ProgramLink>> ProgramLinks::open(std::string name, std::string_view digest) {
  MILLRACE_TRY(const std::uint64_t id, mail_->open(std::move(name), digest));
  return Ref<devices::ProgramLink>(make_ref<OpenLink>(mail_, id));
}

void ProgramLinks::close(const Error& why) { mail_->close(why); }

Future<void> ProgramLinks::drained() const { return mail_->drained(); }

}  // namespace millrace::collectives
