#include "millrace/tools/train/checkpoint_folder.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "millrace/core/base/errno_code.h"
#include "millrace/core/base/fault_point.h"
#include "millrace/core/observe/log.h"
#include "millrace/transfer/formats/file.h"

namespace millrace::train {
namespace {

namespace fs = std::filesystem;
using transfer::FileWriter;

constexpr const char* kArraysFile = "arrays.safetensors";
constexpr const char* kManifestFile = "checkpoint.json";
constexpr std::string_view kPrefix = "step-";
constexpr std::size_t kPieceBytes = std::size_t{4} << 20;  // between two looks at the stop token
constexpr std::size_t kReadBytes = std::size_t{1} << 20;   // in memory while a file is checked
constexpr std::uint64_t kMostManifestBytes = std::uint64_t{64} << 20;

std::unexpected<Error> folder_error(const std::string& what, int number) {
  return fail(errno_code(number), what + ": " + errno_text(number));
}

// The steps N of the folders "step-N<ending>" in path, ascending.
Result<std::vector<std::uint64_t>> steps_in(const std::string& path, std::string_view ending) {
  std::error_code error;
  std::vector<std::uint64_t> steps;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::uint64_t step = 0;
    if (name.starts_with(kPrefix))
      std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step);
    if (checkpoint_name(step).append(ending) == name) steps.push_back(step);
  }
  if (error) return folder_error("listing the checkpoints in " + path, error.value());
  std::ranges::sort(steps);
  return steps;
}

Status remove_tree(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return folder_error("removing " + path, error.value());
  return {};
}

Status rename_folder(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return {};
  return folder_error("renaming " + from + " to " + to, errno);
}

// Makes the missing folders of a path, with their names on the disk: what is in a folder
// is lost with its name.
Status make_folders(const std::string& path) {
  std::error_code error;
  std::vector<fs::path> parents;  // of those to be made, the innermost first
  for (fs::path at = path; !at.empty() && !fs::exists(at, error); at = at.parent_path()) {
    if (at.has_filename()) parents.push_back(at.has_parent_path() ? at.parent_path() : ".");
  }
  fs::create_directories(path, error);
  if (error) return folder_error("making the folder for checkpoints " + path, error.value());
  for (const fs::path& parent : parents) {
    MILLRACE_TRY_STATUS(transfer::sync_folder(parent.string()));
  }
  return {};
}

Status write_pieces(FileWriter& file, std::span<const std::byte> bytes,
                    const std::stop_token& stop) {
  while (!bytes.empty()) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::kCancelled, "stopped on request while writing " + file.path());
    }
    const auto piece = bytes.first(std::min(bytes.size(), kPieceBytes));
    MILLRACE_TRY_STATUS(file.write(piece));
    bytes = bytes.subspan(piece.size());
  }
  return {};
}

Result<FileFacts> write_arrays(const std::string& path,
                               std::span<const transfer::NamedArray> arrays, std::uint64_t step,
                               const std::stop_token& stop) {
  MILLRACE_TRY(const transfer::SafetensorsLayout layout,
               transfer::lay_out_safetensors(
                   arrays, {{"format", "millrace"}, {"step", std::to_string(step)}}));
  MILLRACE_TRY(FileWriter file, FileWriter::create(path));
  MILLRACE_TRY_STATUS(file.write(std::as_bytes(std::span(layout.front))));
  for (const std::size_t i : layout.order) {
    MILLRACE_TRY_STATUS(write_pieces(file, arrays[i].bytes, stop));
    MILLRACE_TRY_STATUS(fault_point("checkpoint.array"));
  }
  MILLRACE_TRY_STATUS(file.sync());
  return FileFacts{kArraysFile, file.bytes(), file.crc32()};
}

Status write_manifest(const std::string& path, const CheckpointManifest& manifest) {
  MILLRACE_TRY(const std::string text, manifest.to_text());
  MILLRACE_TRY(FileWriter file, FileWriter::create(path));
  MILLRACE_TRY_STATUS(file.write(std::as_bytes(std::span(text))));
  return file.sync();
}

Result<CheckpointManifest> read_manifest(const std::string& path) {
  MILLRACE_TRY(const transfer::File file, transfer::File::open(path));
  if (file.size() > kMostManifestBytes) {
    return fail(ErrorCode::kDataLoss,
                path + " has " + std::to_string(file.size()) + " bytes, which no manifest has");
  }
  std::string text(file.size(), '\0');
  MILLRACE_TRY(const std::size_t count, file.read_at(0, std::as_writable_bytes(std::span(text))));
  text.resize(count);
  Result<CheckpointManifest> manifest = CheckpointManifest::parse(text);
  if (!manifest) return std::unexpected(manifest.error().with_context(path));
  return manifest;
}

// kDataLoss if the file is not the one that was written.
Status check_content(const std::string& path, const FileFacts& wanted) {
  MILLRACE_TRY(const FileFacts found, file_facts(path, wanted.name));
  if (found.bytes != wanted.bytes) {
    return fail(ErrorCode::kDataLoss, path + " has " + std::to_string(found.bytes) +
                                          " bytes; its manifest says " +
                                          std::to_string(wanted.bytes));
  }
  if (found.crc32 != wanted.crc32) {
    return fail(ErrorCode::kDataLoss, path + " does not have the checksum of its manifest");
  }
  return {};
}

}  // namespace

std::string checkpoint_name(std::uint64_t step) {
  const std::string digits = std::to_string(step);
  return std::string(kPrefix) + std::string(8 - std::min<std::size_t>(digits.size(), 8), '0') +
         digits;
}

Result<FileFacts> file_facts(const std::string& path, std::string name) {
  MILLRACE_TRY(const transfer::File file, transfer::File::open(path));
  FileFacts facts{.name = std::move(name)};
  std::vector<std::byte> piece(kReadBytes);
  for (std::size_t count = piece.size(); count == piece.size();) {
    MILLRACE_TRY(count, file.read_at(facts.bytes, piece));
    facts.crc32 = transfer::crc32_of(std::span(piece).first(count), facts.crc32);
    facts.bytes += count;
  }
  return facts;
}

Result<LoadedCheckpoint> read_checkpoint(const std::string& path) {
  MILLRACE_TRY(CheckpointManifest manifest, read_manifest(path + "/" + kManifestFile));
  const std::string name = fs::path(path).filename().string();
  if (checkpoint_name(manifest.step) != name) {
    return fail(ErrorCode::kDataLoss,
                path + ": by its manifest it is " + checkpoint_name(manifest.step));
  }
  const std::string arrays_path = path + "/" + kArraysFile;
  MILLRACE_TRY_STATUS(check_content(arrays_path, manifest.arrays));
  MILLRACE_TRY(transfer::SafetensorsFile arrays, transfer::SafetensorsFile::open(arrays_path));
  return LoadedCheckpoint{path, std::move(manifest), std::move(arrays)};
}

std::string CheckpointFolder::path_of(std::uint64_t step) const {
  return path_ + "/" + checkpoint_name(step);
}

Result<CheckpointFolder> CheckpointFolder::open(std::string path) {
  MILLRACE_TRY_STATUS(make_folders(path));
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return folder_error("opening the folder for checkpoints " + path, errno);
  // Where the file system knows no locks, the user must see to it.
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return fail(ErrorCode::kFailedPrecondition, "another training is keeping its checkpoints in " +
                                                    path + ": end it, or name another folder");
  }
  CheckpointFolder folder(std::move(path), std::move(fd));
  MILLRACE_TRY_STATUS(folder.check_writable());
  MILLRACE_TRY_STATUS(folder.clean());
  return folder;
}

Status CheckpointFolder::check_writable() const {
  const std::string probe = path_ + "/probe.part";
  MILLRACE_TRY_STATUS(remove_tree(probe));
  std::error_code error;
  fs::create_directory(probe, error);
  if (error) return folder_error("checkpoints cannot be written to " + path_, error.value());
  return remove_tree(probe);
}

Status CheckpointFolder::clean() const {
  for (const char* const ending : {".part", ".old"}) {
    MILLRACE_TRY(const std::vector<std::uint64_t> left, steps_in(path_, ending));
    for (const std::uint64_t step : left) {
      // It is never read: no reason to refuse the folder.
      if (const Status removed = remove_tree(path_of(step) + ending); !removed)
        MILLRACE_LOG(kWarning, "train", "what a run has left stays: " + removed.error().message());
    }
  }
  return {};
}

Result<std::vector<std::uint64_t>> CheckpointFolder::steps() const { return steps_in(path_, ""); }

Result<std::optional<LoadedCheckpoint>> CheckpointFolder::load_newest() {
  MILLRACE_TRY(std::vector<std::uint64_t> all, steps());
  std::vector<std::pair<std::uint64_t, Error>> damaged;
  for (; !all.empty(); all.pop_back()) {
    Result<LoadedCheckpoint> loaded = read_checkpoint(path_of(all.back()));
    if (loaded) {
      for (const auto& [step, error] : damaged) {
        MILLRACE_LOG(kWarning, "train",
                     "skipping the damaged " + checkpoint_name(step) + ": " + error.message());
        const std::string aside = path_of(step) + ".damaged";
        MILLRACE_TRY_STATUS(remove_tree(aside));
        MILLRACE_TRY_STATUS(rename_folder(path_of(step), aside));
      }
      return *std::move(loaded);
    }
    const ErrorCode code = loaded.error().code();
    // What cannot be read for another reason may be all right: nothing is decided about it here.
    const bool is_damaged = code == ErrorCode::kDataLoss || code == ErrorCode::kNotFound;
    if (!is_damaged) return std::unexpected(loaded.error());
    damaged.emplace_back(all.back(), loaded.error());
  }
  if (damaged.empty()) return std::nullopt;
  std::string text = "no checkpoint in " + path_ + " is whole";
  for (const auto& [step, error] : damaged) {
    text += "; " + checkpoint_name(step) + ": " + error.message();
  }
  return fail(ErrorCode::kDataLoss, text + ". Move them away to begin from the beginning");
}

Status CheckpointFolder::write(CheckpointManifest manifest,
                               std::span<const transfer::NamedArray> arrays,
                               const std::stop_token& stop) const {
  const std::string part = path_of(manifest.step) + ".part";
  std::error_code error;
  fs::create_directory(part, error);
  if (error) return folder_error("making " + part, error.value());
  const auto write_files = [&]() -> Status {
    MILLRACE_TRY_STATUS(fault_point("checkpoint.begun"));
    MILLRACE_TRY(manifest.arrays,
                 write_arrays(part + "/" + kArraysFile, arrays, manifest.step, stop));
    MILLRACE_TRY_STATUS(fault_point("checkpoint.arrays"));
    MILLRACE_TRY_STATUS(write_manifest(part + "/" + kManifestFile, manifest));
    MILLRACE_TRY_STATUS(fault_point("checkpoint.manifest"));
    MILLRACE_TRY_STATUS(transfer::sync_folder(part));
    return fault_point("checkpoint.written");
  };
  Status written = write_files();
  if (!written) remove_part(manifest.step);
  return written;
}

void CheckpointFolder::remove_part(std::uint64_t step) const {
  // Should that fail, too, the next run removes it.
  static_cast<void>(remove_tree(path_of(step) + ".part"));
}

Status CheckpointFolder::publish(std::uint64_t step, std::size_t keep) const {
  MILLRACE_TRY_STATUS(fault_point("checkpoint.agreed"));
  MILLRACE_TRY_STATUS(rename_folder(path_of(step) + ".part", path_of(step)));
  MILLRACE_TRY_STATUS(fault_point("checkpoint.renamed"));
  MILLRACE_TRY_STATUS(transfer::sync_folder(path_));
  MILLRACE_TRY_STATUS(fault_point("checkpoint.published"));
  remove_all_but(keep);
  return {};
}

// The new one is there whatever becomes of the old ones.
void CheckpointFolder::remove_all_but(std::size_t keep) const {
  const auto warn = [](const Error& error) {
    MILLRACE_LOG(
        kWarning, "train",
        "an older checkpoint could not be removed: " + error.message() +
            ". The training continues; what is left is removed when the folder is next used");
  };
  const Result<std::vector<std::uint64_t>> all = steps();
  if (!all) return warn(all.error());
  const auto remove = [](const std::string& path) -> Status {
    MILLRACE_TRY_STATUS(rename_folder(path, path + ".old"));
    MILLRACE_TRY_STATUS(fault_point("checkpoint.removing"));
    return remove_tree(path + ".old");
  };
  for (std::size_t i = 0; i + keep < all->size(); ++i) {
    if (const Status removed = remove(path_of((*all)[i])); !removed) warn(removed.error());
  }
}

}  // namespace millrace::train
