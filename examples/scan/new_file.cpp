// SPDX-License-Identifier: LGPL-2.1-or-later
#include "new_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/error.h"

namespace cudascan::scan {
namespace {

constexpr std::string_view kPrefix = ".cudascan-scan-", kSuffix = ".tmp";

[[noreturn]] void fail(const std::filesystem::path &path) {
  throw Error(path.string() + ": " + std::strerror(errno));
}

/// Gives a file another name in its folder unless that exists. Not every file system knows how to do
/// this in one step; those that do not have links.
bool rename_to_free(const std::filesystem::path &from, const std::filesystem::path &to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EINVAL || errno == ENOSYS) {
    if (link(from.c_str(), to.c_str()) == 0) {
      unlink(from.c_str());
      return true;
    }
  }
  if (errno == EEXIST) return false;
  fail(to);
}

}  // namespace

NewFile::NewFile(const std::filesystem::path &folder) : folder_(folder) {
  static std::atomic<int> count{0};
  path_ = folder / (std::string(kPrefix) + std::to_string(getpid()) + "-" +
                    std::to_string(count++) + std::string(kSuffix));
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) fail(path_);
  flock(file_, LOCK_EX | LOCK_NB);  // says that its owner lives
}

NewFile::~NewFile() {
  if (file_ >= 0) close(file_);
  if (!path_.empty()) unlink(path_.c_str());
}

void NewFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error(std::string("cannot write: ") + std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool NewFile::commit(const std::string &name) {
  if (fsync(file_) != 0) throw Error(std::string("cannot write: ") + std::strerror(errno));
  if (!rename_to_free(path_, folder_ / name)) return false;
  path_.clear();
  return true;
}

int remove_leftovers(const std::filesystem::path &folder) {
  int removed = 0;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    const int file = open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) continue;
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && unlink(entry.path().c_str()) == 0) ++removed;
    close(file);
  }
  return removed;
}

void sync_folder(const std::filesystem::path &folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  fsync(file);
  close(file);
}

}  // namespace cudascan::scan
