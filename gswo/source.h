// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The user's file and the messages about it.
#pragma once
#include <set>
#include <string>
#include <vector>

namespace cudascan::gswo {

/// Messages go to standard error as `file:line:column: error: ...`.
class Source {
 public:
  Source(std::string name, std::string text);

  const std::string &name() const { return name_; }
  const std::string &text() const { return text_; }
  /// Line of a byte, from 1.
  unsigned line(std::size_t offset) const;
  /// The `#line` directive that puts the compiler at line `line` of this file.
  std::string line_directive(unsigned line) const;

  /// Reports what can't be translated: the reason, and what to write instead.
  void error(std::size_t offset, const std::string &message);
  void note(std::size_t offset, const std::string &message);
  void error_in_line(unsigned line, unsigned column, const std::string &message);
  int errors() const { return errors_; }

 private:
  void say(unsigned line, unsigned column, const char *severity, const std::string &message);

  std::string name_, text_;
  std::vector<std::size_t> line_starts_;
  std::set<std::string> said_;
  int errors_ = 0;
};

}  // namespace cudascan::gswo
