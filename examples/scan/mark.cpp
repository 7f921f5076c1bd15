// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mark.h"

#include "common/error.h"
#include "input.h"

namespace cudascan::scan {
namespace {

constexpr std::string_view kProgram = "cudascan-scan ";

}  // namespace

std::string mark_of(const std::string &version, const std::string &settings) {
  return std::string(kProgram) + version + ' ' + settings;
}

std::string settings_in(const std::filesystem::path &file) {
  // Texts for a PDF are at most 1000 bytes long each.
  constexpr std::size_t kFirstBytes = 16384;
  try {
    std::string text = Input(file.string()).part(0, kFirstBytes);
    const std::size_t begin = text.find(kProgram);
    if (begin == std::string::npos) return "";
    text.erase(0, begin + kProgram.size());
    using namespace std::string_view_literals;
    const std::size_t end = text.find_first_of("\n\0"sv), space = text.find(' ');
    return end == std::string::npos || space >= end ? "" : text.substr(space + 1, end - space - 1);
  } catch (const Error &) {
    return "";
  }
}

}  // namespace cudascan::scan
