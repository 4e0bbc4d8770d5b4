// Answerer: an actor that other processes ask, and that answers with what it was asked.
#pragma once

#include <cstdint>
#include <utility>

#include "millrace/actors/remote/remote_actors.h"

namespace millrace::bench {

struct Question {
  std::uint64_t number = 0;
  static constexpr auto fields() { return actors::field_list("number", &Question::number); }
  static void reduce(std::uint64_t& into, std::uint64_t&& next) { into += next; }
};
class Answerer final : public actors::Actor {
 public:
  using Remote = actors::RemoteMessages<Question>;
  std::uint64_t on(const Question& question) const { return question.number; }
};

}  // namespace millrace::bench
