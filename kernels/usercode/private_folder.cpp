// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/private_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "common/error.h"

namespace cudascan::gswo {
namespace {

namespace fs = std::filesystem;

std::string temporary_folder() {
  const char *folder = std::getenv("TMPDIR");
  return folder && *folder == '/' ? folder : "/tmp";
}

constexpr std::string_view kPrefix = "gst-cudascan-", kRandom = "XXXXXX";
constexpr std::time_t kNew = 60;  // seconds in which a new folder may still be unlocked

/// A descriptor of a folder that nobody else has locked; -1 if there is none.
int lock_folder(const char *path) {
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 || flock(folder, LOCK_EX | LOCK_NB) == 0) return folder;
  close(folder);
  return -1;
}

void remove_abandoned() {
  std::error_code none;
  for (fs::directory_iterator entry(temporary_folder(), none), end; !none && entry != end;
       entry.increment(none)) {
    const std::string name = entry->path().filename();
    struct stat status {};
    if (name.size() != kPrefix.size() + kRandom.size() || !name.starts_with(kPrefix) ||
        lstat(entry->path().c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
        status.st_uid != geteuid() || std::time(nullptr) - status.st_mtim.tv_sec < kNew)
      continue;
    const int lock = lock_folder(entry->path().c_str());
    if (lock < 0) continue;
    std::error_code ignored;
    fs::remove_all(entry->path(), ignored);
    close(lock);
  }
}

}  // namespace

PrivateFolder::PrivateFolder()
    : path_(temporary_folder() + '/' + std::string(kPrefix) + std::string(kRandom)) {
  remove_abandoned();
  if (!mkdtemp(path_.data()))
    throw Error("cannot create a temporary folder in " + temporary_folder() + ": " +
                std::strerror(errno) + "; set TMPDIR to a folder that can be written to");
  lock_ = lock_folder(path_.c_str());
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

void PrivateFolder::write(const std::string &name, const std::string &contents) const {
  const fs::path path = fs::path(path_) / name;
  std::error_code ignored;  // opening the file then fails
  fs::create_directories(path.parent_path(), ignored);
  std::ofstream file(path, std::ios::binary);
  file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  if (!file.flush())
    throw Error("cannot write to the temporary folder " + temporary_folder() +
                "; free some space there, or set TMPDIR to another folder");
}

std::string PrivateFolder::read(const std::string &name) const {
  std::ifstream file(fs::path(path_) / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace cudascan::gswo
