// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/source.h"

#include <algorithm>
#include <iostream>

namespace cudascan::gswo {

namespace {
/// More messages than this do not help.
constexpr int kMostErrors = 20;
}  // namespace

Source::Source(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)), line_starts_{0} {
  for (std::size_t k = 0; k < text_.size(); ++k)
    if (text_[k] == '\n') line_starts_.push_back(k + 1);
}

unsigned Source::line(std::size_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<unsigned>(after - line_starts_.begin());
}

std::string Source::line_directive(unsigned line) const {
  std::string quoted;
  for (const char c : name_) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return "#line " + std::to_string(line) + " \"" + quoted + "\"\n";
}

void Source::say(unsigned line, unsigned column, const char *severity, const std::string &message) {
  const std::string all = name_ + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " +
                          severity + ": " + message + "\n";
  if (errors_ <= kMostErrors && said_.insert(all).second) std::cerr << all;
}

void Source::error_in_line(unsigned line, unsigned column, const std::string &message) {
  ++errors_;
  say(line, column, "error", message);
}

void Source::error(std::size_t offset, const std::string &message) {
  const unsigned at = line(offset);
  error_in_line(at, static_cast<unsigned>(offset - line_starts_[at - 1]) + 1, message);
}

void Source::note(std::size_t offset, const std::string &message) {
  const unsigned at = line(offset);
  say(at, static_cast<unsigned>(offset - line_starts_[at - 1]) + 1, "note", message);
}

}  // namespace cudascan::gswo
