#include "millrace/collectives/schedule_builder.h"

#include <algorithm>

namespace millrace::collectives {

void ScheduleBuilder::add(Step step, std::span<const Slice> slices) {
  step.first = schedule_.slices.size();
  step.count = slices.size();
  schedule_.steps.push_back(step);
  schedule_.slices.insert(schedule_.slices.end(), slices.begin(), slices.end());
}

void ScheduleBuilder::fold(const Slice& target, std::span<const Slice> sources, bool last) {
  add({Step::Kind::kFold, last, -1}, std::span(&target, 1));
  schedule_.slices.insert(schedule_.slices.end(), sources.begin(), sources.end());
  schedule_.steps.back().count += sources.size();
}

void ScheduleBuilder::copy(const Slice& target, const Slice& source) {
  if (target.bytes == 0) return;
  const Slice both[] = {target, source};
  add({Step::Kind::kCopy, false, -1}, both);
}

Slice ScheduleBuilder::scratch(std::size_t bytes) {
  const std::size_t begin = schedule_.scratch_bytes;
  schedule_.scratch_bytes += bytes;
  return {Slice::Place::kScratch, 0, begin, bytes};
}

Messages cut(const Slices& whole, std::size_t most_bytes) {
  Messages messages;
  std::size_t room = 0;
  for (Slice rest : whole) {
    while (rest.bytes > 0) {
      if (room == 0) {
        messages.emplace_back();
        room = most_bytes;
      }
      Slice piece = rest;
      piece.bytes = std::min(rest.bytes, room);
      messages.back().push_back(piece);
      room -= piece.bytes;
      rest.begin += piece.bytes;
      rest.bytes -= piece.bytes;
    }
  }
  return messages;
}

void exchange(ScheduleBuilder& builder, const ScheduleParts& parts, std::span<const Messages> out,
              std::span<const Messages> in) {
  std::size_t rounds = 0;
  for (const Messages& messages : out) rounds = std::max(rounds, messages.size());
  for (const Messages& messages : in) rounds = std::max(rounds, messages.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    for (int step = 1; step < parts.processes(); ++step) {
      const int to = parts.after(step);
      const Messages& messages = out[static_cast<std::size_t>(to)];
      if (round < messages.size()) builder.send(to, messages[round]);
    }
    for (int step = 1; step < parts.processes(); ++step) {
      const int from = parts.after(-step);
      const Messages& messages = in[static_cast<std::size_t>(from)];
      if (round < messages.size()) builder.receive(from, messages[round]);
    }
  }
}

}  // namespace millrace::collectives
