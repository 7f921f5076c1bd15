// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/gswo/source_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <utility>

#include "kernels/refuse.h"

namespace cudascan::gswo {
namespace {

constexpr off_t kMostBytes = 1 << 20;

[[noreturn]] void refuse_file(const std::string &path, const std::string &why) {
  refuse("source = ", path, ": ", why, "; give the path of a C++ file");
}

}  // namespace

SourceFile::SourceFile(const std::string &path)
    : path_(path), stamp_(stamp_of(path)), text_(read(path)) {}

SourceFile::Stamp SourceFile::stamp_of(const std::string &path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) refuse_file(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse_file(path, "it is no file");
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
  const Stamp now = stamp_of(path_);
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
  if (!std::regex_search(text, std::regex("\\b" + function + "\\s*\\(")))
    refuse("source = ", path, ": it has no function ", function, "; write `float ", function,
           "(auto p) {...}`, or name another one with function");
}

}  // namespace cudascan::gswo
