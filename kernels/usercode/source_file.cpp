// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/source_file.h"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "kernels/base/refuse.h"

namespace cudascan::gswo {
namespace {

constexpr off_t kMostBytes = 1 << 20;

[[noreturn]] void refuse_file(const std::string &path, const std::string &why) {
  refuse("source = ", path, ": ", why, "; give the path of a C++ file");
}

bool continues_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// Whether a word occurs in a text, followed by `next` after any space.
bool has_word(const std::string &text, const std::string &word, const std::string &next) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    if (at > 0 && continues_word(text[at - 1])) continue;
    const auto behind = text.find_first_not_of(" \t\r\n", at + word.size());
    if (behind != std::string::npos && text.compare(behind, next.size(), next) == 0) return true;
  }
  return false;
}

}  // namespace

SourceFile::SourceFile(const std::string &path)
    : path_(path), stamp_(stamp_of(path)), text_(read(path)) {}

SourceFile::Stamp SourceFile::stamp_of(const std::string &path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) refuse_file(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse_file(path, "it is not a file");
  if (status.st_size > kMostBytes) refuse_file(path, "it is larger than 1 MiB");
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec};
}

std::string SourceFile::read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) refuse_file(path, "it cannot be read");
  return text;
}

void SourceFile::look() {
  Stamp now;
  try {
    now = stamp_of(path_);
  } catch (const BadSetting &) {
    if (std::exchange(lost_, true)) return;
    throw;
  }
  lost_ = false;
  if (now == stamp_) return;
  stamp_ = now;
  std::string text = read(path_);
  changed_.reset();
  if (text != text_) changed_ = std::move(text);
}

void SourceFile::accept() {
  text_ = std::move(*changed_);
  changed_.reset();
}

void SourceFile::reject() {
  changed_.reset();
}

void check_function(const std::string &path, const std::string &text, const std::string &function) {
  if (text.find("#include \"gswo_host.h\"") != std::string::npos)
    refuse("source = ", path,
           ": it is a stand-alone program for nvcc from gswo-cc --emit standalone; "
           "give the file that it was made from");
  if (text.find("\n#define GSWO_FILTER ") != std::string::npos)
    refuse("source = ", path,
           ": it is the output of emit-cuda for a formula or a function; change "
           "these instead, because only the CUDA code of loops with pragmas can be used as source");
  if (has_word(text, function, "(")) return;
  refuse("source = ", path, ": it has no function ", function,
         " and no pragmas of the GSWO model; write `float ", function,
         "(auto p) {...}`, name another function with function, or put `#pragma parallel` and "
         "`#pragma for` before the loops over the pixels");
}

}  // namespace cudascan::gswo
