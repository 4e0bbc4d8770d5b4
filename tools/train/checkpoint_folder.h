// CheckpointFolder: the folder that a training keeps its checkpoints in.
//
//   DIR/step-00000468/arrays.safetensors   parameters, momenta, state
//                    /checkpoint.json      the manifest
//   DIR/step-00000936.part/...             being written, or what a killed run left
//   DIR/step-00000234.old/...              being removed, or what a killed run left
//   DIR/step-00000468.damaged/...          found damaged, put aside for people to look at
//
//  CF-1 a folder step-N is complete: it gets that name by one rename, after its files and their
//       names have reached the disk and all ranks have agreed, and loses it by one before the first
//       of its files is removed.
//  CF-2 at every moment from the first publish() on, a complete one is there: older ones go only
//       when a newer one's name has reached the disk.
// There is no pointer to the newest: the highest number is it. Everything here blocks and is called
// on the blocking executor. Read next: checkpoint.h, which says when.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/error.h"
#include "millrace/tools/train/checkpoint_manifest.h"
#include "millrace/transfer/formats/safetensors.h"

namespace millrace::train {

// The fault points of a checkpoint, in the order in which it passes them.
inline constexpr std::array<std::string_view, 9> kCheckpointFaultPoints = {
    "checkpoint.begun",      // its folder is there, empty
    "checkpoint.array",      // an array is written; once for each
    "checkpoint.arrays",     // and the file has reached the disk
    "checkpoint.manifest",   // the manifest, too
    "checkpoint.written",    // and the names of both
    "checkpoint.agreed",     // all ranks have written
    "checkpoint.renamed",    // it has its name
    "checkpoint.published",  // and the name has reached the disk
    "checkpoint.removing",   // an older one has lost its name and still has its files
};

// A checkpoint that was read: the arrays are those of the mapped file.
struct LoadedCheckpoint {
  std::string path;
  CheckpointManifest manifest;
  transfer::SafetensorsFile arrays;
};

// Name, size and checksum of a file as it is on the disk, read in pieces: a sector that cannot be
// read is an error (kDataLoss), where it would kill a process that touches it in a mapping.
// Blocking.
Result<FileFacts> file_facts(const std::string& path, std::string name);

// Reads the folder of one checkpoint and checks its files against its manifest. kDataLoss or
// kNotFound: it is damaged. A disk that gives an I/O error has lost the data, as one that gives
// other bytes has; what may be there again later (a file system that is away, a lack of rights) is
// another error. Blocking.
Result<LoadedCheckpoint> read_checkpoint(const std::string& path);

// Shared by the training and the checkpoint that it is writing. Thread-safety: external, one call
// at a time.
class CheckpointFolder {
 public:
  // Makes the folder if it is missing (on the disk, with the folders that it is in), and finds
  // out whether it can be written. Removes what a killed run has left (.part, .old), with a warning
  // where it cannot.
  // kFailedPrecondition while another process has it open.
  static Result<CheckpointFolder> open(std::string path);

  // Steps of the complete ones, ascending.
  Result<std::vector<std::uint64_t>> steps() const;
  // The newest that is not damaged; newer ones that are get a warning and are put aside. Nothing if
  // there is none at all, kDataLoss if all are damaged.
  Result<std::optional<LoadedCheckpoint>> load_newest();

  // Writes a checkpoint beside the others, under the name .part, onto the disk; manifest.arrays is
  // filled in. Asks stop between pieces (kCancelled). Nothing is left of it after an error.
  Status write(CheckpointManifest manifest, std::span<const transfer::NamedArray> arrays,
               const std::stop_token& stop) const;
  // Gives what write() wrote its name, then removes all but the `keep` newest; one that cannot be
  // removed gets a warning and is left to the next publish or open. keep >= 1.
  Status publish(std::uint64_t step, std::size_t keep) const;
  // Removes what write() wrote.
  void remove_part(std::uint64_t step) const;

  // "DIR/step-00000468".
  std::string path_of(std::uint64_t step) const;

 private:
  CheckpointFolder(std::string path, Descriptor locked)
      : path_(std::move(path)), locked_(std::move(locked)) {}
  Status clean() const;
  void remove_all_but(std::size_t keep) const;
  Status check_writable() const;

  std::string path_;
  Descriptor locked_;
};

// What is written together with a step's number, for messages: "checkpoint step-00000468".
std::string checkpoint_name(std::uint64_t step);

}  // namespace millrace::train
