// ProgramMaker: how random_program makes one: step by step, each of a family of operations chosen
// by weight, on values that are there. The parts: program_maker.cc (values, elementwise, control
// flow), program_maker_shapes.cc (what moves elements), program_maker_sums.cc (what adds them up),
// program_maker_devices.cc (collectives).
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/base/philox.h"
#include "tests/support/random_program.h"

namespace millrace::testing {

class ProgramMaker {
 public:
  explicit ProgramMaker(std::uint64_t seed, int devices = 1, bool is_manual = false)
      : random_(seed, 0, 0) {
    program_.seed = seed;
    program_.devices = devices;
    program_.is_manual = is_manual;
  }
  RandomProgram make();

 private:
  using DType = devices::DType;
  // What is known of a value's elements.
  struct Facts {
    bool exact = true;  // the same bits on every device
    bool clean = true;  // no NaN
    double bound = 4;   // no larger
  };
  using Wanted = std::function<bool(int value)>;

  // program_maker.cc
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_.next() % static_cast<std::uint32_t>(n));
  }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(list.size())))];
  }
  std::vector<std::int64_t> random_dims(int most);
  DType random_type();
  const TensorType& type(int v) const { return program_.type(v); }
  Facts& facts(int v) { return facts_[static_cast<std::size_t>(v)]; }
  bool is_float(int v) const { return devices::is_floating(type(v).dtype); }
  bool is_integer(int v) const;
  int rank(int v) const { return static_cast<int>(type(v).dims.size()); }
  // Copies: what is given may lie in the lists that grow.
  int new_value(TensorType type, Facts facts);
  int parameter(TensorType type, bool special = false);
  int splat(TensorType type, const std::string& text, double bound);
  // A value that is there, nullopt if none is as wanted.
  std::optional<int> pick(const Wanted& wanted);
  std::optional<int> pick_any() {
    return pick([](int) { return true; });
  }
  // One of the same type: one that is there, or a new parameter or constant.
  int same_type(int v, const Wanted& wanted);
  int emit(std::string op, std::vector<int> operands, TensorType type, Facts facts,
           std::vector<ProgramAttribute> attributes = {}, std::vector<ProgramBlock> blocks = {});
  Facts joined(std::initializer_list<int> values);
  void add_step();
  void unary();
  void binary();
  void compare_or_select();
  void convert();
  void complex_numbers();
  ProgramBlock inner_block(const std::vector<int>& parameters,
                           const std::vector<TensorType>& wanted);
  void branch();
  void loop();

  // program_maker_shapes.cc
  void reshape_or_transpose();
  void broadcast_or_iota();
  void slice_or_reverse();
  void pad_or_concatenate();
  void dynamic_slices();
  void gather();
  void scatter();
  int index_array(const std::vector<std::int64_t>& dims);

  // program_maker_sums.cc
  struct Body {
    std::string op;
    std::string start;  // that changes nothing
  };
  std::optional<Body> random_body(int operand);
  ProgramBlock body_block(const Body& body, DType type);
  Facts summed(int operand, const Body& body, double count);
  void reduce();
  void reduce_window();
  void sort();
  void dot();
  void convolution();

  // program_maker_devices.cc
  void collective();
  void reduce_over_devices(bool scatters);
  void gather_from_devices();
  void exchange_with_devices();
  void move_between_devices();
  void device_id();
  // Attributes that say who takes part, in groups of this size.
  std::vector<ProgramAttribute> grouped(std::int64_t size, bool global);
  std::int64_t group_size();
  // The same on all devices.
  int agreed(int selector);
  int over_devices(int v, const Body& body, std::int64_t size);

  RandomStream random_;
  int channels_ = 0;
  RandomProgram program_;
  std::vector<Facts> facts_;
  std::vector<int> scope_;                     // values that may be used here
  std::vector<ProgramStep>* steps_ = nullptr;  // of the block that is being made
  int depth_ = 0;
};

}  // namespace millrace::testing
