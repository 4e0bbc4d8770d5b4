// A library that reads past a matrix reads memory of ours: the run's scratch ends where no page
// follows. With Debian's BLIS the process ends here if nothing is kept behind the last piece.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "millrace/devices/cpu/linalg/lapack.h"
#include "millrace/devices/stablehlo/text/read_text.h"

namespace millrace::devices::cpu::testing {
namespace {

// Its last byte is the last one of a page; a page that may not be read follows.
class BeforeAGap {
 public:
  explicit BeforeAGap(std::size_t bytes)
      : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
        size_((bytes + page_ - 1) / page_ * page_ + page_),
        first_(static_cast<std::byte*>(
            ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        bytes_(first_ + size_ - page_ - bytes, bytes) {
    EXPECT_EQ(::mprotect(first_ + size_ - page_, page_, PROT_NONE), 0);
  }
  ~BeforeAGap() { ::munmap(first_, size_); }
  BeforeAGap(const BeforeAGap&) = delete;
  BeforeAGap& operator=(const BeforeAGap&) = delete;
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  const std::size_t page_, size_;
  std::byte* const first_;
  const std::span<std::byte> bytes_;
};

TEST(LapackMemoryTest, NoCallReadsPastItsScratch) {
  // LU and Cholesky factors are the library's from 129 rows on.
  for (const std::int64_t n : {17, 20, 48, 65, 80, 129, 136, 160}) {
    const std::string extent = std::to_string(n), vector = "tensor<" + extent + "xf32>",
                      square = "tensor<" + extent + "x" + extent + "xf32>";
    struct Case {
      std::string target, options, results;
      int operands = 1;
    };
    const Case cases[] = {
        {"sgetrf", "", square + ", tensor<" + extent + "xi32>, tensor<i32>"},
        {"sgeqrf", "", square + ", " + vector},
        {"spotrf", "uplo = 76 : ui8", square + ", tensor<i32>"},
        {"strsm", "diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8", square,
         2},
        {"ssyevd", "mode = 86 : ui8, uplo = 76 : ui8", square + ", " + vector + ", tensor<i32>"},
        {"sgesdd", "mode = 65 : ui8",
         square + ", " + vector + ", " + square + ", " + square + ", tensor<i32>"}};
    for (const Case& c : cases) {
      SCOPED_TRACE(c.target + " of " + extent);
      const auto count = std::ranges::count(c.results, '<');
      const auto module = stablehlo::text::read_text(
          "func.func @main(%a: " + square + ") -> " + square + " {\n%r" +
          (count > 1 ? ":" + std::to_string(count) : "") + " = stablehlo.custom_call @lapack_" +
          c.target + (c.operands > 1 ? "_ffi(%a, %a)" : "_ffi(%a)") + " {mhlo.backend_config = {" +
          c.options + "}} : (" + square + (c.operands > 1 ? ", " + square : "") + ") -> (" +
          c.results + ")\nreturn %a : " + square + "\n}\n");
      ASSERT_TRUE(module) << module.error().to_string();
      const ir::Op& op = *module->find("main")->body().block().begin();
      ASSERT_EQ(linalg::lapack_fault(op), "");
      const auto kernel = linalg::make_lapack_kernel(op);
      ASSERT_NE(kernel, nullptr);

      std::mt19937 random(static_cast<unsigned>(n));
      std::vector<float> matrix(static_cast<std::size_t>(n * n));
      for (float& x : matrix) x = static_cast<float>(random()) * 0x1p-32F;
      for (std::int64_t i = 0; i < n; ++i) matrix[static_cast<std::size_t>(i * n + i)] += 100;
      std::vector<std::vector<std::byte>> memory;
      std::vector<ConstArray> operands;
      std::vector<MutableArray> results;
      for (const ir::Value* v : op.operands())
        operands.push_back(
            {*ir::memory_shape(v->type()), reinterpret_cast<const std::byte*>(matrix.data())});
      for (const ir::Value& v : op.results()) {
        const Shape shape = *ir::memory_shape(v.type());
        results.push_back({shape, memory.emplace_back(shape.size_bytes()).data()});
      }
      const BeforeAGap scratch(kernel->scratch_bytes(operands, results));
      const Status ran = kernel->run(operands, results, scratch.bytes());
      EXPECT_TRUE(ran) << ran.error().to_string();
    }
  }
}

// However many matrices there are, one lies in scratch at a time.
TEST(LapackMemoryTest, ABatchTakesTheScratchOfOneMatrix) {
  const auto scratch_of = [](const std::string& batch) {
    const std::string array = "tensor<" + batch + "2x2xf32>", pivots = "tensor<" + batch + "2xi32>",
                      info = batch.empty()
                                 ? "tensor<i32>"
                                 : "tensor<" + batch.substr(0, batch.size() - 1) + "xi32>";
    const auto module = stablehlo::text::read_text(
        "func.func @main(%a: " + array + ") -> " + array +
        " {\n%r:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}} : (" +
        array + ") -> (" + array + ", " + pivots + ", " + info + ")\nreturn %a : " + array +
        "\n}\n");
    if (!module) throw std::runtime_error(module.error().to_string());
    const ir::Op& op = *module->find("main")->body().block().begin();
    std::vector<ConstArray> operands;
    std::vector<MutableArray> results;
    for (const ir::Value* v : op.operands()) operands.push_back({*ir::memory_shape(v->type())});
    for (const ir::Value& v : op.results()) results.push_back({*ir::memory_shape(v.type())});
    return linalg::make_lapack_kernel(op)->scratch_bytes(operands, results);
  };
  EXPECT_EQ(scratch_of("1000000x"), scratch_of(""));
}

}  // namespace
}  // namespace millrace::devices::cpu::testing
