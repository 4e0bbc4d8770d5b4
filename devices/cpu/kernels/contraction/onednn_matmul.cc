#include <algorithm>

#include "millrace/devices/cpu/kernels/contraction/onednn.h"
#include "millrace/devices/cpu/kernels/contraction/onednn_support.inc"

namespace millrace::devices::cpu {
namespace {

// Multiply-adds that make a part worth its start.
constexpr double kPartWork = 2e6;
constexpr std::int64_t kMaxParts = 32;

using Args = std::vector<std::pair<int, dnnl::memory::desc>>;

struct Shaped {
  dnnl::primitive primitive;
  Args args;
  std::size_t scratch = 0;
};

// The rows are split into parts of `rows_`, the last one shorter; or, for few rows, the columns.
class Matmul final : public OneDnnKernel {
 public:
  explicit Matmul(const MatmulSpec& spec) : spec_(spec) {
    const double work = static_cast<double>(spec.batch) * static_cast<double>(spec.m) *
                        static_cast<double>(spec.n) * static_cast<double>(spec.k);
    const auto wanted =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(work / kPartWork), 1, kMaxParts);
    if (spec.batch >= wanted && spec.batch > 1)
      axis_ = 0;
    else
      axis_ = spec.m >= spec.n ? 1 : 2;
    const std::int64_t extent = axis_ == 0 ? spec.batch : axis_ == 1 ? spec.m : spec.n;
    const std::int64_t grain = axis_ == 0 ? 1 : 16;
    step_ = ((extent + wanted - 1) / wanted + grain - 1) / grain * grain;
    parts_ = static_cast<int>((extent + step_ - 1) / step_);
    whole_ = make(std::min(step_, extent));
    last_extent_ = extent - step_ * (parts_ - 1);
    last_ = last_extent_ == std::min(step_, extent) ? whole_ : make(last_extent_);
    scratch_ = align64(std::max(whole_.scratch, last_.scratch));
  }

  Result<std::unique_ptr<OneDnnState>> make_state() const override {
    return guard_onednn("matmul's execution", [&]() -> std::unique_ptr<OneDnnState> {
      auto state = std::make_unique<State>();
      for (int p = 0; p < parts_; ++p) {
        const Shaped& s = p + 1 == parts_ ? last_ : whole_;
        state->parts.emplace_back(s.primitive, s.args);
      }
      return state;
    });
  }
  std::size_t scratch_bytes() const override { return scratch_ * static_cast<std::size_t>(parts_); }

  void run(OneDnnState& state, std::span<const void* const> inputs, void* output,
           std::byte* scratch, Parallel& parallel) const override {
    auto& parts = static_cast<State&>(state).parts;
    const auto* a = static_cast<const float*>(inputs[0]);
    const auto* b = static_cast<const float*>(inputs[1]);
    auto* c = static_cast<float*>(output);
    const auto body = [&](int p) {
      const std::int64_t at = step_ * p;
      const std::int64_t ao = axis_ == 0 ? at * spec_.a_batch : axis_ == 1 ? at * spec_.a_row : 0;
      const std::int64_t bo = axis_ == 0   ? at * spec_.b_batch
                              : axis_ == 2 ? at * spec_.b_column
                                           : 0;
      const std::int64_t co = axis_ == 0 ? at * spec_.c_batch : axis_ == 1 ? at * spec_.c_row : at;
      std::byte* pad = scratch + scratch_ * static_cast<std::size_t>(p);
      parts[static_cast<std::size_t>(p)].execute(
          {const_cast<float*>(a + ao), const_cast<float*>(b + bo), c + co, pad});
    };
    parallel.run(parts_, body);
  }

 private:
  struct State final : OneDnnState {
    std::vector<BoundPrimitive> parts;
  };

  Shaped make(std::int64_t extent) const {
    std::int64_t batch = spec_.batch, m = spec_.m, n = spec_.n;
    (axis_ == 0 ? batch : axis_ == 1 ? m : n) = extent;
    using Dims = std::vector<std::int64_t>;
    const bool batched = spec_.batch > 1;
    const auto desc = [&](std::int64_t rows, std::int64_t columns, std::int64_t sb, std::int64_t sr,
                          std::int64_t sc) {
      return batched ? f32_desc(Dims{batch, rows, columns}, Dims{sb, sr, sc})
                     : f32_desc(Dims{rows, columns}, Dims{sr, sc});
    };
    const auto a = desc(m, spec_.k, spec_.a_batch, spec_.a_row, spec_.a_column);
    const auto b = desc(spec_.k, n, spec_.b_batch, spec_.b_row, spec_.b_column);
    const auto c = desc(m, n, spec_.c_batch, spec_.c_row, 1);
    const dnnl::matmul::primitive_desc pd(dnnl::matmul::desc(a, b, c), user_scratchpad(),
                                          onednn_engine());
    return {dnnl::matmul(pd),
            {{DNNL_ARG_SRC, a},
             {DNNL_ARG_WEIGHTS, b},
             {DNNL_ARG_DST, c},
             {DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc()}},
            pd.scratchpad_desc().get_size()};
  }

  MatmulSpec spec_;
  int axis_ = 1;  // what is split: 0 batch, 1 rows, 2 columns
  std::int64_t step_ = 1, last_extent_ = 1;
  int parts_ = 1;
  Shaped whole_, last_;
  std::size_t scratch_ = 0;
};

}  // namespace

Result<std::unique_ptr<OneDnnKernel>> make_matmul(const MatmulSpec& spec) {
  return guard_onednn("matmul of this shape", [&]() -> std::unique_ptr<OneDnnKernel> {
    return std::make_unique<Matmul>(spec);
  });
}

}  // namespace millrace::devices::cpu
