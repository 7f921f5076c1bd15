// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

#include "common/api.h"

namespace cudascan::gswo {

/// A new folder in $TMPDIR or /tmp that only this user can use, removed with all that is in it at
/// the end. It is locked as long as this lives: those whose processes have ended before they could
/// remove them are removed by the next one.
class CUDASCAN_API PrivateFolder {
 public:
  /// @throws Error if it cannot be made
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder &) = delete;
  PrivateFolder &operator=(const PrivateFolder &) = delete;

  const std::string &path() const { return path_; }
  /// Makes a file, and the folders in its name.
  /// @param name  relative, without ".."
  /// @throws Error if that fails
  void write(const std::string &name, const std::string &contents) const;
  /// The contents of a file; "" if there is none.
  std::string read(const std::string &name) const;

 private:
  std::string path_;
  int lock_ = -1;
};

}  // namespace cudascan::gswo
