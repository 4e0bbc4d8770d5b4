// The CPU device and the compilation cache: what its trials have chosen is kept and not measured
// again. Real threads, because the client has them; nothing here depends on their order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/cache/compilation_cache.h"
#include "millrace/devices/cpu/client.h"
#include "millrace/devices/cpu/compile/compile.h"
#include "millrace/devices/cpu/serialized_program.h"
#include "tests/support/temp_folder.h"

namespace millrace::devices::cpu {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using testing::TempFolder;

// Large enough for oneDNN, so that there is something to choose.
constexpr const char* kConvolution = R"(
func.func public @main(%x: tensor<2x12x12x8xf32>, %w: tensor<3x3x8x16xf32>)
    -> tensor<2x12x12x16xf32> {
  %0 = stablehlo.convolution(%x, %w)
      dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1],
                reverse = [0, 0]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<2x12x12x8xf32>, tensor<3x3x8x16xf32>) -> tensor<2x12x12x16xf32>
  return %0 : tensor<2x12x12x16xf32>
})";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

class CpuCacheTest : public ::testing::Test {
 protected:
  CpuCacheTest() {
    CpuClientOptions options{.compile = [this](const Program& program, const CompileOptions& how,
                                               const CompileContext& context) {
      ++(context.chosen == nullptr ? compiled_ : compiled_again_);
      return cpu::compile(program, how, context);
    }};
    options.threads.push_back({.executor = threads_.get(), .parallel = &threads_->parallel()});
    client_ = std::make_unique<CpuClient>(std::move(options));
  }
  ~CpuCacheTest() override {
    EXPECT_TRUE(wait_blocking(client_->close()));
    client_.reset();
    EXPECT_TRUE(wait_blocking(threads_->close()));
  }
  fs::path entry() const { return fs::directory_iterator(folder_.path())->path(); }
  KernelChoices choices(const Executable& executable) const {
    const std::string bytes = executable.body()->serialize().value();
    return SerializedProgram::parse(bytes).value().choices;
  }

  const TempFolder folder_;
  int compiled_ = 0, compiled_again_ = 0;
  std::unique_ptr<PoolExecutor> threads_ = make_executor(ExecutorBackend::kThreads, 2, "cache");
  std::unique_ptr<CpuClient> client_;
  const Program program_ = Program::from_text(kConvolution, "conv");
};

TEST_F(CpuCacheTest, SecondProcessTakesTheKernelsThatTheFirstHasChosen) {
  const Executable first =
      CompilationCache({.folder = folder_.path()}).compile(*client_, program_, {}).value();
  ASSERT_THAT(choices(first), SizeIs(1));
  EXPECT_GE(choices(first)[0].form, 0) << "the plain loops: there was nothing to choose";
  CompilationCache cache({.folder = folder_.path()});
  bool hit = false;
  const Executable second = cache.compile(*client_, program_, {}, &hit).value();
  EXPECT_TRUE(hit);
  EXPECT_EQ(cache.stats().hits, 1U);
  EXPECT_EQ(compiled_, 1);
  EXPECT_EQ(compiled_again_, 1);
  EXPECT_EQ(choices(second), choices(first));
  EXPECT_EQ(second.name(), "conv");
}

TEST_F(CpuCacheTest, OtherOptionsAndOtherProgramsAreNotTaken) {
  CompilationCache cache({.folder = folder_.path()});
  CompileOptions deterministic, bound;
  deterministic.deterministic = true;
  bound.portable = false;
  ASSERT_TRUE(cache.compile(*client_, program_, {}));
  ASSERT_TRUE(cache.compile(*client_, program_, deterministic));
  ASSERT_TRUE(cache.compile(*client_, program_, bound));
  ASSERT_TRUE(cache.compile(*client_, Program::from_text(std::string(kConvolution) + "\n"), {}));
  EXPECT_EQ(cache.stats().hits, 0U);
  EXPECT_EQ(cache.stats().stored, 4U);
  EXPECT_EQ(compiled_, 4);
}

TEST_F(CpuCacheTest, EntryThatIsDamagedOrOfAnotherProgramIsCompiledAgain) {
  const CompilationCacheOptions options{.folder = folder_.path()};
  ASSERT_TRUE(CompilationCache(options).compile(*client_, program_, {}));
  fs::resize_file(entry(), fs::file_size(entry()) - 1);
  CompilationCache cache(options);
  ASSERT_TRUE(cache.compile(*client_, program_, {}));
  EXPECT_EQ(cache.stats().damaged, 1U);
  EXPECT_EQ(compiled_, 2);

  // Whole, but not what belongs there.
  const Digest key = CompilationCache::key(client_->compiler_identity(), program_, {});
  const std::string good = client_->compile(program_, {}).value().body()->serialize().value();
  for (const std::string& bad :
       {std::string("nothing"), replaced(good, "choices ", "choices 0.0 "),
        replaced(good, "choices ", "choices 77.0\nwas "), replaced(good, "12x12x8", "12x12x9"),
        replaced(good, "deterministic 0", "deterministic 1"),
        replaced(good, "compiler ", "compiler 0")}) {
    ASSERT_TRUE(EntryFolder(folder_.path(), options.max_bytes).put(key, bad));
    const auto before = cache.stats();
    ASSERT_TRUE(cache.compile(*client_, program_, {}));
    EXPECT_EQ(cache.stats().damaged, before.damaged + 1) << bad.substr(0, 300);
  }
}

TEST_F(CpuCacheTest, SerializedProgramIsLoadedAsItWasCompiled) {
  CompileOptions bound;
  bound.portable = false;
  bound.deterministic = true;
  const std::string bytes = client_->compile(program_, bound).value().body()->serialize().value();
  const Executable loaded = client_->load(bytes).value();
  EXPECT_EQ(compiled_again_, 1);
  EXPECT_EQ(loaded.body()->serialize().value(), bytes);
  // An entry of another compiler is compiled again.
  EXPECT_TRUE(client_->load(replaced(bytes, "compiler ", "compiler 0")));
  EXPECT_EQ(compiled_again_, 1);
  EXPECT_EQ(compiled_, 2);
  EXPECT_THAT(client_->load("func.func @main() {}").error().message(), HasSubstr("serialize()"));
}

TEST(CompileAgainTest, ChoicesAreFollowedAndThoseThatDoNotFitAreRefused) {
  const Program program = Program::from_text(kConvolution);
  const auto chosen = [&](const KernelChoices& choices) {
    return compile(program, {}, {.chosen = &choices});
  };
  int followed = 0;
  for (int way = 0; way < 3; ++way) {  // not every way need exist for every convolution
    const auto compiled = chosen({{0, way}});
    if (!compiled) continue;
    ++followed;
    EXPECT_EQ((*compiled)->choices(), (KernelChoices{{0, way}}));
  }
  EXPECT_GE(followed, 2);
  EXPECT_EQ((*chosen({{-1, -1}}))->choices(), KernelChoices{{}}) << "the plain loops";
  for (const KernelChoices& wrong : {KernelChoices{}, KernelChoices{{0, 0}, {0, 0}},
                                     KernelChoices{{9, 0}}, KernelChoices{{0, 9}}})
    EXPECT_FALSE(chosen(wrong)) << to_text(wrong);
}

}  // namespace
}  // namespace millrace::devices::cpu
