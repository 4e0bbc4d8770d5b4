// What a user meant who has slipped on the keys.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace millrace::commands {

// The known word that the fewest slips turn into this one: a character too many, too few or
// another, or two neighbours that are swapped (the distance of optimal string alignment). Empty:
// all are more than a third of the word's characters away, or the word is one of them. Of several
// the first.
std::string closest(std::string_view word, std::span<const std::string> known);

}  // namespace millrace::commands
