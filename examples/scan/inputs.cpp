// SPDX-License-Identifier: LGPL-2.1-or-later
#include "inputs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "common/error.h"
#include "header.h"
#include "journal.h"
#include "mark.h"
#include "open_file.h"

namespace cudascan::scan {
namespace {

namespace fs = std::filesystem;

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

bool has_image_extension(const fs::path &path) {
  static constexpr std::array<std::string_view, 20> kExtensions = {
      ".png", ".jpg", ".jpeg", ".jpe", ".tif", ".tiff", ".pgm", ".ppm", ".pbm",  ".pnm",
      ".jp2", ".j2k", ".jpx",  ".jpc", ".j2c", ".bmp",  ".dib", ".gif", ".webp", ".pdf"};
  std::string extension = path.extension();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return static_cast<char>(lower(c)); });
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

/// Finds the files of folders.
class Search {
 public:
  Search(bool recursive, const fs::path &output, Inputs &found)
      : recursive_(recursive), output_(output), found_(found) {}

  void folder(const fs::path &folder) {
    std::vector<std::string> files, folders;
    std::error_code error;
    fs::directory_iterator entries(folder, error);
    if (error) throw Error(folder.string() + ": " + error.message());
    for (const auto &entry : entries) {
      if (entry.path().filename().string()[0] == '.') continue;
      const bool is_folder = entry.is_directory(error);
      (is_folder ? folders : files).push_back(entry.path());
    }
    std::sort(files.begin(), files.end(), natural_less);
    for (const std::string &path : files) file(path);
    std::sort(folders.begin(), folders.end(), natural_less);
    for (const std::string &inner : folders) {
      const std::string why = why_not_entered(inner);
      if (why.empty())
        this->folder(inner);
      else
        found_.ignored.push_back({inner, why});
    }
  }

 private:
  void file(const fs::path &path) {
    const std::string why = is_output(path) ? "it is the output of a run" : why_no_page(path);
    if (why.empty())
      found_.files.push_back(path);
    else
      found_.ignored.push_back({path, why});
  }

  /// @return "" for a file that is an image, or should be one
  static std::string why_no_page(const fs::path &path) {
    std::error_code error;
    if (has_image_extension(path)) return "";
    if (!fs::is_regular_file(path, error)) return "not a file";
    try {
      return recognise(Input(path)) == Kind::unknown ? "not an image or a PDF" : "";
    } catch (const Error &) {
      return "";  // the run reports why it cannot be read
    }
  }

  std::string why_not_entered(const fs::path &folder) const {
    std::error_code error;
    if (is_output(folder) || is_there(folder / Journal::kName) || has_also_files(folder))
      return "it is the output of a run";
    if (fs::is_symlink(folder, error)) return "a link to a folder";
    return recursive_ ? "" : "a folder; --recursive looks into it";
  }

  /// Whether it is the output: a folder, or a file that says so and has its name or the one that it
  /// gets when the name is taken, book-1.pdf.
  bool is_output(const fs::path &path) const {
    std::error_code error;
    if (fs::is_directory(path, error)) return fs::equivalent(path, output_, error);
    const fs::path here = output_.parent_path().empty() ? "." : output_.parent_path();
    if (output_.extension().empty() || path.extension() != output_.extension() ||
        !fs::equivalent(path.parent_path(), here, error))
      return false;
    const std::string stem = path.stem(), wanted = output_.stem();
    const bool is_numbered =
        stem.size() > wanted.size() + 1 && stem.starts_with(wanted + '-') &&
        std::all_of(stem.begin() + static_cast<std::ptrdiff_t>(wanted.size()) + 1, stem.end(),
                    is_digit);
    return (stem == wanted || is_numbered) && !settings_in(path).empty();
  }

  /// Whether it is the folder of --also of a file of all pages.
  static bool has_also_files(const fs::path &folder) {
    const fs::path file = folder.parent_path() / folder.stem();
    return folder.extension() == ".also" && (is_there(file) || is_there(file.string() + ".pages"));
  }

  bool recursive_;
  fs::path output_;
  Inputs &found_;
};

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

std::vector<std::string> names_in(const std::string &file, bool null) {
  std::string text;
  try {
    OpenFile list(file == kStandardInput ? dup(STDIN_FILENO)
                                         : open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!list) throw Error(std::strerror(errno));
    text = list.read();
  } catch (const Error &error) {
    throw Error("--files-from=" + file + ": " + error.what());
  }
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string name; std::getline(lines, name, null ? '\0' : '\n');) {
    if (name == kStandardInput && file == kStandardInput)
      throw Error("--files-from=-: standard input is the list of names and cannot be a page");
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

Inputs list_inputs(const std::vector<std::string> &named, bool recursive,
                   const std::string &output) {
  Inputs inputs;
  Search search(recursive, output, inputs);
  for (const std::string &name : named) {
    std::error_code error;
    if (fs::is_directory(name, error))
      search.folder(name);
    else
      inputs.files.push_back(name);
  }
  return inputs;
}

}  // namespace cudascan::scan
