// SPDX-License-Identifier: LGPL-2.1-or-later
#include "journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "common/error.h"

namespace cudascan::scan {
namespace {

/// Names may hold any byte but 0: tab, newline, % and the end mark are written as %XX.
std::string escaped(const std::string &text) {
  std::string result;
  for (const char c : text) {
    if (c == '\t' || c == '\n' || c == '%') {
      constexpr char kDigits[] = "0123456789abcdef";
      result += {'%', kDigits[(c >> 4) & 15], kDigits[c & 15]};
    } else {
      result += c;
    }
  }
  return result;
}

std::string unescaped(const std::string &text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      result += static_cast<char>(std::strtol(text.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace

// A line: page, occurrence, size, time, output, path, and a full stop that says that it is whole.
Journal::Journal(const std::filesystem::path &folder) : folder_(folder) {
  std::ifstream file(folder / kName);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    PageKey key;
    std::string output, path, end;
    words >> key.page >> key.occurrence >> key.size >> key.modified_ns;
    words.get();
    if (std::getline(words, output, '\t') && std::getline(words, path, '\t') &&
        std::getline(words, end) && end == ".") {
      key.path = unescaped(path);
      outputs_[key] = unescaped(output);
    }
  }
}

Journal::~Journal() {
  if (file_ >= 0) close(file_);
}

std::string Journal::output_of(const PageKey &key) const {
  const auto found = outputs_.find(key);
  std::error_code error;
  if (found == outputs_.end() || !std::filesystem::exists(folder_ / found->second, error))
    return "";
  return found->second;
}

void Journal::claim(const PageKey &key, const std::string &output) {
  std::ostringstream line;
  // The newline before it ends a line that a killed run has left unfinished.
  line << '\n'
       << key.page << '\t' << key.occurrence << '\t' << key.size << '\t' << key.modified_ns << '\t'
       << escaped(output) << '\t' << escaped(key.path) << "\t.\n";
  const std::string text = line.str();
  const std::lock_guard lock(mutex_);
  if (file_ < 0)
    file_ = open((folder_ / kName).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0 || ::write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw Error((folder_ / kName).string() + ": cannot write: " + std::strerror(errno));
}

}  // namespace cudascan::scan
