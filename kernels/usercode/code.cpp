// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/code.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <string_view>

#include "common/error.h"
#include "kernels/base/refuse.h"
#include "kernels/usercode/compile.h"
#include "kernels/usercode/includes.h"

namespace cudascan::gswo {
namespace {

// Increase it when units must be compiled again for a reason that digests do not show.
constexpr int kVersion = 1;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool is_definition(std::string_view text) {
  const std::string_view name = text.substr(0, text.find('='));
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), is_word) &&
         text.find_first_of("\n\r") == std::string_view::npos;
}

// Whether no part of a path is empty, "." or "..".
bool is_header_name(std::string_view name) {
  if (name.find_first_of("\"<>\\\n\r") != std::string_view::npos) return false;
  for (;;) {
    const std::size_t end = std::min(name.find('/'), name.size());
    const std::string_view part = name.substr(0, end);
    if (part.empty() || part == "." || part == "..") return false;
    if (end == name.size()) return true;
    name.remove_prefix(end + 1);
  }
}

}  // namespace

std::string default_cache_dir() {
  // Relative paths must be ignored: XDG Base Directory Specification 0.8.
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    return std::string(cache) + "/gst-cudascan";
  if (const char *home = std::getenv("HOME"); home && *home == '/')
    return std::string(home) + "/.cache/gst-cudascan";
  return {};
}

void check_user_code() {
#ifdef NO_USER_CODE
  refuse(
      "this build of gst-cudascan takes no user code; build it with -Duser-code=true, or use one "
      "of "
      "the built-in operators");
#endif
  const char *off = std::getenv("CUDASCAN_NO_USER_CODE");
  if (off && *off && std::string_view(off) != "0")
    refuse("user code is turned off by the environment variable CUDASCAN_NO_USER_CODE=", off,
           "; unset it, or use one of the built-in operators");
}

void check_unit(const Unit &unit) {
  check_user_code();
  if (unit.main.name.find_first_of("\n\r") != std::string::npos)
    refuse("the name of the source file, ", unit.main.name, ", contains an end of line; rename it");
  std::set<std::string_view> names;
  for (const SourceText &header : unit.headers)
    if (!is_header_name(header.name) || !names.insert(header.name).second)
      refuse("the header \"", header.name,
             "\" needs a unique relative name, without . and .. as parts");
  for (const std::string &define : unit.defines)
    if (!is_definition(define))
      refuse("the definition \"", define, "\" must be NAME=VALUE, with an identifier for a name");
  check_includes(unit);
}

void check_not_stopped(const std::stop_token &stop) {
  if (stop.stop_requested())
    throw Error("compiling was cancelled because nobody waited for the code; request it again");
}

std::string named_text(const SourceText &source) {
  std::string line = "#line 1 \"";
  for (char c : source.name) {
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
  return line + "\"\n" + source.text;
}

Digest digest_of(const Unit &unit) {
  Digest digest;
  digest.add(kVersion).add(unit.main.name).add(unit.main.text);
  digest.add(static_cast<long long>(unit.headers.size()));
  for (const SourceText &header : unit.headers) digest.add(header.name).add(header.text);
  digest.add(static_cast<long long>(unit.defines.size()));
  for (const std::string &define : unit.defines) digest.add(define);
  return digest;
}

}  // namespace cudascan::gswo
