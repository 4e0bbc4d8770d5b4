#include "millrace/transfer/formats/idx_dataset.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace millrace::transfer {
namespace {

namespace fs = std::filesystem;
using devices::DType;
using devices::HostArray;

// "a, b and 5 more", sorted: what a folder has, for an error about what it lacks.
std::string list_folder(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    names.push_back(i->path().filename().string());
  }
  if (names.empty()) return "it is empty";
  std::sort(names.begin(), names.end());
  constexpr std::size_t kShown = 6;
  std::string text = "it has ";
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

// The path of "<split>-<what>-idx<rank>-ubyte" in one of its spellings.
Result<std::string> find_file(const std::string& folder, Split split, std::string_view what,
                              int rank) {
  const std::string stem = std::string(to_string(split)) + "-" + std::string(what);
  const std::string end = "idx" + std::to_string(rank) + "-ubyte";
  for (const char* suffix : {"", ".gz"}) {
    for (const char* join : {"-", "."}) {
      std::string path = (fs::path(folder) / stem).string();
      path.append(join).append(end).append(suffix);
      std::error_code error;
      if (fs::exists(path, error)) return path;
    }
  }
  std::error_code error;
  if (!fs::exists(folder, error)) {
    return fail(ErrorCode::kNotFound, "opening the data set " + folder + ": no such folder");
  }
  if (!fs::is_directory(folder, error)) {
    return fail(ErrorCode::kInvalidArgument, "opening the data set " + folder +
                                                 ": it is a file; give the folder that holds " +
                                                 stem + "-" + end);
  }
  return fail(ErrorCode::kNotFound, "opening the data set " + folder + ": no file " + stem + "-" +
                                        end + " or " + stem + "-" + end + ".gz; " +
                                        list_folder(folder));
}

// An error about the content of a file that is a sound IDX file.
std::unexpected<Error> unfit(const std::string& file, std::uint64_t offset,
                             const std::string& why) {
  return std::unexpected(
      file_error(ErrorCode::kInvalidArgument, FilePosition{file, offset, false}, why));
}

Status check_kind(const HostArray& array, const std::string& file, std::string_view what) {
  const devices::Shape& shape = array.shape();
  if (shape.dtype() != DType::kU8) {
    return unfit(file, 2, std::string(what) + " of " + shape.to_string() + ": bytes are expected");
  }
  if (shape.elements() == 0) {
    return unfit(file, 4, std::string(what) + " of " + shape.to_string() + ": there are none");
  }
  return {};
}

}  // namespace

std::string_view to_string(Split split) { return split == Split::kTrain ? "train" : "t10k"; }

Result<IdxDataset> IdxDataset::open(const std::string& folder, Split split,
                                    const IdxLimits& limits) {
  MILLRACE_TRY(std::string images_file, find_file(folder, split, "images", 3));
  MILLRACE_TRY(const std::string labels_file, find_file(folder, split, "labels", 1));
  // Labels first: small, so that a wrong folder is refused at once.
  IdxLimits expected = limits;
  expected.min_rank = expected.max_rank = 1;
  MILLRACE_TRY(HostArray labels, read_idx_file(labels_file, expected));
  MILLRACE_TRY_STATUS(check_kind(labels, labels_file, "labels"));
  expected.min_rank = 2;
  expected.max_rank = devices::kMaxRank;
  MILLRACE_TRY(HostArray images, read_idx_file(images_file, expected));
  MILLRACE_TRY_STATUS(check_kind(images, images_file, "images"));
  if (images.shape().dim(0) != labels.shape().dim(0)) {
    return unfit(labels_file, 4,
                 "it has " + std::to_string(labels.shape().dim(0)) + " labels, but " + images_file +
                     " has " + std::to_string(images.shape().dim(0)) +
                     " images (its byte 4): they are no pair");
  }
  return IdxDataset(std::move(images), std::move(labels), std::move(images_file));
}

IdxDataset::IdxDataset(HostArray images, HostArray labels, std::string images_file)
    : images_(std::move(images)),
      labels_(std::move(labels)),
      images_file_(std::move(images_file)),
      row_shape_(DType::kU8, images_.shape().dims().subspan(1)) {
  const std::byte largest = *std::max_element(labels_.bytes().begin(), labels_.bytes().end());
  classes_ = std::to_integer<int>(largest) + 1;
}

}  // namespace millrace::transfer
