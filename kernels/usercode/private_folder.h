// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

#include "common/api.h"

namespace cudascan::gswo {

/// A new folder in $TMPDIR or /tmp that only this user can use. The destructor removes it with its
/// contents. It is locked while this object lives; unlocked folders of processes that ended without
/// removing them are removed by the next object.
class CUDASCAN_API PrivateFolder {
 public:
  /// @throws Error if it cannot be made
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder &) = delete;
  PrivateFolder &operator=(const PrivateFolder &) = delete;

  const std::string &path() const { return path_; }
  /// Creates a file and the folders in its name.
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
