// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/api.h"

namespace cudascan::gswo {

/// Machine code in files of one folder, which processes share. File errors never throw: the cache
/// then finds or stores nothing.
class CUDASCAN_API CodeCache {
 public:
  /// @param folder      created if it does not exist; "" = no cache. Not used unless this user owns
  ///                    it and nobody else may write to it
  /// @param most_bytes  of all files together; the least recently used ones are removed
  explicit CodeCache(const std::string &folder,
                     std::uint64_t most_bytes = std::uint64_t{256} << 20);
  ~CodeCache();
  CodeCache(const CodeCache &) = delete;
  CodeCache &operator=(const CodeCache &) = delete;

  /// The code stored under `key`, or else the result of `make`, which is stored. Damaged files, and
  /// files that somebody else could have written, count as missing and are replaced.
  /// @param key  a digest: 64 hexadecimal digits
  std::string find_or_make(const std::string &key, const std::function<std::string()> &make) const;

  /// Its two halves.
  std::optional<std::string> find(const std::string &key) const;
  void keep(const std::string &key, const std::string &code) const;

 private:
  void trim() const;

  int folder_ = -1;
  std::uint64_t most_bytes_;
};

}  // namespace cudascan::gswo
