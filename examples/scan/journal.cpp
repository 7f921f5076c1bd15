// SPDX-License-Identifier: LGPL-2.1-or-later
#include "journal.h"

#include <fcntl.h>

#include <sstream>
#include <vector>

#include "common/error.h"
#include "digest.h"

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

/// Whether it is a plain file name, without a folder, and not the journal's.
bool is_plain_name(const std::string &name) {
  return !name.empty() && name != "." && name != ".." && name != Journal::kName &&
         name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

std::string digest_of_file(const std::filesystem::path &path) {
  try {
    OpenFile file = open_regular(path, O_RDONLY);
    return file ? digest_of(file.read()) : "";
  } catch (const Error &) {
    return "";
  }
}

}  // namespace

Journal::Journal(const std::filesystem::path &folder) : path_(folder / kName) {
  OpenFile file = open_regular(path_, O_RDONLY);
  if (!file) return;
  std::istringstream lines(file.read());
  for (std::string line; std::getline(lines, line);) read_line(line);
}

// A line: page, occurrence, size, time, output, path, the digest if the page is only claimed, and
// a full stop as the sign of a complete line.
void Journal::read_line(const std::string &line) {
  std::istringstream words(line);
  PageKey key;
  words >> key.page >> key.occurrence >> key.size >> key.modified_ns;
  words.get();
  std::vector<std::string> rest;
  for (std::string word; std::getline(words, word, '\t');) rest.push_back(word);
  if (rest.size() < 3 || rest.size() > 4 || rest.back() != ".") return;
  const std::string output = unescaped(rest[0]);
  if (!is_plain_name(output)) return;
  key.path = unescaped(rest[1]);
  entries_[key] = {output, rest.size() == 4 ? rest[2] : ""};
}

std::string Journal::output_of(const PageKey &key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return "";
  const auto &[output, digest] = found->second;
  const std::filesystem::path path = path_.parent_path() / output;
  const bool is_there = digest.empty() ? is_regular(path) : digest_of_file(path) == digest;
  return is_there ? output : "";
}

void Journal::claim(const PageKey &key, const std::string &output, std::string_view contents) {
  add_line(key, {output, digest_of(contents)});
}

void Journal::confirm(const PageKey &key, const std::string &output) {
  try {
    add_line(key, {output, ""});
  } catch (const Error &) {
    // The page exists, and a later run recognises it by its claim.
  }
}

void Journal::add_line(const PageKey &key, const Entry &entry) {
  std::ostringstream line;
  // The newline before it ends a line that a killed run has left unfinished.
  line << '\n'
       << key.page << '\t' << key.occurrence << '\t' << key.size << '\t' << key.modified_ns << '\t'
       << escaped(entry.output) << '\t' << escaped(key.path) << '\t';
  if (!entry.digest.empty()) line << entry.digest << '\t';
  line << ".\n";
  const std::lock_guard lock(mutex_);
  if (!file_) file_ = open_regular(path_, O_WRONLY | O_CREAT | O_APPEND);
  try {
    if (!file_) throw Error("its folder is gone");
    file_.write(line.str());
  } catch (const DiskError &error) {
    throw DiskError(path_.string() + ": " + error.what());
  } catch (const Error &error) {
    throw Error(path_.string() + ": " + error.what());
  }
}

}  // namespace cudascan::scan
