#include "millrace/devices/cache/compilation_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/logged_words.h"
#include "tests/support/stub_executable.h"
#include "tests/support/temp_folder.h"

namespace millrace::devices {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TempFolder;

// A backend whose programs are their text; it counts what it does.
class TextClient final : public Client {
 public:
  class Body final : public testing::StubExecutable {
   public:
    Body(Client& client, std::string text, bool serializes)
        : StubExecutable(client, std::move(text), 1), serializes_(serializes) {}
    Result<std::string> serialize() const override {
      if (!serializes_) return fail(ErrorCode::kUnimplemented, "no serialize");
      return "machine code of " + name();
    }

   private:
    const bool serializes_;
  };

  std::string_view platform_name() const override { return "text"; }
  std::string_view platform_version() const override { return "1"; }
  std::span<const DeviceInfo> devices() const override { return {}; }
  std::span<const MemoryInfo> memories() const override { return {}; }
  bool calls_may_block() const override { return false; }
  Result<Executable> compile(const Program& program, const CompileOptions&) override {
    ++compiled;
    if (program.code() == "wrong") return fail(ErrorCode::kInvalidArgument, "1:1: wrong");
    return Executable(make_ref<Body>(*this, std::string(program.code()), serializes));
  }
  Result<Executable> load(std::string_view) override {
    return fail(ErrorCode::kUnimplemented, "load_compiled is what is called");
  }
  Result<Executable> load_compiled(std::string_view bytes, const Program& program,
                                   const CompileOptions&) override {
    ++loaded;
    if (refuses || bytes != "machine code of " + std::string(program.code()))
      return fail(ErrorCode::kDataLoss, "no machine code");
    return Executable(make_ref<Body>(*this, std::string(program.code()), serializes));
  }
  std::string compiler_identity() const override { return identity; }
  Result<PutResult> put(const HostView&, HostBufferSemantics, DeviceId, int) override {
    return fail(ErrorCode::kUnimplemented, "put");
  }
  Result<Buffer> copy(const Buffer&, DeviceId, int) override {
    return fail(ErrorCode::kUnimplemented, "copy");
  }
  Result<MemoryStats> memory_stats(DeviceId) const override { return MemoryStats{}; }
  Future<void> close() override { return make_ready(); }

  std::string identity = "text compiler 1";
  bool serializes = true;
  bool refuses = false;  // to load
  int compiled = 0;
  int loaded = 0;
};

class CompilationCacheTest : public ::testing::Test {
 protected:
  CompilationCache open(bool read_only = false) {
    return CompilationCache({.folder = folder_.path(), .read_only = read_only});
  }
  // The only entry there is.
  fs::path entry() const { return fs::directory_iterator(folder_.path())->path(); }

  const TempFolder folder_;
  TextClient client_;
  const Program program_ = Program::from_text("abc");
  testing::LoggedWords words_;
};

TEST_F(CompilationCacheTest, SecondProcessLoadsWhatTheFirstHasCompiled) {
  ASSERT_EQ(open().compile(client_, program_, {})->name(), "abc");
  CompilationCache cache = open();
  ASSERT_EQ(cache.compile(client_, program_, {})->name(), "abc");
  EXPECT_EQ(client_.compiled, 1);
  EXPECT_EQ(client_.loaded, 1);
  EXPECT_EQ(cache.stats().hits, 1u);
  EXPECT_EQ(cache.stats().misses, 0u);
  EXPECT_THAT(words_.text(), IsEmpty());
}

TEST_F(CompilationCacheTest, ErrorsOfTheProgramAreThoseOfTheCompilerAndAreNotKept) {
  const auto refused = open().compile(client_, Program::from_text("wrong"), {});
  EXPECT_EQ(refused.error().message(), "1:1: wrong");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(CompilationCacheTest, EntryThatIsDamagedIsCompiledAgainAndReplaced) {
  const auto damage = std::vector<std::function<void(const fs::path&)>>{
      [](const fs::path& path) { fs::resize_file(path, 40); },
      [](const fs::path& path) { fs::resize_file(path, 0); },
      [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) - 1); },
      [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) + 1); }};
  ASSERT_TRUE(open().compile(client_, program_, {}));
  int compiled = client_.compiled;
  for (const auto& change : damage) {
    change(entry());
    CompilationCache cache = open();
    ASSERT_TRUE(cache.compile(client_, program_, {}));
    EXPECT_EQ(client_.compiled, ++compiled);
    EXPECT_EQ(cache.stats().damaged, 1u);
    ASSERT_TRUE(cache.compile(client_, program_, {}));
    EXPECT_EQ(client_.compiled, compiled);
  }
  EXPECT_THAT(words_.text(), HasSubstr("compiling program again"));
}

TEST_F(CompilationCacheTest, WhatTheClientDoesNotLoadIsCompiledAgain) {
  ASSERT_TRUE(open().compile(client_, program_, {}));
  client_.refuses = true;
  CompilationCache cache = open();
  ASSERT_TRUE(cache.compile(client_, program_, {}));
  EXPECT_EQ(client_.compiled, 2);
  EXPECT_EQ(cache.stats().damaged, 1u);
  EXPECT_EQ(cache.stats().stored, 1u);
}

TEST_F(CompilationCacheTest, ReadOnlyWritesNothing) {
  ASSERT_TRUE(open(true).compile(client_, program_, {}));
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  ASSERT_TRUE(open().compile(client_, program_, {}));
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(5);
  fs::last_write_time(entry(), long_ago);
  ASSERT_TRUE(open(true).compile(client_, program_, {}));
  EXPECT_EQ(client_.compiled, 2);
  EXPECT_EQ(fs::last_write_time(entry()), long_ago);
  ASSERT_TRUE(open().compile(client_, program_, {}));
  EXPECT_GT(fs::last_write_time(entry()), long_ago);
}

TEST_F(CompilationCacheTest, FolderThatCannotBeWrittenFailsNothing) {
  folder_.write("file", {});
  CompilationCache cache({.folder = folder_.file("file/in/a/file")});
  ASSERT_TRUE(cache.compile(client_, program_, {}));
  EXPECT_EQ(cache.stats().stored, 0u);
  EXPECT_THAT(words_.text(), HasSubstr("'abc' is not kept: "));
}

TEST_F(CompilationCacheTest, BackendsThatDoNotSerializeOrHaveNoNeedAreLeftAlone) {
  client_.serializes = false;
  ASSERT_TRUE(open().compile(client_, program_, {}));
  client_.serializes = true;
  client_.identity = "";
  CompilationCache cache = open();
  ASSERT_TRUE(cache.compile(client_, program_, {}));
  EXPECT_EQ(cache.stats().misses, 0u);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  EXPECT_THAT(words_.text(), IsEmpty());
}

TEST(CompilationKeyTest, EverythingThatMattersIsInItAndNothingElse) {
  const Program program = Program::from_text("abc", "one name");
  const auto key = &CompilationCache::key;
  const CompileOptions plain;
  CompileOptions replicas, bound, deterministic, extras, second;
  replicas.replicas = 2;
  replicas.devices = {DeviceId{0}, DeviceId{1}};
  CompileOptions swapped = replicas;
  swapped.devices = {DeviceId{1}, DeviceId{0}};
  bound.portable = second.portable = false;
  second.devices = {DeviceId{1}};
  deterministic.deterministic = true;
  extras.plugin_options = "x";
  std::vector<Digest> keys = {key("id", program, plain), key("i", program, plain),
                              key("id", Program::from_text("abd"), plain)};
  for (const CompileOptions* options :
       {&replicas, &swapped, &bound, &second, &deterministic, &extras})
    keys.push_back(key("id", program, *options));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(keys[i], keys[j]) << i << " and " << j;
  }
  EXPECT_EQ(keys[0], key("id", Program::from_text("abc", "another name"), plain));
  CompileOptions elsewhere;  // portable: it may run anywhere
  elsewhere.devices = {DeviceId{5}};
  EXPECT_EQ(keys[0], key("id", program, elsewhere));
}

TEST(CompilationCacheOptionsTest, AreReadAsTheyAreWritten) {
  const auto plain = CompilationCacheOptions::parse("/a/b").value();
  EXPECT_EQ(plain.folder, "/a/b");
  EXPECT_FALSE(plain.read_only);
  EXPECT_EQ(plain.max_bytes, std::uint64_t{4} << 30);
  const auto all = CompilationCacheOptions::parse("c,read_only,max=500M").value();
  EXPECT_EQ(all.folder, "c");
  EXPECT_TRUE(all.read_only);
  EXPECT_EQ(all.max_bytes, std::uint64_t{500} << 20);
  EXPECT_EQ(CompilationCacheOptions::parse("c,max=7")->max_bytes, 7u);
  for (const char* text : {"", ",read_only", "a,", "a,readonly", "a,max=", "a,max=0", "a,max=-1",
                           "a,max=5T", "a,max=99999999999G", "a,max=1 M"}) {
    const auto refused = CompilationCacheOptions::parse(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_THAT(refused.error().message(), HasSubstr("FOLDER[,read_only][,max=BYTES]"));
  }
}

}  // namespace
}  // namespace millrace::devices
