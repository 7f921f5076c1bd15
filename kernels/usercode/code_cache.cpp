// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/code_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <memory>
#include <random>
#include <string_view>
#include <tuple>
#include <vector>

#include "kernels/usercode/digest.h"

namespace cudascan::gswo {
namespace {

// A file is the mark, the digest of the code, the code.
constexpr std::string_view kMark = "cudascan code 1\n";
constexpr std::size_t kDigits = 64, kHead = kMark.size() + kDigits;
constexpr std::time_t kAbandoned = 3600;  // seconds after which a temporary file has no writer

class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  explicit operator bool() const { return number_ >= 0; }
  int get() const { return number_; }

 private:
  int number_;
};

bool only_ours(const struct stat &status) {
  return status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool read_all(int file, std::string &to) {
  for (std::size_t done = 0; done < to.size();) {
    const ssize_t n = ::read(file, to.data() + done, to.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += n;
  }
  return true;
}

bool write_all(int file, std::string_view from) {
  while (!from.empty()) {
    const ssize_t n = ::write(file, from.data(), from.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    from.remove_prefix(n);
  }
  return true;
}

std::string random_digits() {
  std::random_device random;
  return std::to_string(random()) + std::to_string(random());
}

/// KEY for finished files, KEY.NUMBER for temporary ones: other files in the folder are not
/// touched.
bool is_of_cache(std::string_view name, bool &temporary) {
  temporary = name.size() > kDigits;
  return name.substr(0, kDigits).find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         name.size() >= kDigits &&
         (!temporary ||
          (name[kDigits] == '.' &&
           name.find_first_not_of("0123456789", kDigits + 1) == std::string_view::npos));
}

}  // namespace

CodeCache::CodeCache(const std::string &folder, std::uint64_t most_bytes)
    : most_bytes_(most_bytes) {
  if (folder.empty()) return;
  std::error_code ignored;  // the folder then cannot be opened
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), ignored);
  mkdir(folder.c_str(), 0700);
  folder_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat status;
  if (folder_ >= 0 && (fstat(folder_, &status) != 0 || !only_ours(status))) {
    close(folder_);
    folder_ = -1;
  }
}

CodeCache::~CodeCache() {
  if (folder_ >= 0) close(folder_);
}

std::string CodeCache::find_or_make(const std::string &key,
                                    const std::function<std::string()> &make) const {
  if (std::optional<std::string> kept = find(key)) return std::move(*kept);
  std::string code = make();
  keep(key, code);
  return code;
}

std::optional<std::string> CodeCache::find(const std::string &key) const {
  if (folder_ < 0) return std::nullopt;
  const File file(openat(folder_, key.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || !only_ours(status))
    return std::nullopt;
  if (status.st_size < static_cast<off_t>(kHead) ||
      static_cast<std::uint64_t>(status.st_size) > most_bytes_)
    return std::nullopt;
  std::string contents(status.st_size, '\0');
  if (!read_all(file.get(), contents) || !contents.starts_with(kMark)) return std::nullopt;
  std::string code = contents.substr(kHead);
  if (Digest().add(code).hex() != contents.substr(kMark.size(), kDigits)) return std::nullopt;
  futimens(file.get(), nullptr);
  return code;
}

void CodeCache::keep(const std::string &key, const std::string &code) const {
  if (folder_ < 0 || code.size() + kHead > most_bytes_) return;
  const std::string temporary = key + '.' + random_digits();
  {
    const File file(
        openat(folder_, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file) return;
    const std::string head = std::string(kMark) + Digest().add(code).hex();
    if (!write_all(file.get(), head) || !write_all(file.get(), code) ||
        renameat(folder_, temporary.c_str(), folder_, key.c_str()) != 0)
      unlinkat(folder_, temporary.c_str(), 0);
  }
  trim();
}

void CodeCache::trim() const {
  const int folder = openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR *)> entries(fdopendir(folder), closedir);
  if (!entries) {
    close(folder);
    return;
  }
  struct Entry {
    timespec used;
    std::uint64_t bytes;
    std::string name;
  };
  std::vector<Entry> files;
  std::uint64_t bytes = 0;
  while (const dirent *entry = readdir(entries.get())) {
    bool temporary;
    struct stat status;
    if (!is_of_cache(entry->d_name, temporary) ||
        fstatat(folder_, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (temporary) {
      if (std::time(nullptr) - status.st_mtim.tv_sec > kAbandoned)
        unlinkat(folder_, entry->d_name, 0);
      continue;
    }
    bytes += status.st_size;
    files.push_back({status.st_mtim, static_cast<std::uint64_t>(status.st_size), entry->d_name});
  }
  if (bytes <= most_bytes_) return;
  std::sort(files.begin(), files.end(), [](const Entry &a, const Entry &b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec) < std::tie(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Entry &file : files) {
    if (bytes <= most_bytes_) break;
    unlinkat(folder_, file.name.c_str(), 0);
    bytes -= file.bytes;
  }
}

}  // namespace cudascan::gswo
