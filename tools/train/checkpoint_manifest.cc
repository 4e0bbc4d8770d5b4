#include "millrace/tools/train/checkpoint_manifest.h"

#include <cstdio>
#include <span>

#include <nlohmann/json.hpp>

#include "millrace/core/base/json_text.h"
#include "millrace/transfer/formats/file_writer.h"

namespace millrace::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 2;

std::string hex(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", value);
  return text;
}
std::uint32_t from_hex(const std::string& text) {
  return static_cast<std::uint32_t>(std::stoul(text, nullptr, 16));
}

Json to_json(const FileFacts& file) {
  return {{"name", file.name}, {"bytes", file.bytes}, {"crc32", hex(file.crc32)}};
}
FileFacts file_of(const Json& json) {
  return {json.at("name"), json.at("bytes"), from_hex(json.at("crc32"))};
}

Json to_json(const RunIdentity& run) {
  Json programs = Json::array();
  for (const FileFacts& program : run.programs) programs.push_back(to_json(program));
  return {{"model", run.model},
          {"programs", programs},
          {"items", run.items},
          {"data", run.data},
          {"batch_size", run.batch_size},
          {"devices", run.devices},
          {"seed", run.seed},
          {"shuffle", run.shuffle},
          {"same_shard", run.same_shard},
          {"deterministic", run.deterministic}};
}
RunIdentity run_of(const Json& json) {
  RunIdentity run;
  run.model = json.at("model");
  for (const Json& program : json.at("programs")) run.programs.push_back(file_of(program));
  run.items = json.at("items");
  run.data = json.at("data");
  run.batch_size = json.at("batch_size");
  run.devices = json.at("devices");
  run.seed = json.at("seed");
  run.shuffle = json.at("shuffle");
  run.same_shard = json.at("same_shard");
  run.deterministic = json.at("deterministic");
  return run;
}

// All but the checksum. Sums are kept as text that is exact.
Json to_json(const CheckpointManifest& manifest) {
  Json ranks = Json::array();
  for (const RankState& rank : manifest.ranks) {
    ranks.push_back({{"epoch_share", rank.epoch_share.to_payload()},
                     {"run_share", rank.run_share.to_payload()}});
  }
  return {{"schema", kSchema},
          {"step", manifest.step},
          {"epoch", manifest.epoch},
          {"epoch_step", manifest.epoch_step},
          {"run", to_json(manifest.run)},
          {"ranks", ranks},
          {"arrays", to_json(manifest.arrays)}};
}

Result<CheckpointManifest> manifest_of(const Json& json) {
  CheckpointManifest manifest;
  manifest.step = json.at("step");
  manifest.epoch = json.at("epoch");
  manifest.epoch_step = json.at("epoch_step");
  manifest.run = run_of(json.at("run"));
  for (const Json& rank : json.at("ranks")) {
    RankState state;
    MILLRACE_TRY(state.epoch_share, EpochShare::parse(rank.at("epoch_share")));
    MILLRACE_TRY(state.run_share, EpochShare::parse(rank.at("run_share")));
    manifest.ranks.push_back(state);
  }
  manifest.arrays = file_of(json.at("arrays"));
  return manifest;
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

Status check_same_run(const RunIdentity& checkpoint, const RunIdentity& run) {
  std::string differences;
  const auto compare = [&](const char* what, const auto& theirs, const auto& ours) {
    if (theirs == ours) return;
    differences += (differences.empty() ? "" : "; ") + std::string(what) + " is " + quoted(theirs) +
                   " there and " + quoted(ours) + " here";
  };
  compare("the model", checkpoint.model, run.model);
  compare("the batch size", checkpoint.batch_size, run.batch_size);
  compare("the number of devices", checkpoint.devices, run.devices);
  compare("the seed", checkpoint.seed, run.seed);
  compare("the number of images", checkpoint.items, run.items);
  // Data of other sizes is told by them.
  if (checkpoint.items == run.items) compare("the data", checkpoint.data, run.data);
  compare("shuffling", checkpoint.shuffle, run.shuffle);
  compare("the same shard for every device", checkpoint.same_shard, run.same_shard);
  compare("--deterministic", checkpoint.deterministic, run.deterministic);
  // Programs of another model or shard say nothing new.
  if (differences.empty() && checkpoint.programs != run.programs) {
    differences = "the model's programs (grad, update) have changed since";
  }
  if (differences.empty()) return {};
  return fail(ErrorCode::kFailedPrecondition,
              "it is of another run: " + differences +
                  ". Go on with its options, or begin a new run in an empty folder");
}

Result<std::string> CheckpointManifest::to_text() const {
  try {
    const Json content = to_json(*this);
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
                                                 ". Go on with the Millrace that wrote it, or "
                                                 "begin a new run in an empty folder");
    }
    return manifest_of(content);
  } catch (const std::exception& error) {  // of the JSON library, and of numbers that are none
    return fail(ErrorCode::kDataLoss, error.what());
  }
}

}  // namespace millrace::train
