// SPDX-License-Identifier: LGPL-2.1-or-later
#include "journal.h"

#include <fcntl.h>

#include <sstream>
#include <vector>

#include "common/error.h"
#include "digest.h"

namespace cudascan::scan {
namespace {

constexpr const char *kClaimed = "claimed", *kMade = "made", *kSkipped = "blank";

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

/// Whether it is a plain file name, and not the journal's, in no folder but that of blank pages.
bool is_plain_name(std::string name) {
  if (const std::string blank = std::string(kBlankFolder) + '/'; name.starts_with(blank))
    name.erase(0, blank.size());
  return !name.empty() && name != "." && name != ".." && name != Journal::kName &&
         name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

/// Whether the folder of an output is no link.
bool is_real_folder(const std::filesystem::path &folder, const std::string &output) {
  std::error_code error;
  const std::filesystem::path inner = std::filesystem::path(output).parent_path();
  return inner.empty() ||
         std::filesystem::is_directory(std::filesystem::symlink_status(folder / inner, error));
}

}  // namespace

Journal::Journal(const std::filesystem::path &folder, std::string settings, std::string version,
                 const std::filesystem::path &also)
    : path_(folder / kName),
      also_(also.empty() ? folder : also),
      settings_(std::move(settings)),
      version_(std::move(version)) {
  constexpr std::size_t kDigits = 16;
  settings_id_ = digest_of(settings_).substr(0, kDigits);
  OpenFile file = open_regular(path_, O_RDONLY);
  if (!file) return;
  std::istringstream lines(file.read());
  for (std::string line; std::getline(lines, line);) read_line(line);
  for (const auto &[key, entries] : entries_)
    for (const auto &[id, entry] : entries)
      if (!entry.skipped) ++owners_[entry.note.output];
}

// A line of a page: page, or page:part for a part of it, occurrence, size, time, output, path,
// SHA-256 of the input, settings, SHA-256 of the output, "claimed", "made" or "blank", name and
// SHA-256 of each further file, and a full stop as the sign of a complete line. A line of settings
// begins with the word; only people read it.
void Journal::read_line(const std::string &line) {
  std::istringstream words(line);
  PageKey key;
  words >> key.page;
  if (words.peek() == ':') {
    words.get();
    words >> key.part;
  }
  words >> key.occurrence >> key.size >> key.modified_ns;
  words.get();
  std::vector<std::string> rest;
  for (std::string word; std::getline(words, word, '\t');) rest.push_back(word);
  constexpr std::size_t kWords = 7;
  if (rest.size() < kWords || rest.size() % 2 == 0 || rest.back() != ".") return;
  PageNote note{unescaped(rest[0]), rest[2], rest[4]};
  for (std::size_t i = kWords - 1; i + 1 < rest.size(); i += 2) {
    note.also.push_back({unescaped(rest[i]), rest[i + 1]});
    if (!is_plain_name(note.also.back().output)) return;
  }
  const bool confirmed = rest[5] == kMade, skipped = rest[5] == kSkipped;
  if (skipped ? !note.output.empty() : !is_plain_name(note.output)) return;
  if (!confirmed && !skipped && rest[5] != kClaimed) return;
  key.path = unescaped(rest[1]);
  entries_[key][rest[3]] = {note, confirmed, skipped};
}

/// Whether the file is what this page became.
bool Journal::has(const Entry &entry, const std::filesystem::path &file,
                  const std::string &digest) const {
  // If somebody has removed a page, another one may have got its name.
  const bool sure = entry.confirmed && owners_.at(entry.note.output) == 1;
  return sure ? is_regular(file) : digest_of_file(file) == digest;
}

std::string Journal::existing(const Entry &entry) const {
  const PageNote &note = entry.note;
  const std::filesystem::path folder = path_.parent_path();
  if (entry.skipped || !is_real_folder(folder, note.output)) return "";
  if (!has(entry, folder / note.output, note.output_digest)) return "";
  for (const AlsoNote &also : note.also)
    if (!is_real_folder(also_, also.output) || !has(entry, also_ / also.output, also.digest))
      return "";
  return note.output;
}

std::string Journal::partly_made(const PageKey &key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return "";
  const auto entry = found->second.find(settings_id_);
  if (entry == found->second.end() || entry->second.skipped) return "";
  const PageNote &note = entry->second.note;
  int made = 0;
  const auto fits = [&](const std::filesystem::path &folder, const std::string &output,
                        const std::string &digest) {
    if (!is_real_folder(folder, output)) return true;
    if (!scan::is_there(folder / output)) return true;
    ++made;
    return digest_of_file(folder / output) == digest;
  };
  if (!fits(path_.parent_path(), note.output, note.output_digest)) return "";
  for (const AlsoNote &also : note.also)
    if (!fits(also_, also.output, also.digest)) return "";
  return note.also.empty() || made == 0 ? "" : std::filesystem::path(note.output).filename();
}

std::string Journal::output_of(const PageKey &key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return "";
  const auto entry = found->second.find(settings_id_);
  return entry == found->second.end() ? "" : existing(entry->second);
}

std::vector<std::string> Journal::other_outputs_of(const PageKey &key) const {
  std::vector<std::string> outputs;
  const auto found = entries_.find(key);
  if (found == entries_.end()) return outputs;
  for (const auto &[id, entry] : found->second)
    if (const std::string output = existing(entry); id != settings_id_ && !output.empty())
      outputs.push_back(output);
  return outputs;
}

bool Journal::was_skipped(const PageKey &key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return false;
  const auto entry = found->second.find(settings_id_);
  return entry != found->second.end() && entry->second.skipped;
}

void Journal::claim(const PageKey &key, const PageNote &note) {
  add_line(key, note, kClaimed);
}

void Journal::confirm(const PageKey &key, const PageNote &note) {
  try {
    add_line(key, note, kMade);
  } catch (const Error &) {
    // The page exists, and a later run recognises it by its claim.
  }
}

void Journal::skip(const PageKey &key, const std::string &input_digest) {
  add_line(key, {"", input_digest, ""}, kSkipped);
}

void Journal::add_line(const PageKey &key, const PageNote &note, const char *state) {
  std::ostringstream line;
  line << key.page;
  if (key.part != 0) line << ':' << key.part;
  line << '\t' << key.occurrence << '\t' << key.size << '\t' << key.modified_ns << '\t'
       << escaped(note.output) << '\t' << escaped(key.path) << '\t' << note.input_digest << '\t'
       << settings_id_ << '\t' << note.output_digest << '\t' << state;
  for (const AlsoNote &also : note.also)
    line << '\t' << escaped(also.output) << '\t' << also.digest;
  line << "\t.\n";
  const std::lock_guard lock(mutex_);
  if (!file_) {
    file_ = open_regular(path_, O_WRONLY | O_CREAT | O_APPEND);
    add("settings\t" + settings_id_ + '\t' + version_ + '\t' + escaped(settings_) + "\t.\n");
  }
  add(line.str());
}

void Journal::add(const std::string &line) {
  try {
    if (!file_) throw Error("its folder is gone");
    // The newline before it ends a line that a killed run has left unfinished.
    file_.write('\n' + line);
  } catch (const DiskError &error) {
    throw DiskError(path_.string() + ": " + error.what());
  } catch (const Error &error) {
    throw Error(path_.string() + ": " + error.what());
  }
}

}  // namespace cudascan::scan
