// What a minor of PJRT has: how many functions its table, in the order in which they were appended
// (abi/calls.inc), and how many bytes its options of a launch. Facts of the ABI.
#pragma once

#include <array>
#include <cstddef>

#include "millrace/devices/pjrt/abi/api.h"

namespace millrace::devices::pjrt::abi {

// minor: kOldestMinor or newer; of one that is not known yet, what the newest known one has.
constexpr std::size_t least_functions(int minor) {
  struct Age {
    int minor;  // that brought functions
    std::size_t functions;
  };
  constexpr std::array kAges = {
      Age{68, 112}, Age{69, 113},  Age{73, 114},  Age{75, 115},  Age{77, 117}, Age{79, 118},
      Age{82, 119}, Age{83, 120},  Age{84, 121},  Age{85, 122},  Age{86, 124}, Age{87, 125},
      Age{88, 126}, Age{89, 128},  Age{92, 129},  Age{95, 130},  Age{96, 131}, Age{98, 132},
      Age{99, 133}, Age{101, 134}, Age{102, 135}, Age{106, 136}, Age{115, 138}};
  std::size_t functions = kAges[0].functions;
  for (const Age& age : kAges) {
    if (age.minor <= minor) functions = age.functions;
  }
  return functions;
}

// The size to state for the options of a launch, whose end is zero. XLA's plugins refuse a shorter
// structure than theirs and others a longer one, so each is told its own: of one that is not known
// yet, with room for what it may have appended. minor: kOldestMinor or newer.
constexpr std::size_t execute_options_size(int minor) {
  if (minor < 76) return 80;    // up to the context
  if (minor < 78) return 88;    // the place of the call
  if (minor < 97) return 112;   // tasks and their incarnations
  if (minor < 110) return 120;  // slices
  if (minor <= kMinor) return 144;
  return kStructSize<RoomyExecuteOptions>;
}

}  // namespace millrace::devices::pjrt::abi
