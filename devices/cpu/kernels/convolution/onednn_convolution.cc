#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>

#include "millrace/core/base/clock.h"
#include "millrace/devices/cpu/kernels/contraction/onednn.h"
#include "millrace/devices/cpu/kernels/contraction/onednn_support.inc"
#include "millrace/devices/memory_pool.h"

namespace millrace::devices::cpu {
namespace {

using Dims = std::vector<std::int64_t>;
using Desc = dnnl::memory::desc;

// FLOPs that make a part of the batch worth its start.
constexpr double kPartFlops = 6e6;
constexpr std::int64_t kMaxParts = 64;
// Above this many FLOPs the first choice was the best or within 7 % of it in every convolution of
// ResNet-18's training step.
constexpr double kTrialFlops = 2e8;

// Which operands oneDNN may lay out as it likes; the others have the program's strides.
struct Freedom {
  bool source = false, weights = false, destination = false;
};

enum Role { kSource, kWeights, kDestination };
// What the first and the second input and the output are, by kind, and oneDNN's names for them.
struct Roles {
  Role first, second, out;
  int names[3];
};
constexpr Roles kRoles[] = {
    {kSource, kWeights, kDestination, {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST}},
    {kDestination, kWeights, kSource, {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC}},
    {kSource, kDestination, kWeights, {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS}}};
const Roles& roles_of(const ConvolutionSpec& s) { return kRoles[static_cast<int>(s.kind)]; }

struct Primitive {
  dnnl::primitive primitive;
  Desc source, weights, destination, scratchpad;
  bool reference = false;
};

Dims with_batch(std::int64_t n, std::int64_t channels, const Dims& spatial) {
  Dims dims{n, channels};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return dims;
}

Dims weights_dims(const ConvolutionSpec& s) {
  Dims dims;
  if (s.groups > 1) dims.push_back(s.groups);
  dims.push_back(s.oc / s.groups);
  dims.push_back(s.ic / s.groups);
  dims.insert(dims.end(), s.kernel.begin(), s.kernel.end());
  return dims;
}

Desc weights_desc(const ConvolutionSpec& s) {
  Dims strides = s.weights_strides;
  if (s.groups > 1) strides.insert(strides.begin(), s.oc / s.groups * s.weights_strides[0]);
  return f32_desc(weights_dims(s), strides);
}

Primitive make_primitive(const ConvolutionSpec& s, std::int64_t n, Freedom free) {
  namespace d = dnnl;
  constexpr auto kAlgorithm = d::algorithm::convolution_direct;
  const Dims source_dims = with_batch(n, s.ic, s.in), destination_dims = with_batch(n, s.oc, s.out);
  const Desc source = free.source ? f32_any(source_dims) : f32_desc(source_dims, s.source_strides);
  const Desc destination = free.destination ? f32_any(destination_dims)
                                            : f32_desc(destination_dims, s.destination_strides);
  const Desc weights = free.weights ? f32_any(weights_dims(s)) : weights_desc(s);
  Dims dilations = onednn_sizes(s.dilations);
  for (std::int64_t& x : dilations) --x;
  for (const Dims* sizes : {&s.strides, &s.pad_low, &s.pad_high}) onednn_sizes(*sizes);
  const d::primitive_attr attr = user_scratchpad();
  const d::engine& engine = onednn_engine();
  const auto forward = [&](d::prop_kind kind) {
    return d::convolution_forward::primitive_desc(
        d::convolution_forward::desc(kind, kAlgorithm, source, weights, destination, s.strides,
                                     dilations, s.pad_low, s.pad_high),
        attr, engine);
  };
  Primitive p;
  const auto take = [&](auto primitive, const auto& pd, const Desc& a, const Desc& w,
                        const Desc& to) {
    p.primitive = std::move(primitive);
    p.source = a;
    p.weights = w;
    p.destination = to;
    p.scratchpad = pd.scratchpad_desc();
    p.reference = std::string_view(pd.impl_info_str()).starts_with("ref");
  };
  switch (s.kind) {
    case ConvolutionKind::kForward: {
      const auto pd = forward(d::prop_kind::forward_inference);
      take(d::convolution_forward(pd), pd, pd.src_desc(), pd.weights_desc(), pd.dst_desc());
      break;
    }
    case ConvolutionKind::kBackwardData: {
      const d::convolution_backward_data::primitive_desc pd(
          d::convolution_backward_data::desc(kAlgorithm, source, weights, destination, s.strides,
                                             dilations, s.pad_low, s.pad_high),
          attr, engine, forward(d::prop_kind::forward_training));
      take(d::convolution_backward_data(pd), pd, pd.diff_src_desc(), pd.weights_desc(),
           pd.diff_dst_desc());
      break;
    }
    case ConvolutionKind::kBackwardWeights: {
      const d::convolution_backward_weights::primitive_desc pd(
          d::convolution_backward_weights::desc(kAlgorithm, source, weights, destination, s.strides,
                                                dilations, s.pad_low, s.pad_high),
          attr, engine, forward(d::prop_kind::forward_training));
      take(d::convolution_backward_weights(pd), pd, pd.src_desc(), pd.diff_weights_desc(),
           pd.diff_dst_desc());
      break;
    }
  }
  return p;
}

// One operand: the program's layout, oneDNN's, and where the reordered copy lies in a scratch
// region.
struct Operand {
  Desc user, inner;
  bool reorder = false;
  // In the part's scratch; for the weights of forward and data in the common scratch.
  std::size_t offset = 0;
};

// The batch is split into parts of equal size. Weights are reordered once per run; a weights'
// gradient is summed over the parts, in order, in oneDNN's layout.
class Convolution final : public OneDnnKernel {
 public:
  Convolution(const ConvolutionSpec& spec, Freedom free) : spec_(spec) {
    const double wanted = convolution_flops(spec) / kPartFlops;
    for (std::int64_t p = 2; p <= kMaxParts && p <= spec.n && static_cast<double>(p) <= wanted;
         ++p) {
      if (spec.n % p == 0) parts_ = p;
    }
    rows_ = spec.n / parts_;
    primitive_ = make_primitive(spec, rows_, free);
    const Dims source_dims = with_batch(rows_, spec.ic, spec.in),
               out_dims = with_batch(rows_, spec.oc, spec.out);
    set(kSource, f32_desc(source_dims, spec.source_strides), primitive_.source);
    set(kDestination, f32_desc(out_dims, spec.destination_strides), primitive_.destination);
    set(kWeights, weights_desc(spec), primitive_.weights);
    lay_out();
  }

  bool reference() const { return primitive_.reference; }
  std::int64_t parts() const { return parts_; }
  std::size_t scratch_bytes() const override {
    return common_ + part_ * static_cast<std::size_t>(parts_);
  }

  Result<std::unique_ptr<OneDnnState>> make_state() const override {
    return guard_onednn("convolution's execution", [&] { return make_parts(); });
  }

  void run(OneDnnState& state, std::span<const void* const> inputs, void* output,
           std::byte* scratch, Parallel& parallel) const override {
    auto& s = static_cast<State&>(state);
    const auto kind = spec_.kind;
    const void* weights = kind == ConvolutionKind::kBackwardWeights ? nullptr : inputs[1];
    if (weights != nullptr && operands_[kWeights].reorder) {
      s.weights->execute({const_cast<void*>(weights), scratch});
      weights = scratch;
    }
    const auto body = [&](int p) { run_part(s, p, inputs, weights, output, scratch); };
    parallel.run(static_cast<int>(parts_), body);
    if (kind == ConvolutionKind::kBackwardWeights) sum_parts(s, output, scratch);
  }

 private:
  struct PartState {
    BoundPrimitive main;
    std::optional<BoundPrimitive> reorders[3];
  };
  struct State final : OneDnnState {
    std::vector<PartState> parts;
    std::optional<BoundPrimitive> weights;
  };

  std::unique_ptr<OneDnnState> make_parts() const {
    auto state = std::make_unique<State>();
    state->weights = reorder(kWeights);
    for (std::int64_t p = 0; p < parts_; ++p) {
      PartState part{.main = BoundPrimitive(primitive_.primitive, main_args())};
      for (Role r : {kSource, kDestination}) part.reorders[r] = reorder(r);
      state->parts.push_back(std::move(part));
    }
    return state;
  }

  void set(Role role, const Desc& user, const Desc& inner) {
    operands_[role] = {.user = user, .inner = inner, .reorder = user != inner};
  }

  void lay_out() {
    std::size_t top = 0;
    for (Role r : {kSource, kDestination}) {
      operands_[r].offset = top;
      if (operands_[r].reorder) top += align64(operands_[r].inner.get_size());
    }
    operands_[kWeights].offset = top;
    const std::size_t weights = align64(operands_[kWeights].inner.get_size());
    if (spec_.kind == ConvolutionKind::kBackwardWeights)
      top += weights;
    else
      common_ = operands_[kWeights].reorder ? weights : 0;
    scratchpad_ = top;
    top += align64(primitive_.scratchpad.get_size());
    part_ = top;
  }

  // From the program's layout to oneDNN's, or back for the output; nullopt where both are the same.
  std::optional<BoundPrimitive> reorder(Role role) const {
    const Operand& o = operands_[role];
    if (!o.reorder) return std::nullopt;
    const bool out = roles_of(spec_).out == role;
    const Desc &from = out ? o.inner : o.user, &to = out ? o.user : o.inner;
    const dnnl::reorder::primitive_desc pd(onednn_engine(), from, onednn_engine(), to);
    return BoundPrimitive(dnnl::reorder(pd), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }

  // In the order: first input, second input, output, scratchpad.
  std::vector<std::pair<int, Desc>> main_args() const {
    const Roles& r = roles_of(spec_);
    return {{r.names[0], operands_[r.first].inner},
            {r.names[1], operands_[r.second].inner},
            {r.names[2], operands_[r.out].inner},
            {DNNL_ARG_SCRATCHPAD, primitive_.scratchpad}};
  }

  void run_part(State& state, int p, std::span<const void* const> inputs, const void* weights,
                void* output, std::byte* scratch) const {
    PartState& part = state.parts[static_cast<std::size_t>(p)];
    std::byte* own = scratch + common_ + part_ * static_cast<std::size_t>(p);
    const auto rows = [&](const void* data, Role r) {
      const auto& strides = r == kSource ? spec_.source_strides : spec_.destination_strides;
      return const_cast<float*>(static_cast<const float*>(data) + strides[0] * rows_ * p);
    };
    const auto input = [&](const void* data, Role r) -> void* {
      float* user = rows(data, r);
      if (!operands_[r].reorder) return user;
      part.reorders[r]->execute({user, own + operands_[r].offset});
      return own + operands_[r].offset;
    };
    const Roles& roles = roles_of(spec_);
    const Role out = roles.out;
    void* results;
    if (out == kWeights)
      results = own + operands_[kWeights].offset;
    else
      results = operands_[out].reorder ? static_cast<void*>(own + operands_[out].offset)
                                       : rows(output, out);
    void* first = input(inputs[0], roles.first);
    void* second =
        roles.second == kWeights ? const_cast<void*>(weights) : input(inputs[1], roles.second);
    part.main.execute({first, second, results, own + scratchpad_});
    if (out != kWeights && operands_[out].reorder)
      part.reorders[out]->execute({results, rows(output, out)});
  }

  void sum_parts(State& state, void* output, std::byte* scratch) const {
    const Operand& w = operands_[kWeights];
    const std::size_t n = w.inner.get_size() / sizeof(float);
    auto* total = reinterpret_cast<float*>(scratch + common_ + w.offset);
    for (std::int64_t p = 1; p < parts_; ++p) {
      const auto* more = reinterpret_cast<const float*>(
          scratch + common_ + part_ * static_cast<std::size_t>(p) + w.offset);
      for (std::size_t i = 0; i < n; ++i) total[i] += more[i];
    }
    if (w.reorder)
      state.weights->execute({total, output});
    else
      std::memcpy(output, total, n * sizeof(float));
  }

  ConvolutionSpec spec_;
  std::int64_t parts_ = 1, rows_ = 1;
  Primitive primitive_;
  Operand operands_[3];
  std::size_t common_ = 0, part_ = 0, scratchpad_ = 0;
};

// Weights free, all as the program has them, everything free.
constexpr Freedom kWays[] = {{false, true, false}, {}, {true, true, true}};

Result<std::unique_ptr<Convolution>> make_way(const ConvolutionSpec& spec, int way) {
  return guard_onednn("convolution of this shape",
                      [&] { return std::make_unique<Convolution>(spec, kWays[way]); });
}

// Milliseconds of one run of `whole` on this thread, best of a few, on operands of ones. One part
// of it runs, since the others take as long, where it lies in the whole.
Result<double> trial(const ConvolutionSpec& whole, std::int64_t parts, int way) {
  ConvolutionSpec s = whole;
  s.n /= parts;
  MILLRACE_TRY(const auto part, make_way(s, way));
  const auto floats = [](const Dims& dims) {
    std::int64_t n = 16;
    for (std::int64_t d : dims) n = n == 16 ? 16 + d : 16 + (n - 16) * d;
    return static_cast<std::size_t>(n);
  };
  const std::size_t source = floats(with_batch(whole.n, s.ic, s.in)),
                    destination = floats(with_batch(whole.n, s.oc, s.out));
  const std::size_t weights = floats(weights_dims(s));
  MILLRACE_TRY_STATUS(check_memory_left("the trial of a convolution",
                                        (source + destination + weights) * sizeof(float)));
  std::vector<float> a(source, 1.0f), b(destination, 1.0f), w(weights, 1.0f);
  MILLRACE_TRY(const SystemMemory scratch,
               allocate_memory(part->scratch_bytes() + 64, "the trial of a convolution"));
  float* const data[] = {a.data(), w.data(), b.data()};  // by Role
  const Roles& roles = roles_of(s);
  const void* const inputs[] = {data[roles.first], data[roles.second]};
  void* const output = data[roles.out];
  MILLRACE_TRY(const auto state, part->make_state());
  const auto serial = make_serial_parallel();
  double best = 1e30;
  for (int i = 0; i < 4; ++i) {
    const auto begin = steady_clock().now();
    part->run(*state, inputs, output, scratch.get(), *serial);
    const std::chrono::duration<double, std::milli> took = steady_clock().now() - begin;
    if (i > 0 || took.count() > 50) best = std::min(best, took.count());
    if (took.count() > 50) break;
  }
  return best * static_cast<double>(parts);
}

}  // namespace

double convolution_flops(const ConvolutionSpec& s) {
  const std::int64_t group_inputs = s.ic / s.groups;
  double flops = 2.0 * static_cast<double>(s.n) * static_cast<double>(s.oc) *
                 static_cast<double>(group_inputs);
  for (std::int64_t d : s.out) flops *= static_cast<double>(d);
  for (std::int64_t d : s.kernel) flops *= static_cast<double>(d);
  return flops;
}

Result<ConvolutionChoice> make_convolution(const ConvolutionSpec& spec, bool deterministic) {
  const bool tries = !deterministic && convolution_flops(spec) <= kTrialFlops;
  std::unique_ptr<Convolution> best;
  double best_time = 0;
  int best_way = 0;
  std::optional<Error> error;
  for (int way = 0; way < static_cast<int>(std::size(kWays)); ++way) {
    auto made = make_way(spec, way);
    if (!made) {
      error = made.error();
      if (error->code() == ErrorCode::kResourceExhausted) break;
      continue;
    }
    if ((*made)->reference()) {
      error = Error(ErrorCode::kUnimplemented, "oneDNN has only its reference, which is slow");
      continue;
    }
    double time = 0;
    if (tries) {
      MILLRACE_TRY(time, trial(spec, (*made)->parts(), way));
    }
    if (best == nullptr || time < best_time) {
      best = std::move(*made);
      best_time = time;
      best_way = way;
    }
    if (!tries) break;
  }
  // Which way it is must not depend on the memory that there is: its results are not all the same.
  if (best == nullptr || (error && error->code() == ErrorCode::kResourceExhausted))
    return std::unexpected(*error);
  return ConvolutionChoice{std::move(best), best_time, best_way};
}

Result<ConvolutionChoice> make_convolution_again(const ConvolutionSpec& spec, int way) {
  if (way < 0 || way >= static_cast<int>(std::size(kWays))) {
    return fail(ErrorCode::kInvalidArgument,
                "a convolution has no way number " + std::to_string(way));
  }
  MILLRACE_TRY(std::unique_ptr<Convolution> made, make_way(spec, way));
  return ConvolutionChoice{std::move(made), 0, way};
}

}  // namespace millrace::devices::cpu
