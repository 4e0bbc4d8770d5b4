// LinkKind: how the ranks of a job are linked with each other, and the names of that. Pure. Read
// next: mesh_address.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"

namespace millrace::net {

enum class LinkKind : std::uint8_t {
  kUnix,  // Unix sockets
  kTcp,   // TCP on this host
};

// The names of all kinds, for messages: "unix or tcp".
std::string link_kind_names();
// kInvalidArgument for what is none of them.
Result<LinkKind> read_link_kind(std::string_view name);

}  // namespace millrace::net
