// LinkKind: how the ranks of a job are linked with each other, and the names of that. Pure. Read
// next: mesh_address.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"

namespace millrace::net {

enum class LinkKind : std::uint8_t {
  kShm,   // shared memory
  kUnix,  // Unix sockets
  kTcp,   // TCP on this host
};

// The names of all kinds, for messages: "shm, unix or tcp".
std::string link_kind_names();
// kInvalidArgument for what is none of them.
Result<LinkKind> read_link_kind(std::string_view name);
// Whether a connection to that address may carry nothing any more, while both of its ends live and
// hear of no end: TCP alone. Such a connection has signs of life of its own.
bool may_fall_silent(std::string_view address);

}  // namespace millrace::net
