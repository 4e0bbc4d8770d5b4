// What the protocols of a group say between processes, as bytes: pure codecs, beside which the
// messages within a process stay as they are. What is decoded comes from another process: it is
// bounded and checked, and nothing that a group's machines do with it is CHECKed. Read next:
// rendezvous_machine.h; group_frames.h.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "millrace/collectives/rendezvous_machine.h"
#include "millrace/core/net/wire_bytes.h"

namespace millrace::collectives {

inline constexpr std::size_t kMostTag = 1024;
inline constexpr std::size_t kMostWirePayload = std::size_t{1} << 20;    // of a rank
inline constexpr std::size_t kMostWirePayloads = std::size_t{64} << 20;  // of a message

// Code, message and Culprits; a message is cut at kMostWireText, causes and other details stay
// here.
inline constexpr std::size_t kMostWireText = 4096;
void encode_error(net::WireWriter& writer, const Error& error);
// size: of the group.
Error decode_error(net::WireReader& reader, int size);

// Sorted ranks without duplicates, all >= 0: as runs, or as bits, whichever is shorter. 65,536
// ranks take at most 8 KiB, all of them 5 bytes.
void encode_ranks(net::WireWriter& writer, std::span<const Rank> ranks);
// Below size.
std::vector<Rank> decode_ranks(net::WireReader& reader, int size);

// kResourceExhausted for a tag or payloads beyond the bounds.
Result<net::WireBytes> encode(const RendezvousMessage& message);
// world: all ranks of the group, of which from sent it to self. kInvalidArgument for bytes that are
// no message, and for one that `from` has no business to send to self: who is whose child follows
// from the subset.
Result<RendezvousMessage> decode_rendezvous(std::span<const std::byte> bytes, Rank from, Rank self,
                                            const Subset& world);

}  // namespace millrace::collectives
