// SPDX-License-Identifier: LGPL-2.1-or-later
#include "place.h"

#include <system_error>

#include "common/error.h"
#include "journal.h"
#include "new_file.h"
#include "pdf.h"

namespace cudascan::scan {
namespace {

namespace fs = std::filesystem;

fs::path work_folder(const fs::path &pdf) {
  return pdf.string() + ".pages";
}

bool is_there(const fs::path &path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

fs::path parent_of(const fs::path &path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

/// name.pdf, name-1.pdf and so on, the first that neither exists nor has a work folder.
fs::path free_pdf(const fs::path &wanted) {
  fs::path pdf = wanted;
  for (int i = 1; is_there(pdf) || is_there(work_folder(pdf)); ++i)
    pdf = wanted.parent_path() /
          (wanted.stem().string() + "-" + std::to_string(i) + wanted.extension().string());
  return pdf;
}

}  // namespace

Place::Place(const std::string &output, bool pdf, bool resume) : folder_(output) {
  std::error_code error;
  if (!pdf) {
    if (is_there(folder_) && !fs::is_directory(folder_, error))
      throw Error("--output=" + output + ": is not a folder; name a folder, or a file NAME.pdf");
    return;
  }
  pdf_ = output;
  if (resume) {
    finished_ = is_there(pdf_) && !is_there(work_folder(pdf_));
  } else {
    if (is_there(work_folder(pdf_)))
      note_ = work_folder(pdf_).string() +
              " holds pages of a run that did not finish; --resume would go on with it";
    pdf_ = free_pdf(pdf_);
  }
  folder_ = work_folder(pdf_);
}

void Place::make() const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw Error("--output: " + folder_.string() + ": " + error.message());
  remove_leftovers(folder_);
  if (is_pdf()) remove_leftovers(parent_of(pdf_));
}

void Place::bind(const std::vector<std::string> &pages) {
  std::vector<fs::path> paths;
  for (const std::string &page : pages) paths.push_back(folder_ / page);
  NewFile file(parent_of(pdf_));
  write_pdf(paths, file);
  const fs::path wanted = pdf_;
  for (int i = 1; !file.commit(pdf_.filename()); ++i)
    pdf_ = wanted.parent_path() /
           (wanted.stem().string() + "-" + std::to_string(i) + wanted.extension().string());
  sync_folder(parent_of(pdf_));
  std::error_code error;
  for (const fs::path &path : paths) fs::remove(path, error);
  drop_empty();
}

void Place::drop_empty() const {
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder_, error))
    if (entry.path().filename() != Journal::kName) return;
  fs::remove(folder_ / Journal::kName, error);
  fs::remove(folder_, error);
}

}  // namespace cudascan::scan
