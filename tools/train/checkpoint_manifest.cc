#include "millrace/tools/train/checkpoint_manifest.h"

#include <cstdio>
#include <span>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "millrace/core/base/json_text.h"
#include "millrace/transfer/formats/file.h"

namespace millrace::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 3;
constexpr const char* kItems = "the number of images";
constexpr const char* kData = "the data";

std::string hex(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", value);
  return text;
}
std::uint32_t from_hex(const std::string& text) {
  return static_cast<std::uint32_t>(std::stoul(text, nullptr, 16));
}

// Call f(name, value) with each field, in the order of the text; for reading and for writing.
template <class Run, class F>
void for_each_field_of_run(Run& run, F f) {
  f("model", run.model);
  f("programs", run.programs);
  f("items", run.items);
  f("data", run.data);
  f("batch_size", run.batch_size);
  f("devices", run.devices);
  f("seed", run.seed);
  f("shuffle", run.shuffle);
  f("same_shard", run.same_shard);
  f("deterministic", run.deterministic);
}
template <class Manifest, class F>
void for_each_field(Manifest& manifest, F f) {
  f("step", manifest.step);
  f("epoch", manifest.epoch);
  f("epoch_item", manifest.epoch_item);
  f("run", manifest.run);
  f("ranks", manifest.ranks);
  f("arrays", manifest.arrays);
}

auto writer(Json& json) {
  return [&json](const char* name, const auto& value) { json[name] = value; };
}
auto reader(const Json& json) {
  return [&json](const char* name, auto& value) { json.at(name).get_to(value); };
}

// Throws where a text is no UTF-8.
std::uint32_t checksum(const Json& json) {
  const std::string text = exact_json_text(json);
  return transfer::crc32_of(std::as_bytes(std::span(text)));
}

std::string quoted(bool value) { return value ? "yes" : "no"; }
std::string quoted(std::uint64_t value) { return std::to_string(value); }
std::string quoted(std::int64_t value) { return std::to_string(value); }
std::string quoted(const std::string& value) { return "'" + value + "'"; }

}  // namespace

// What the JSON library calls for these types. Sums are kept as text that is exact.
static void to_json(Json& json, const FileFacts& file) {
  json = {{"name", file.name}, {"bytes", file.bytes}, {"crc32", hex(file.crc32)}};
}
static void from_json(const Json& json, FileFacts& file) {
  file = {json.at("name"), json.at("bytes"), from_hex(json.at("crc32"))};
}
static void to_json(Json& json, const RankState& rank) {
  json = {{"epoch_share", rank.epoch_share.to_payload()},
          {"run_share", rank.run_share.to_payload()}};
}
static void from_json(const Json& json, RankState& rank) {
  for (const auto& [key, share] :
       {std::pair("epoch_share", &rank.epoch_share), std::pair("run_share", &rank.run_share)}) {
    const Result<EpochShare> parsed = EpochShare::parse(json.at(key));
    if (!parsed) throw std::invalid_argument(parsed.error().message());
    *share = *parsed;
  }
}
static void to_json(Json& json, const RunIdentity& run) {
  for_each_field_of_run(run, writer(json));
}
static void from_json(const Json& json, RunIdentity& run) {
  for_each_field_of_run(run, reader(json));
}

RunFact fact_of_program(const FileFacts& program) {
  return {"the program '" + program.name + "'",
          program.bytes == 0
              ? "missing"
              : std::to_string(program.bytes) + " bytes with checksum " + hex(program.crc32)};
}

RunFacts facts_of(const RunIdentity& run) {
  RunFacts facts = {{"the model", quoted(run.model)},
                    {"the batch size", quoted(run.batch_size)},
                    {"the number of devices", quoted(run.devices)},
                    {"the seed", quoted(run.seed)},
                    {kItems, quoted(run.items)},
                    {kData, quoted(run.data)},
                    {"shuffling", quoted(run.shuffle)},
                    {"the same shard for every device", quoted(run.same_shard)},
                    {"--deterministic", quoted(run.deterministic)}};
  for (const FileFacts& program : run.programs) facts.push_back(fact_of_program(program));
  return facts;
}

Status check_same_run(const RunIdentity& checkpoint, const RunIdentity& run) {
  std::string differences;
  // Without the programs: they have one fact each, at the end.
  const auto words = [](RunIdentity of) {
    of.programs.clear();
    return facts_of(of);
  };
  const RunFacts there = words(checkpoint);
  const RunFacts here = words(run);
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (there[i].value == here[i].value) continue;
    // The sizes distinguish other data.
    if (here[i].what == kData && checkpoint.items != run.items) continue;
    differences += (differences.empty() ? "" : "; ") + here[i].what + " is " + there[i].value +
                   " there and " + here[i].value + " here";
  }
  // Programs of another model or shard say nothing new.
  if (differences.empty() && checkpoint.programs != run.programs) {
    differences = "the model's programs (grad, update) have changed since";
  }
  if (differences.empty()) return {};
  return fail(ErrorCode::kFailedPrecondition,
              "it is of another run: " + differences +
                  ". Resume with its options, or begin a new run in an empty folder");
}

Result<std::string> CheckpointManifest::to_text() const {
  try {
    Json content = {{"schema", kSchema}};
    for_each_field(*this, writer(content));
    const Json whole = {{"crc32", hex(checksum(content))}, {"checkpoint", content}};
    return exact_json_text(whole, 1) + "\n";
  } catch (const Json::type_error& error) {
    return fail(ErrorCode::kInvalidArgument,
                "a name of the model or of a file, or the fingerprint of the data, is no UTF-8: " +
                    std::string(error.what()));
  }
}

Result<CheckpointManifest> CheckpointManifest::parse(const std::string& text) {
  try {
    const Json whole = Json::parse(text);
    const Json& content = whole.at("checkpoint");
    if (from_hex(whole.at("crc32")) != checksum(content)) {
      return fail(ErrorCode::kDataLoss, "its content does not have its checksum");
    }
    if (const int schema = content.at("schema"); schema != kSchema) {
      return fail(ErrorCode::kUnimplemented, "it is of schema " + std::to_string(schema) +
                                                 "; this reads schema " + std::to_string(kSchema) +
                                                 ". Resume with the Millrace that wrote it, or "
                                                 "begin a new run in an empty folder");
    }
    CheckpointManifest manifest;
    for_each_field(manifest, reader(content));
    return manifest;
  } catch (const std::exception& error) {  // of the JSON library, and of numbers that are none
    return fail(ErrorCode::kDataLoss, error.what());
  }
}

}  // namespace millrace::train
