// SPDX-License-Identifier: LGPL-2.1-or-later
#include "inputs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "common/error.h"

namespace cudascan::scan {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
int lower(char c) {
  return std::tolower(static_cast<unsigned char>(c));
}

/// The digits from `at` on without leading zeros; moves `at` past them.
std::string_view number_at(const std::string &text, std::size_t &at) {
  std::size_t begin = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  while (begin + 1 < at && text[begin] == '0') ++begin;
  return std::string_view(text).substr(begin, at - begin);
}

bool is_image_name(const std::filesystem::path &path) {
  static constexpr std::array<std::string_view, 13> kExtensions = {
      ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".pgm", ".ppm",
      ".pbm", ".pnm", ".jp2",  ".j2k", ".jpx",  ".jpc"};
  std::string extension = path.extension();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return static_cast<char>(lower(c)); });
  return path.filename().string()[0] != '.' &&
         std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

void add_folder(const std::filesystem::path &folder, bool recursive,
                std::vector<std::string> &inputs) {
  std::vector<std::string> files, folders;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  if (error) throw Error(folder.string() + ": " + error.message());
  for (const auto &entry : entries) {
    if (entry.is_directory(error)) {
      if (entry.path().filename().string()[0] != '.' && !entry.is_symlink(error))
        folders.push_back(entry.path());
    } else if (is_image_name(entry.path())) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end(), natural_less);
  inputs.insert(inputs.end(), files.begin(), files.end());
  if (!recursive) return;
  std::sort(folders.begin(), folders.end(), natural_less);
  for (const std::string &inner : folders) add_folder(inner, true, inputs);
}

}  // namespace

bool natural_less(const std::string &a, const std::string &b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view left = number_at(a, i), right = number_at(b, j);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
    } else {
      if (lower(a[i]) != lower(b[j])) return lower(a[i]) < lower(b[j]);
      ++i;
      ++j;
    }
  }
  const std::size_t left = a.size() - i, right = b.size() - j;
  return left != right ? left < right : a < b;
}

std::vector<std::string> list_inputs(const std::vector<std::string> &named, bool recursive) {
  std::vector<std::string> inputs;
  for (const std::string &name : named) {
    std::error_code error;
    if (std::filesystem::is_directory(name, error))
      add_folder(name, recursive, inputs);
    else
      inputs.push_back(name);
  }
  return inputs;
}

}  // namespace cudascan::scan
