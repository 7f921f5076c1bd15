// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// When it is preloaded, it kills cudascan-scan at a chosen moment, as SIGKILL does:
///
///     STOP_AT=N    after call N, from 0 on, that creates, renames, removes or syncs a file
///     HOLD=PATH    instead of killing, creates this file and waits until it is removed
///     NO_LOCKS=1   does not kill, but lets all file locks fail
///     FULL_AT=N    does not kill, but lets the disk be full after N bytes
///     STOP_TAKEN=1 after another program took a name just before a file was renamed to it
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

template <typename Function>
Function *next(Function *, const char *name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

void hold(const char *path) {
  const int error = errno;
  if (FILE *file = std::fopen(path, "w")) std::fclose(file);
  while (access(path, F_OK) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  errno = error;
}

int counted(int result) {
  static std::atomic<int> calls{0};
  const char *at = std::getenv("STOP_AT"), *path = std::getenv("HOLD");
  if (!at || calls++ != std::atoi(at)) return result;
  if (path)
    hold(path);
  else
    raise(SIGKILL);
  return result;
}

}  // namespace

extern "C" {

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  static const auto real = next(&open, "open");
  const int file = real(path, flags, mode);
  return flags & O_CREAT ? counted(file) : file;
}

ssize_t write(int file, const void *bytes, size_t size) {
  static const auto real = next(&write, "write");
  static std::atomic<long long> written{0};
  const char *at = std::getenv("FULL_AT");
  struct stat facts {};
  if (!at || fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) return real(file, bytes, size);
  const long long before = written.fetch_add(static_cast<long long>(size)), most = std::atoll(at);
  if (before >= most) {
    errno = ENOSPC;
    return -1;
  }
  return real(file, bytes, std::min(size, static_cast<size_t>(most - before)));
}

int fsync(int file) {
  static const auto real = next(&fsync, "fsync");
  return counted(real(file));
}

int flock(int file, int operation) noexcept {
  static const auto real = next(&flock, "flock");
  if (!std::getenv("NO_LOCKS")) return real(file, operation);
  errno = ENOLCK;
  return -1;
}

int mkdir(const char *path, mode_t mode) noexcept {
  static const auto real = next(&mkdir, "mkdir");
  return counted(real(path, mode));
}

int unlink(const char *path) noexcept {
  static const auto real = next(&unlink, "unlink");
  return counted(real(path));
}

int unlinkat(int folder, const char *path, int flags) noexcept {
  static const auto real = next(&unlinkat, "unlinkat");
  return counted(real(folder, path, flags));
}

int rmdir(const char *path) noexcept {
  static const auto real = next(&rmdir, "rmdir");
  return counted(real(path));
}

int remove(const char *path) noexcept {
  static const auto real = next(&remove, "remove");
  return counted(real(path));
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to,
              unsigned flags) noexcept {
  const bool take = std::getenv("STOP_TAKEN") != nullptr;
  if (take) close(open(to, O_WRONLY | O_CREAT | O_EXCL, 0666));
  static const auto real = next(&renameat2, "renameat2");
  const int result = real(from_folder, from, to_folder, to, flags);
  if (take) raise(SIGKILL);
  return counted(result);
}

}  // extern "C"
