// What processes say to each other about programs that span them, as frames of a mesh. Pure codecs;
// what is read comes from another process and is checked. Read next: program_mail.h.
//
//   frame  sequence  words                      payload
//   kOpen  -         link                       it is open there: what is about it may come
//   kData  launch    link, edge, total, offset  a piece of a message of total bytes
//   kEnd   launch    link, process              the error with which the launch ended in process
//   kOver  launch    link                       all launches below it are over there
//   kGone  launch    link                       this launch and later ones are not made there
//   kLeft  -         -                          why it gives nothing more
//
// link: of a program that processes have compiled together. channel: the epoch, so that all of a
// process come in their order, and only to the sink of the epoch; who sends them sets it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/core/net/frame.h"

namespace millrace::collectives {

inline constexpr net::FrameKind kProgramFrame{33};
inline constexpr std::uint64_t kMostMessage = std::uint64_t{1} << 40;  // bytes
inline constexpr std::size_t kLeastPayload = std::size_t{8} << 10;     // which an error fits

// In the flags of the header.
enum class ProgramSays : std::uint8_t { kData, kEnd, kOver, kOpen, kGone, kLeft };
inline constexpr std::uint8_t kProgramSayings = 6;

struct LaunchId {
  std::uint64_t link = 0;
  std::uint64_t number = 0;
};

// A message in pieces of most_payload bytes; one without bytes has one piece.
std::vector<net::Frame> data_frames(const LaunchId& launch, int edge,
                                    std::span<const std::byte> bytes, std::size_t most_payload);
// Code and words alone: causes and details stay here. arose: the process in which the error did.
net::Frame end_frame(const LaunchId& launch, int arose, const Error& error);
// kOver, kOpen (of launch 0) or kGone.
net::Frame news_frame(ProgramSays says, const LaunchId& launch);
net::Frame left_frame(const Error& why);

struct ProgramSaying {
  ProgramSays says = ProgramSays::kData;
  LaunchId launch = {};
  int edge = 0;                     // kData, as the three below
  std::uint64_t total = 0;          // at most kMostMessage
  std::uint64_t offset = 0;         // of the piece, which ends within total
  net::Bytes piece = {};            // empty only if total is 0
  int arose = 0;                    // kEnd: a number that may be no process
  std::optional<Error> error = {};  // kEnd, kLeft
};
// Does not look at the channel. kInvalidArgument for a frame that no process has to send.
Result<ProgramSaying> read_program_frame(net::Frame frame);

}  // namespace millrace::collectives
