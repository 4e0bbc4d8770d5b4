// MeshRecord: what a process says of itself in the store of its job, so that others find it: a text
// of five lines. Pure. Read next: mesh.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/core/net/link_hello.h"

namespace millrace::net {

inline constexpr std::size_t kMostAddressBytes = 255;

struct MeshRecord {
  JobMember who = {};
  Incarnation incarnation = {};
  // For Transport::connect(); empty: it has ended, and never listened.
  std::string address = {};
  bool operator==(const MeshRecord&) const = default;
};

std::string encode_record(const MeshRecord& record);
// What stands under the key of this rank. kDataLoss for what is no record.
Result<MeshRecord> read_record(std::string_view text, std::uint32_t rank);

// Keys; mesh: what all of a mesh begin with.
std::string record_key(std::string_view mesh, std::uint32_t epoch, std::uint32_t rank);
// There, once a process has closed its mesh: then it is no loss that it listens no more.
std::string ended_key(std::string_view mesh, const Incarnation& incarnation);

}  // namespace millrace::net
