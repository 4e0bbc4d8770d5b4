// The table of functions of the PJRT C API, which is described here once for the client, for
// `millrace conform` and for plugins. Read next: structures.h, what the functions take;
// extensions.h; ../plugin.h, which makes the calls.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "millrace/devices/pjrt/abi/structures.h"

namespace millrace::devices::pjrt::abi {

// A function of the table. Error_Message and Error_Destroy give nothing back.
template <class A>
using Function =
    std::conditional_t<std::is_same_v<A, ErrorMessageArgs> || std::is_same_v<A, ErrorDestroyArgs>,
                       void (*)(A* args), Error* (*)(A* args)>;

struct Version {
  std::size_t struct_size = sizeof(Version);
  void* extension_start = nullptr;
  int major_version = kMajor;
  int minor_version = kMinor;
};

// For a function that is called through, or calls through, a pointer of another type than its own,
// as the functions of a plugin that is written in C.
#if defined(__clang__)
#define MILLRACE_PJRT_UNTYPED [[clang::no_sanitize("function")]]
#else
#define MILLRACE_PJRT_UNTYPED
#endif

// A plugin's table; as it is made here, one without functions.
struct Api {
  std::size_t struct_size = sizeof(Api);
  void* extension_start = nullptr;
  Version version;
  void* functions[kSlots] = {};  // as many as struct_size says

  bool has(Slot slot) const {
    const auto i = static_cast<std::size_t>(slot);
    return struct_size >= offsetof(Api, functions) + (i + 1) * sizeof(void*) &&
           functions[i] != nullptr;
  }
  // The function that takes A.
  template <class A>
  Function<A> function() const {
    return reinterpret_cast<Function<A>>(functions[static_cast<std::size_t>(Call<A>::kSlot)]);
  }
  // Puts a function, or a lambda without captures, into the slot of what it takes. One that gives
  // nothing back succeeds always.
  template <class F>
  void set(F function) {
    put(function, +function);
  }
  // Every slot gets kFunction(slot, structure).
  template <Error* (*kFunction)(Slot slot, void* args)>
  void set_all() {
    [this]<std::size_t... kSlot>(std::index_sequence<kSlot...>) {
      ((functions[kSlot] = reinterpret_cast<void*>(&untyped<kFunction, Slot{kSlot}>)), ...);
    }(std::make_index_sequence<kSlots>());
  }

 private:
  template <auto kFunction, Slot kSlot>
  MILLRACE_PJRT_UNTYPED static Error* untyped(void* args) {
    return kFunction(kSlot, args);
  }
  template <class F, class R, class A>
  void put(F /*function*/, R (*plain)(A* args)) {
    Function<A> made;
    if constexpr (std::is_same_v<R (*)(A*), Function<A>>) {
      made = plain;
    } else {
      static_assert(std::is_class_v<F>);
      made = [](A* args) -> Error* {
        F()(args);
        return nullptr;
      };
    }
    functions[static_cast<std::size_t>(Call<A>::kSlot)] = reinterpret_cast<void*>(made);
  }
};
static_assert(sizeof(Version) == 24 && offsetof(Api, functions) == 40);

// How many functions the table of a minor has, in the order in which they were appended
// (calls.inc). minor: kOldestMinor or newer; of one that is not known yet, what the newest known
// one has.
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
// structure than theirs and others a longer one, so each gets its own: of one that is not known
// yet, with room for what it may have appended. minor: kOldestMinor or newer.
constexpr std::size_t execute_options_size(int minor) {
  if (minor < 76) return 80;    // up to the context
  if (minor < 78) return 88;    // the place of the call
  if (minor < 97) return 112;   // tasks and their incarnations
  if (minor < 110) return 120;  // slices
  if (minor <= kMinor) return 144;
  return kStructSize<RoomyExecuteOptions>;
}

struct Extension {
  std::size_t struct_size;
  int type;
  Extension* next;
};

}  // namespace millrace::devices::pjrt::abi
