// FreeBy: the deleter of what a C library made and frees by a function of its own:
//
//   std::unique_ptr<event, FreeBy<&event_free>> timer(evtimer_new(...));
#pragma once

namespace millrace {

template <auto kFree>
struct FreeBy {
  template <class T>
  void operator()(T* one) const {
    kFree(one);
  }
};

}  // namespace millrace
