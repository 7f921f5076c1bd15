// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <string_view>

namespace cudascan::gswo {
namespace {

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(file, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

int replace_file(const std::string &path, const std::string &text) {
  struct stat there {};
  // Replacing would remove a device or a pipe.
  if (lstat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISLNK(there.st_mode))
    return S_ISDIR(there.st_mode) ? EISDIR : EINVAL;
  std::random_device random;
  const std::string temporary =
      path + '.' + std::to_string(random()) + std::to_string(random()) + ".part";
  const int file =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  int error = write_all(file, text) ? 0 : errno;
  if (close(file) != 0 && !error) error = errno;
  if (!error && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error) unlink(temporary.c_str());
  return error;
}

}  // namespace cudascan::gswo
