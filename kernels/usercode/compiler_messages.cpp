// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/compiler_messages.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <set>
#include <utility>

namespace cudascan::gswo {
namespace {

constexpr int kMostLines = 20;
constexpr std::size_t kLongest = 500;
constexpr std::pair<const char *, const char *> kWordings[] = {
    {": catastrophic error: ", ": error: "},
    {" (no directories in search list)", ""},
    {"\": Not a directory", "\""},
    {":   required from", ": required from"}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
  for (std::string_view word : words)
    if (text.find(word) != std::string_view::npos) return true;
  return false;
}

void replace_all(std::string &text, std::string_view part, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += by.size())
    text.replace(at, part.size(), by);
}

// "file(12): " of NVRTC becomes "file:12: ".
void unify_place(std::string &line) {
  const std::size_t end = line.find("): ");
  if (end == std::string::npos) return;
  std::size_t begin = end;
  while (begin > 0 && is_digit(line[begin - 1])) --begin;
  if (begin == end || begin == 0 || line[begin - 1] != '(') return;
  line.replace(end, 1, "");
  line[begin - 1] = ':';
}

// Whether the text before `at` ends as "file:12" does.
bool ends_with_place(std::string_view line, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && is_digit(line[begin - 1])) --begin;
  return begin < at && begin > 1 && line[begin - 1] == ':';
}

bool is_error_at_place(std::string_view line) {
  for (std::string_view error : {": error: ", ": fatal error: "}) {
    const std::size_t at = line.find(error);
    if (at != std::string_view::npos) return ends_with_place(line, at);
  }
  return false;
}

bool is_undefined(std::string_view line) {
  return contains_any(line, {"undefined reference to", "undefined symbol:", "Unresolved extern"});
}

bool is_error(std::string_view line) {
  return contains_any(line, {"error: ", "error   : ", "fatal   : ", "internal compiler error"});
}

// Where a template was used: by g++; by clang++; by NVRTC.
bool is_use(std::string_view line) {
  return contains_any(line, {"required from", "requested here", "\" at line "});
}

// "/usr/bin/ld: " and what comes before; some linkers also add "(.text+0x5):" to the line.
void remove_linker(std::string &line) {
  if (!is_undefined(line)) return;
  if (const std::size_t at = line.find("ld: "); at != std::string::npos) line.erase(0, at + 4);
  const std::size_t section = line.find(":(."), end = line.find("): ", section);
  if (section != std::string::npos && end != std::string::npos)
    line.erase(section + 1, end + 1 - section);
}

// The name of a function in quotes, as ptxas prints it.
void demangle(std::string &line) {
  const std::size_t begin = line.find("'_Z") + 1, end = line.find('\'', begin);
  if (begin == 0 || end == std::string::npos) return;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(line.substr(begin, end - begin).c_str(), nullptr, nullptr, &status),
      std::free);
  if (name) line.replace(begin, end - begin, name.get());
}

// Types of gswo/division.h: the type that the user divides.
void name_divided(std::string &line) {
  constexpr std::string_view type = "SideOfDivision<", space = "gswo::";
  for (std::size_t at; (at = line.find(type)) != std::string::npos;) {
    std::size_t end = at + type.size();
    for (int open = 1; end < line.size() && (open += (line[end] == '<') - (line[end] == '>')) > 0;)
      ++end;
    line.erase(std::min(end, line.size()), 1);
    line.erase(at, type.size());
    if (std::string_view(line).substr(0, at).ends_with(space))
      line.erase(at - space.size(), space.size());
  }
}

// Messages of g++ for functions that a filter can't call, and for the rest of std.
void explain_missing(std::string &line) {
  constexpr std::string_view begin = "there are no arguments to ",
                             end = " that depend on a template parameter";
  const std::size_t first = line.find(begin), last = line.find(end);
  if (first != std::string::npos && last != std::string::npos && first < last) {
    line.erase(last);
    line.replace(first, begin.size(), "there is no function ");
  } else if (!line.ends_with("is not a member of 'std'")) {
    return;
  }
  line += "; filters can use mathematical functions, min, max, clamp, swap, sort and nth_element";
}

void trim(std::string &line) {
  line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
  if (line.size() > kLongest) line.replace(kLongest, std::string::npos, " ...");
}

}  // namespace

CompilerMessages shorten(std::string_view said, const std::vector<std::string> &folders) {
  CompilerMessages messages{false, {}};
  std::string first;
  std::set<std::string> seen;
  int lines = 0;
  while (!said.empty()) {
    const std::size_t end = std::min(said.find('\n'), said.size());
    std::string line(said.substr(0, end));
    said.remove_prefix(std::min(end + 1, said.size()));
    for (const std::string &folder : folders) replace_all(line, folder, "");
    for (const auto &[said_so, plain] : kWordings) replace_all(line, said_so, plain);
    unify_place(line);
    remove_linker(line);
    demangle(line);
    name_divided(line);
    trim(line);
    explain_missing(line);
    if (first.empty()) first = line;
    const bool blames_code = is_error_at_place(line) || is_undefined(line);
    messages.blames_code |= blames_code;
    // After errors in the code, a compiler also reports that its parts failed.
    const bool wanted = blames_code || is_use(line) || (is_error(line) && !messages.blames_code);
    if (!wanted || !seen.insert(line).second || ++lines > kMostLines) continue;
    messages.text += (messages.text.empty() ? "" : "\n") + line;
  }
  if (lines > kMostLines) messages.text += "\n...";
  if (messages.text.empty()) messages.text = first;
  return messages;
}

}  // namespace cudascan::gswo
