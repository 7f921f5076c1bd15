// SPDX-License-Identifier: LGPL-2.1-or-later
#include "open_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/error.h"

namespace cudascan::scan {
namespace {

[[noreturn]] void fail(const std::filesystem::path &path) {
  throw Error(path.string() + ": " + std::strerror(errno));
}

}  // namespace

void fail_to_write(const std::string &what, int number) {
  const std::string text = what + ": " + std::strerror(number);
  if (number == ENOSPC || number == EDQUOT || number == EROFS || number == EIO)
    throw DiskError(text);
  throw Error(text);
}

OpenFile::~OpenFile() {
  if (file_ >= 0) close(file_);
}

bool OpenFile::has_name(const std::filesystem::path &path) const {
  struct stat own {
  }, named{};
  return fstat(file_, &own) == 0 && lstat(path.c_str(), &named) == 0 &&
         own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

void OpenFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_to_write("cannot write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string OpenFile::read() {
  std::string bytes;
  for (char part[16384];;) {
    const ssize_t got = ::read(file_, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(std::string("cannot read: ") + std::strerror(errno));
    if (got == 0) return bytes;
    bytes.append(part, static_cast<std::size_t>(got));
  }
}

bool is_there(const std::filesystem::path &path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(path, error));
}

bool is_regular(const std::filesystem::path &path) {
  std::error_code error;
  return std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error));
}

OpenFile open_regular(const std::filesystem::path &path, int flags) {
  // O_NONBLOCK keeps open() of a FIFO from waiting for the other end.
  OpenFile file(open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
  struct stat facts {};
  if (file ? fstat(file.get(), &facts) == 0 && !S_ISREG(facts.st_mode)
           : errno == ELOOP || errno == ENXIO)
    throw Error(path.string() + ": is not a regular file; remove it");
  if (!file && errno != ENOENT) fail(path);
  return file;
}

OpenFile open_folder(const std::filesystem::path &path) {
  OpenFile folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder && (errno == ELOOP || errno == ENOTDIR))
    throw Error(path.string() + ": is not a folder; remove it");
  if (!folder) fail(path);
  return folder;
}

Lock try_lock(const OpenFile &file) {
  while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return Lock::refused;
    if (errno != EINTR) return Lock::unknown;
  }
  return Lock::taken;
}

}  // namespace cudascan::scan
