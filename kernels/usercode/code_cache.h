// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/api.h"

namespace cudascan::gswo {

/// Machine code in files of one folder, which processes share. All that can go wrong with files
/// makes it find nothing and keep nothing; no function throws because of it.
class CUDASCAN_API CodeCache {
 public:
  /// @param folder      made if it is not there; "" = no cache. Not used unless this user owns it
  ///                    and nobody else may write to it
  /// @param most_bytes  of all files together; those not used for longest are removed
  explicit CodeCache(const std::string &folder,
                     std::uint64_t most_bytes = std::uint64_t{256} << 20);
  ~CodeCache();
  CodeCache(const CodeCache &) = delete;
  CodeCache &operator=(const CodeCache &) = delete;

  /// What was kept under `key`; else what `make` returns, which is kept. Files that are damaged, or
  /// that somebody else could have written, count as missing and are replaced.
  /// @param key  a digest: 64 hexadecimal digits
  std::string find_or_make(const std::string &key, const std::function<std::string()> &make) const;

  /// The two halves of it.
  std::optional<std::string> find(const std::string &key) const;
  void keep(const std::string &key, const std::string &code) const;

 private:
  void trim() const;

  int folder_ = -1;
  std::uint64_t most_bytes_;
};

}  // namespace cudascan::gswo
