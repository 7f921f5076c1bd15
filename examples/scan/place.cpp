// SPDX-License-Identifier: LGPL-2.1-or-later
#include "place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
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

fs::path parent_of(const fs::path &path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

/// name.pdf for 0, then name-1.pdf and so on.
fs::path numbered(const fs::path &pdf, int number) {
  if (number == 0) return pdf;
  return pdf.parent_path() /
         (pdf.stem().string() + "-" + std::to_string(number) + pdf.extension().string());
}

/// The first numbered name that neither exists nor has a work folder.
fs::path free_pdf(const fs::path &wanted) {
  for (int i = 0;; ++i) {
    const fs::path pdf = numbered(wanted, i);
    if (!is_there(pdf) && !is_there(work_folder(pdf))) return pdf;
  }
}

void make_folder(const fs::path &folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error("--output: " + folder.string() + ": " + error.message());
}

/// Whether it is a folder that contains nothing but a journal.
bool has_no_pages(const fs::path &folder) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error))) return false;
  for (const auto &entry : fs::directory_iterator(folder, error))
    if (entry.path().filename() != Journal::kName) return false;
  return !error;
}

}  // namespace

Place::Place(const std::string &output, bool pdf, bool resume) : folder_(output), resume_(resume) {
  if (!pdf) {
    std::error_code error;
    if (is_there(folder_) && !fs::is_directory(folder_, error))
      throw Error("--output=" + output + ": is not a folder; name a folder, or a file NAME.pdf");
    return;
  }
  use_pdf(output);
  if (resume) {
    finished_ = is_there(pdf_) && (!is_there(folder_) || has_no_pages(folder_));
  } else {
    if (is_there(folder_))
      note_ = folder_.string() + " holds pages of an unfinished run; --resume continues it";
    use_pdf(free_pdf(pdf_));
  }
}

void Place::use_pdf(const fs::path &pdf) {
  pdf_ = pdf;
  folder_ = work_folder(pdf);
}

void Place::make() {
  make_folder(is_pdf() ? parent_of(pdf_) : folder_);
  if (is_pdf()) {
    const fs::path wanted = pdf_;
    while (mkdir(folder_.c_str(), 0777) != 0) {
      if (errno != EEXIST)
        throw Error("--output: " + folder_.string() + ": " + std::strerror(errno));
      if (resume_) break;
      use_pdf(free_pdf(wanted));
    }
    work_ = open_folder(folder_);
    if (try_lock(work_) == Lock::refused || !work_.has_name(folder_))
      throw Error("--output=" + pdf_.string() +
                  ": another run is making this PDF; wait until it ends");
  }
  remove_leftovers(folder_);
}

fs::path Place::bound_pdf() const {
  return folder_ / pdf_.filename();
}

bool Place::bound() const {
  return is_pdf() && resume_ && is_regular(bound_pdf());
}

void Place::bind(const std::vector<std::string> &pages) {
  std::vector<fs::path> paths;
  for (const std::string &page : pages) paths.push_back(folder_ / page);
  NewFile file(folder_);
  write_pdf(paths, file);
  if (!file.commit(pdf_.filename()))
    throw Error(bound_pdf().string() + ": the PDF needs this name; remove it");
  sync_folder(folder_);
  publish(pages);
}

void Place::publish(const std::vector<std::string> &pages) {
  // Works in the locked folder, whatever has its path now.
  for (const std::string &page : pages) unlinkat(work_.get(), page.c_str(), 0);
  const fs::path from = bound_pdf(), wanted = pdf_;
  for (int i = 0; !rename_to_free(from, pdf_ = numbered(wanted, i));) ++i;
  sync_folder(parent_of(pdf_));
  drop_empty();
}

void Place::drop_empty() const {
  if (!has_no_pages(folder_)) return;
  unlink((folder_ / Journal::kName).c_str());
  rmdir(folder_.c_str());
}

}  // namespace cudascan::scan
