// SPDX-License-Identifier: LGPL-2.1-or-later
#include "input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/error.h"
#include "digest.h"

namespace cudascan::scan {
namespace {

constexpr std::size_t kWindow = 16384;
constexpr std::size_t kDigestPart = 256 * 1024;

long long nanoseconds(const timespec &time) {
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

}  // namespace

Input::Input(const std::string &path) : name_(path) {
  // O_NONBLOCK keeps open() of a FIFO from waiting for the other end.
  file_ = OpenFile(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat facts {};
  if (!file_ || fstat(file_.get(), &facts) != 0) throw Error(path + ": " + std::strerror(errno));
  if (!S_ISREG(facts.st_mode))
    throw Error(path + ": is not a file; use - to read from standard input");
  size_ = static_cast<std::uint64_t>(facts.st_size);
  modified_ns_ = nanoseconds(facts.st_mtim);
}

Input::Input(std::string name, std::shared_ptr<const std::string> bytes)
    : name_(std::move(name)), bytes_(std::move(bytes)), memory_(*bytes_), size_(bytes_->size()) {}

std::size_t Input::read(std::uint64_t from, void *to, std::size_t size) const {
  if (from >= size_) return 0;
  size = static_cast<std::size_t>(std::min<std::uint64_t>(size, size_ - from));
  if (memory_.data() != nullptr) {
    std::memcpy(to, memory_.data() + from, size);
    return size;
  }
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = pread(file_.get(), static_cast<char *>(to) + done, size - done,
                              static_cast<off_t>(from + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(name_ + ": cannot read: " + std::strerror(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

int Input::at(std::uint64_t from) {
  if (from < window_from_ || from >= window_to_) {
    window_.resize(kWindow);
    window_from_ = from;
    window_to_ = from + read(from, window_.data(), kWindow);
    if (window_to_ == from) return -1;
  }
  return window_[static_cast<std::size_t>(from - window_from_)];
}

std::string Input::part(std::uint64_t from, std::size_t size) const {
  std::string bytes(size, '\0');
  bytes.resize(read(from, bytes.data(), size));
  return bytes;
}

void Input::check_unchanged() const {
  struct stat facts {};
  if (bytes_) return;
  if (fstat(file_.get(), &facts) != 0 || static_cast<std::uint64_t>(facts.st_size) != size_ ||
      nanoseconds(facts.st_mtim) != modified_ns_)
    throw Error(name_ + ": the file has changed while it was read");
}

std::string Input::digest() const {
  Digest digest;
  std::string bytes(kDigestPart, '\0');
  for (std::uint64_t from = 0;;) {
    const std::size_t got = read(from, bytes.data(), bytes.size());
    if (got == 0) return digest.finish();
    digest.add({bytes.data(), got});
    from += got;
  }
}

}  // namespace cudascan::scan
