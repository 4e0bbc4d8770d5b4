#include "millrace/transfer/formats/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "tests/support/file_calls.h"
#include "tests/support/temp_folder.h"
#include "tests/transfer/formats/bytes.h"

namespace {

// What fchown() does and sees: the mode of a file before it is given to its owner.
std::atomic<bool> giving_fails{false};
std::atomic<unsigned> mode_when_given{0};

}  // namespace

extern "C" int fchown(int fd, uid_t owner, gid_t group) noexcept {
  struct stat status{};
  if (::fstat(fd, &status) == 0) mode_when_given = status.st_mode & 0777;
  if (giving_fails) {
    errno = EPERM;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fchown, fd, owner, group));
}

namespace millrace::transfer {
namespace {

using millrace::testing::TempFolder;

TEST(FileTest, ReadsAtAnyOffsetAndStopsAtTheEnd) {
  TempFolder folder;
  const File file = File::open(folder.write("f", counting(10))).value();
  Bytes out(4);

  EXPECT_EQ(file.size(), 10u);
  EXPECT_EQ(file.read_at(3, out).value(), 4u);
  EXPECT_EQ(out, bytes_of({3, 4, 5, 6}));
  EXPECT_EQ(file.read_at(8, out).value(), 2u);
  EXPECT_EQ(file.read_at(100, out).value(), 0u);
}

TEST(FileTest, WhatCannotBeOpenedIsNamedWithItsReason) {
  TempFolder folder;
  ::mkfifo(folder.file("pipe").c_str(), 0600);
  struct Row {
    std::string path;
    ErrorCode code;
    std::string words;
  };
  for (const Row& row : {Row{folder.file("absent"), ErrorCode::kNotFound, "No such file"},
                         Row{folder.path(), ErrorCode::kInvalidArgument, "a folder"},
                         Row{folder.file("pipe"), ErrorCode::kInvalidArgument, "it is a pipe"}}) {
    const Result<File> file = File::open(row.path);
    ASSERT_FALSE(file.has_value()) << row.path;
    EXPECT_EQ(file.error().code(), row.code) << row.path;
    EXPECT_NE(file.error().message().find(row.path), std::string::npos);
    EXPECT_NE(file.error().message().find(row.words), std::string::npos) << file.error().message();
  }
}

TEST(MappedFileTest, ShowsTheBytesOfTheFile) {
  TempFolder folder;
  const Bytes content = counting(10000);
  const File file = File::open(folder.write("f", content)).value();
  MappedFile mapped = MappedFile::map(file).value();
  MappedFile moved = std::move(mapped);

  EXPECT_EQ(Bytes(moved.bytes().begin(), moved.bytes().end()), content);
}

TEST(MappedFileTest, EmptyFileMapsToNoBytes) {
  TempFolder folder;
  const File file = File::open(folder.write("f", {})).value();
  EXPECT_TRUE(MappedFile::map(file).value().bytes().empty());
}

TEST(WriteFileTest, ReplacesTheFileAndLeavesNoNeighbour) {
  TempFolder folder;
  const std::string path = folder.write("f", counting(100));
  const Bytes a = bytes_of({1, 2}), b = bytes_of({3});
  const std::array<std::span<const std::byte>, 2> pieces = {a, b};

  ASSERT_TRUE(write_file(path, pieces).has_value());

  Bytes out(10);
  out.resize(File::open(path).value().read_at(0, out).value());
  EXPECT_EQ(out, bytes_of({1, 2, 3}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteFileTest, TheContentReachesTheDiskBeforeItGetsTheName) {
  const TempFolder folder;
  const std::string path = std::filesystem::canonical(folder.path()).string() + "/f";
  const Bytes content = counting(1000);
  const std::array<std::span<const std::byte>, 1> pieces = {content};
  const millrace::testing::FileCalls calls;

  ASSERT_TRUE(write_file(path, pieces).has_value());

  const auto all = calls.all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].what, "sync");
  EXPECT_EQ(all[0].path.substr(0, path.size() + 1), path + ".");
  EXPECT_EQ(all[0].bytes, content.size());
  EXPECT_EQ(all[1].what, "rename");
  EXPECT_EQ(all[1].path, all[0].path);
  EXPECT_EQ(all[1].to, path);
}

TEST(WriteFileTest, ContentThatDoesNotReachTheDiskLeavesTheOldOne) {
  const TempFolder folder;
  const std::string path = folder.write("f", counting(100));
  const std::array<std::span<const std::byte>, 1> pieces = {};
  for (const auto& [number, code] :
       {std::pair(ENOSPC, ErrorCode::kResourceExhausted),
        std::pair(EDQUOT, ErrorCode::kResourceExhausted),
        std::pair(EFBIG, ErrorCode::kResourceExhausted), std::pair(EIO, ErrorCode::kDataLoss)}) {
    millrace::testing::FileCalls calls;
    calls.fail("sync", "", number);
    const Status written = write_file(path, pieces);
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(written.error().code(), code) << number;
    EXPECT_EQ(File::open(path).value().size(), 100u);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  }
}

TEST(FileTest, AReadThatTheDiskRefusesIsAnErrorWithItsPosition) {
  const TempFolder folder;
  const File file = File::open(folder.write("f", counting(100))).value();
  millrace::testing::FileCalls calls;
  calls.fail("read", "/f", EIO, 50);
  Bytes out(10);
  EXPECT_TRUE(file.read_at(40, out).has_value());
  const auto read = file.read_at(45, out);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code(), ErrorCode::kDataLoss);
  EXPECT_EQ(read.error().detail<FilePosition>()->offset, 45u);
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(WriteFileTest, ALinkStaysAndWhatItLeadsToIsReplaced) {
  const TempFolder folder;
  const std::string link = folder.file("link"), file = folder.write("file", counting(10));
  ASSERT_EQ(::symlink("file", link.c_str()), 0);
  ASSERT_TRUE(write_file(link, "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(text_of(file), "new");
  ASSERT_EQ(::symlink("none", folder.file("lost").c_str()), 0);
  const Status lost = write_file(folder.file("lost"), "new");
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(lost.error().message().find("a link to none"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("lost")));
}

TEST(WriteFileTest, APipeGetsTheBytesAndStaysAPipe) {
  const TempFolder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(write_file(path, "new"));
  char bytes[8];
  EXPECT_EQ(::read(reader, bytes, sizeof bytes), 3);
  const std::string more(std::size_t{200} << 10, 'x');  // than a pipe holds: a write waits
  Status written;
  std::thread writer([&] { written = write_file(path, more); });
  std::string read;
  while (read.size() < more.size()) {
    char block[4096];
    pollfd polled = {.fd = reader, .events = POLLIN};
    ASSERT_GT(::poll(&polled, 1, 300'000), 0);
    if (const ssize_t n = ::read(reader, block, sizeof block); n > 0)
      read.append(block, static_cast<std::size_t>(n));
  }
  writer.join();
  EXPECT_TRUE(written);
  EXPECT_TRUE(read == more);
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(path));
}

TEST(WriteFileTest, APipeThatNothingReadsIsRefusedAtOnce) {
  const TempFolder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const Status written = write_file(path, "new");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), ErrorCode::kFailedPrecondition);
  EXPECT_NE(written.error().message().find(path + ": it has no reader"), std::string::npos);
}

// A node of our own: where the code is wrong, the machine keeps its own.
TEST(WriteFileTest, ADeviceIsWrittenAndStaysADevice) {
  const TempFolder folder;
  const std::string full = folder.file("full"), null = folder.file("null");
  if (::mknod(full.c_str(), S_IFCHR | 0600, makedev(1, 7)) != 0 ||
      ::mknod(null.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0 || !std::ofstream(null)) {
    GTEST_SKIP() << "no devices may be made here";
  }
  const Status written = write_file(full, "new");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_TRUE(write_file(null, "new"));
  EXPECT_TRUE(std::filesystem::is_character_file(full));
  EXPECT_TRUE(std::filesystem::is_character_file(null));
}

TEST(WriteFileTest, AFolderIsRefused) {
  const TempFolder folder;
  const Status written = write_file(folder.path(), "new");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(written.error().message().find("Is a directory"), std::string::npos);
}

TEST(WriteFileTest, ANewFileHasTheModeOfTheUmaskAndAReplacedOneKeepsItsOwn) {
  const TempFolder folder;
  const auto mode = [](const std::string& path) {
    return static_cast<unsigned>(std::filesystem::status(path).permissions());
  };
  const mode_t before = ::umask(027);
  EXPECT_TRUE(write_file(folder.file("f"), "new"));
  ::umask(before);
  EXPECT_EQ(mode(folder.file("f")), 0640U);
  ASSERT_EQ(::chmod(folder.file("f").c_str(), 0604), 0);
  EXPECT_TRUE(write_file(folder.file("f"), "newer"));
  EXPECT_EQ(mode(folder.file("f")), 0604U);
}

unsigned mode_of(const std::string& path) {
  return static_cast<unsigned>(std::filesystem::status(path).permissions());
}

TEST(WriteFileTest, TheNeighbourOfASecretFileIsOpenToItsWriterOnly) {
  const TempFolder folder;
  const std::string path = folder.write("f", counting(10));
  const mode_t before = ::umask(0);
  for (const unsigned mode : {0600U, 0644U}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    mode_when_given = 0;
    EXPECT_TRUE(write_file(path, "new"));
    EXPECT_EQ(mode_when_given, 0600U);
    EXPECT_EQ(mode_of(path), mode);
  }
  ::umask(before);
}

TEST(WriteFileTest, InAGroupThatIsNotTheOldOneNothingIsAllowedThatNotAllMay) {
  const TempFolder folder;
  const std::string path = folder.write("f", counting(10));
  giving_fails = true;
  for (const auto& [old, replaced] : {std::pair(0660U, 0600U), std::pair(0664U, 0644U),
                                      std::pair(0604U, 0600U), std::pair(0600U, 0600U)}) {
    ASSERT_EQ(::chmod(path.c_str(), old), 0);
    EXPECT_TRUE(write_file(path, "new"));
    EXPECT_EQ(mode_of(path), replaced) << old;
  }
  giving_fails = false;
}

ino_t number_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_ino;
}

// Root may write every folder, so that a process without its rights tries.
TEST(WriteFileTest, AFileWhoseFolderMayNotBeWrittenIsWrittenInPlace) {
  const TempFolder folder;
  const std::string path = folder.write("f", counting(100));
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  const ino_t before = number_of(path);
  constexpr int kCannotTry = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(kCannotTry);
    if (::access(path.c_str(), W_OK) != 0) ::_exit(kCannotTry);
    {  // not finished, and not begun
      const auto dropped = NewFile::create(path);
      if (!dropped || std::filesystem::file_size(path) != 100) ::_exit(1);
    }
    if (!NewFile::check(path) || std::filesystem::file_size(path) != 100) ::_exit(2);
    if (write_file(path + "2", "new")) ::_exit(3);
    ::_exit(write_file(path, "new") ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kCannotTry) GTEST_SKIP() << "the folder cannot be reached";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(text_of(path), "new");
  EXPECT_EQ(number_of(path), before);
}

// A file that is a mount of its own (EBUSY), or a stranger's in a sticky folder (EPERM).
TEST(WriteFileTest, AFileThatCannotBeRenamedOverIsWrittenInPlace) {
  for (const int number : {EBUSY, EPERM}) {
    const TempFolder folder;
    const std::string path = folder.write("f", counting(100));
    const ino_t before = number_of(path);
    millrace::testing::FileCalls calls;
    calls.fail("rename", ".part", number);
    const Status written = write_file(path, "new");
    EXPECT_TRUE(written) << written.error().to_string();
    EXPECT_EQ(text_of(path), "new");
    EXPECT_EQ(number_of(path), before);
    EXPECT_FALSE(write_file(folder.file("none"), "new"));  // in place of nothing
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  }
}

// As `--write /dev/stdout >> file`.
TEST(WriteFileTest, AFileBehindAStandardStreamContinuesWhereTheStreamIs) {
  const TempFolder folder;
  const std::string path = folder.file("f");
  ASSERT_TRUE(write_file(path, "old\n"));
  const ino_t before = number_of(path);
  std::fflush(stdout);
  const int kept = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::dup2(file, STDOUT_FILENO), STDOUT_FILENO);
  std::fputs("said before\n", stdout);
  const Status checked = NewFile::check("/dev/stdout");
  const Status linked = write_file("/dev/stdout", "linked\n");
  const Status named = write_file(path, "named\n");
  std::fflush(stdout);
  ::dup2(kept, STDOUT_FILENO);
  for (const int descriptor : {kept, file}) ::close(descriptor);
  EXPECT_TRUE(checked);
  EXPECT_TRUE(linked);
  EXPECT_TRUE(named);
  EXPECT_EQ(text_of(path), "old\nsaid before\nlinked\nnamed\n");
  EXPECT_EQ(number_of(path), before);
}

// As `program < file --write file`: what is only read is replaced.
TEST(WriteFileTest, AFileThatIsReadAsAStandardStreamIsReplaced) {
  const TempFolder folder;
  const std::string path = folder.write("f", counting(100));
  const ino_t before = number_of(path);
  const int kept = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::dup2(file, STDIN_FILENO), STDIN_FILENO);
  const Status written = write_file(path, "new");
  const off_t size = ::lseek(STDIN_FILENO, 0, SEEK_END);
  kept >= 0 ? ::dup2(kept, STDIN_FILENO) : ::close(STDIN_FILENO);
  for (const int descriptor : {kept, file}) ::close(descriptor);
  EXPECT_TRUE(written);
  EXPECT_EQ(text_of(path), "new");
  EXPECT_EQ(size, 100);
  EXPECT_NE(number_of(path), before);
}

TEST(NewFileTest, ACheckLeavesNothingAndChangesNothing) {
  const TempFolder folder;
  const std::string path = folder.write("f", counting(10));
  EXPECT_TRUE(NewFile::check(path));
  EXPECT_TRUE(NewFile::check(folder.file("none")));
  EXPECT_EQ(std::filesystem::file_size(path), 10U);
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(NewFile::check(folder.file("pipe")));  // without waiting for its reader
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
  EXPECT_EQ(NewFile::check(folder.file("no/f")).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(NewFile::check(folder.path()).error().code(), ErrorCode::kInvalidArgument);
}

TEST(WriteFileTest, ANameOfTheGreatestLengthCanBeWritten) {
  const TempFolder folder;
  const std::string path = folder.file(std::string(255, 'n'));
  for (const char* text : {"new", "newer"}) {
    EXPECT_TRUE(write_file(path, text));
    EXPECT_EQ(text_of(path), text);
  }
}

TEST(NewFileTest, WhatIsNotFinishedLeavesTheOldOne) {
  const TempFolder folder;
  const std::string path = folder.write("f", counting(10));
  {
    NewFile file = NewFile::create(path).value();
    ASSERT_TRUE(file.write(counting(5)));
  }
  EXPECT_EQ(File::open(path).value().size(), 10U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteFileTest, FolderThatIsNotThereGivesNotFound) {
  TempFolder folder;
  const Status written = write_file(folder.file("no/f"), "");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace millrace::transfer
