// SPDX-License-Identifier: LGPL-2.1-or-later
#include "new_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/error.h"

namespace cudascan::scan {
namespace {

constexpr std::string_view kPrefix = ".cudascan-scan-", kSuffix = ".tmp";

[[noreturn]] void fail(const std::filesystem::path &path) {
  fail_to_write(path.string(), errno);
}

/// 32 random hexadecimal digits that nobody can predict.
std::string random_digits() {
  std::array<unsigned char, 16> bytes;
  if (getentropy(bytes.data(), bytes.size()) != 0)
    throw Error(std::string("cannot make a random file name: ") + std::strerror(errno));
  std::string digits;
  for (const unsigned char byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    digits += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return digits;
}

}  // namespace

NewFile::NewFile(const std::filesystem::path &folder) : folder_(folder) {
  // A run that cleans up may find the file before it is locked, and remove it.
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    path_ = folder / (std::string(kPrefix) + random_digits() + std::string(kSuffix));
    file_ =
        OpenFile(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!file_) fail(path_);
    if (try_lock(file_) != Lock::refused && file_.has_name(path_)) return;
    unlink(path_.c_str());
  }
  throw Error(folder.string() + ": another program removes new files in it");
}

NewFile::~NewFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

bool NewFile::commit(const std::string &name) {
  if (fsync(file_.get()) != 0) fail_to_write("cannot write", errno);
  if (!file_.has_name(path_))
    throw Error((folder_ / name).string() + ": another program has removed the unfinished file");
  if (!rename_to_free(path_, folder_ / name)) return false;
  path_.clear();
  return true;
}

bool rename_to_free(const std::filesystem::path &from, const std::filesystem::path &to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  // Not every file system can do this in one step; the others support hard links.
  if (errno == EINVAL || errno == ENOSYS) {
    if (link(from.c_str(), to.c_str()) == 0) {
      unlink(from.c_str());
      return true;
    }
  }
  if (errno == EEXIST) return false;
  fail(to);
}

void remove_leftovers(const std::filesystem::path &folder) {
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    try {
      const OpenFile file =
          open_regular(entry.path(), O_RDWR);  // some locks need a file open for writing
      if (file && try_lock(file) == Lock::taken) unlink(entry.path().c_str());
    } catch (const Error &) {
      // Not a file of this program, or it belongs to another user.
    }
  }
}

void sync_folder(const std::filesystem::path &folder) {
  const OpenFile file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file) fsync(file.get());
}

}  // namespace cudascan::scan
