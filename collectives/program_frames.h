// What processes say to each other about programs that span them, as frames of a mesh. Pure codecs;
// what is read comes from another process and is checked. Read next: program_mail.h.
//
//   frame  sequence  words                      payload
//   kData  launch    link, edge, total, offset  a piece of a message of total bytes
//   kEnd   launch    link                       the error that the launch has ended with
//   kOver  launch    link                       all launches below it are over there
//   kAsk   launch    link                       it waits for what the launch gives
//   kGone  launch    link                       this launch and later ones are not made there
//   kLeft  -         -                          why it gives nothing more
//
// link: of a program that processes have compiled together. The frames have no channel, so that all
// of a process come in their order.
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
enum class ProgramSays : std::uint8_t { kData, kEnd, kOver, kAsk, kGone, kLeft };
inline constexpr std::uint8_t kProgramSayings = 6;

struct LaunchId {
  std::uint64_t link = 0;
  std::uint64_t number = 0;
};

// A message in pieces of most_payload bytes; one without bytes has one piece.
std::vector<net::Frame> data_frames(const LaunchId& launch, int edge,
                                    std::span<const std::byte> bytes, std::size_t most_payload);
// Code and words alone: causes and details stay here.
net::Frame end_frame(const LaunchId& launch, const Error& error);
// kOver, kAsk or kGone.
net::Frame news_frame(ProgramSays says, const LaunchId& launch);
net::Frame left_frame(const Error& why);

struct ProgramSaying {
  ProgramSays says = ProgramSays::kData;
  LaunchId launch = {};
  int edge = 0;                     // kData, as the three below
  std::uint64_t total = 0;          // at most kMostMessage
  std::uint64_t offset = 0;         // of the piece, which ends within total
  net::Bytes piece = {};            // empty only if total is 0
  std::optional<Error> error = {};  // kEnd, kLeft
};
// kInvalidArgument for a frame that no process has to send.
Result<ProgramSaying> read_program_frame(net::Frame frame);

}  // namespace millrace::collectives
