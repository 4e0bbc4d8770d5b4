// PeerLoss, PeerEnded: how a process of the job is no more there, as details of errors. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/core/net/link_hello.h"

namespace millrace::net {

// How a loss was found.
enum class LossCause : std::uint8_t {
  kReset,          // its stream ended without a goodbye
  kProtocolError,  // it sent what is no frame, or has no place
  kSilentDoor,     // nothing listens where it did
  kHeldLost,       // it holds this process for lost
  kDeclared,       // declare_lost()
  kSilent,         // its link is there, and nothing comes
};
std::string_view to_string(LossCause cause);

struct PeerLoss {
  JobMember who = {};
  LossCause cause = LossCause::kReset;
  std::string words = {};
  // kUnavailable, with this as detail: "rank 3 (host h, pid 4711) is lost: ...".
  Error error() const;
};

// It said goodbye, or has left for another epoch.
struct PeerEnded {
  JobMember who = {};
  std::string words = {};
  // kUnavailable, with this as detail.
  Error error() const;
};

// The process that an error names, by one of these or by a JobMember; nullptr: none.
const JobMember* named_in(const Error& error);

}  // namespace millrace::net
