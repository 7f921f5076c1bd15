// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The user's file, and its changes while it is in use.
#pragma once
#include <sys/stat.h>

#include <optional>
#include <string>

namespace cudascan::gswo {

/// A file whose text is in use and may have changed since.
class SourceFile {
 public:
  /// Reads the file.
  /// @throws BadSetting if it is not a readable file, or larger than 1 MiB
  explicit SourceFile(const std::string &path);

  const std::string &path() const { return path_; }
  /// The text in use.
  const std::string &text() const { return text_; }

  /// Reads the file again if it has been written since the last time.
  /// @throws BadSetting like the constructor, but only once as long as the file does not change
  void look();
  bool has_changed() const { return changed_.has_value(); }
  const std::string &changed_text() const { return *changed_; }
  /// Starts to use the changed text, or discards it.
  void accept();
  void reject();

 private:
  struct Stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    long long seconds, nanoseconds;
    bool operator==(const Stamp &) const = default;
  };
  static Stamp stamp_of(const std::string &path);
  static std::string read(const std::string &path);

  std::string path_;
  Stamp stamp_;
  bool lost_ = false;  // and that was reported
  std::string text_;
  std::optional<std::string> changed_;
};

/// Throws BadSetting if a text has no function of this name, or is generated code of another kind,
/// because compiler messages about that would be misleading.
void check_function(const std::string &path, const std::string &text, const std::string &function);

}  // namespace cudascan::gswo
