// The structs that public calls take, in braces inside an awaited expression: g++ 12 copies them
// there bit by bit, and what they own must be destroyed once (core/base/braced.h).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/tools/api/model.h"
#include "millrace/tools/api/runtime_options.h"
#include "millrace/transfer/batch_model.h"
#include "millrace/transfer/loader_options.h"

namespace millrace {
namespace {

template <class T>
Future<T> moved(T value) {
  return make_ready(std::move(value));
}
template <class T>
Future<T> copied(const T& value) {
  return make_ready(T(value));
}
Future<std::string> names(const ListOf<transfer::RowInput>& inputs) {
  std::string all;
  for (const transfer::RowInput& input : inputs) all += input.name;
  return make_ready(std::move(all));
}
Future<std::string> device_of(Result<RuntimeOptions> options) {
  return make_ready(std::string(options->device));
}

Task<int> awaits(std::string text) {
  const std::vector<std::int64_t> sizes(100, 4);
  const auto source =
      co_await moved<ModelSource>({.folder = text, .name = "short", .weights = text});
  EXPECT_EQ(source->folder + "," + source->name + "," + source->weights, text + ",short," + text);
  const auto sized = co_await copied<ModelSource>({.folder = "short", .sizes = sizes});
  EXPECT_EQ(sized->sizes, sizes);

  EXPECT_EQ(co_await names({transfer::RowInput{.name = text}, transfer::RowInput{.name = "b"}}),
            text + "b");

  EXPECT_EQ(co_await device_of(RuntimeOptions{.device = text, .trace_file = text}), text);
  const Variables variables = [text](const std::string&) { return text; };
  const auto options = co_await moved<RuntimeOptions>(
      {.device = "cpu",
       .more_devices = std::vector<std::string>(3, text),
       .job = net::JobOptions{.job = text, .address = "short"},
       .compilation_cache = devices::CompilationCacheOptions{.folder = text},
       .variables = variables});
  EXPECT_EQ(options->more_devices[2], text);
  EXPECT_EQ((*options->job).job + (*options->job).address, text + "short");
  EXPECT_EQ(options->compilation_cache->folder, text);
  EXPECT_EQ(options->variables("x"), text);
  EXPECT_FALSE((co_await moved<RuntimeOptions>({.device = "cpu"}))->variables);

  const auto name = co_await copied<collectives::GroupName>({.name = text, .number = 2});
  EXPECT_EQ(name->name, text);
  const std::vector<std::uint32_t> two(2, 1);
  const auto meet = co_await copied<collectives::MeetOptions>({.processes = two});
  EXPECT_EQ(meet->processes, two);
  const std::vector<int> shards(50, 1);
  const auto loader = co_await moved<transfer::LoaderOptions>({.shard_of_device = shards});
  EXPECT_EQ(loader->shard_of_device, shards);
  co_return 0;
}

TEST(AwaitedBracesTest, WhatTheyOwnIsThereAndIsDestroyedOnce) {
  for (const std::size_t length : {3, 100}) {
    ASSERT_TRUE(spawn(inline_executor(), awaits(std::string(length, 'x'))).ready());
  }
}

}  // namespace
}  // namespace millrace
