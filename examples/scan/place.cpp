// SPDX-License-Identifier: LGPL-2.1-or-later
#include "place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "common/error.h"
#include "journal.h"
#include "mark.h"
#include "new_file.h"
#include "ocr.h"
#include "pdf.h"
#include "tiff_book.h"

namespace cudascan::scan {
namespace {

namespace fs = std::filesystem;

fs::path work_folder(const fs::path &file) {
  return file.string() + ".pages";
}

fs::path also_folder_of(const fs::path &file) {
  return file.string() + ".also";
}

fs::path parent_of(const fs::path &path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

/// name.pdf for 0, then name-1.pdf and so on.
fs::path numbered(const fs::path &file, int number) {
  if (number == 0) return file;
  return file.parent_path() /
         (file.stem().string() + "-" + std::to_string(number) + file.extension().string());
}

void make_folder(const fs::path &folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_to_write("--output: " + folder.string(), error.value());
}

/// Whether it is the text of a page in a work folder.
bool is_text(const fs::path &name) {
  return name.string().ends_with(std::string(".tif") + kTextSuffix);
}

/// Whether it is a folder that contains nothing but a journal, texts without their pages, and an
/// empty folder for blank pages.
bool has_no_pages(const fs::path &folder) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error))) return false;
  for (const auto &entry : fs::directory_iterator(folder, error)) {
    const bool no_blank = entry.path().filename() == kBlankFolder && !entry.is_symlink(error) &&
                          fs::is_directory(entry.path(), error) &&
                          fs::is_empty(entry.path(), error);
    if (entry.path().filename() != Journal::kName && !is_text(entry.path()) && !no_blank)
      return false;
  }
  return !error;
}

OpenFile open_page(const fs::path &path) {
  OpenFile page = open_regular(path, O_RDONLY);
  if (!page) throw Error(path.string() + ": the file is gone");
  return page;
}

}  // namespace

bool is_put_aside(const std::string &page) {
  return page.starts_with(std::string(kBlankFolder) + '/');
}

Place::Place(const std::string &output, OutputKind kind, bool resume, std::string mark,
             const std::string &settings, bool also)
    : kind_(kind), resume_(resume), also_(also), mark_(std::move(mark)) {
  if (kind == OutputKind::stream) return;
  folder_ = output;
  if (kind == OutputKind::folder) {
    std::error_code error;
    if (is_there(folder_) && !fs::is_directory(folder_, error))
      throw Error("--output=" + output +
                  ": is not a folder; name a folder, or a file NAME.pdf, NAME.tif or "
                  "NAME.png");
    return;
  }
  use_file(output);
  if (resume) {
    find_file(output, settings);
  } else {
    if (is_there(folder_))
      note_ = folder_.string() + " holds pages of an unfinished run; --resume continues it";
    use_file(free_file(file_));
  }
}

fs::path Place::also_folder() const {
  return is_file() ? also_folder_of(file_) : folder_;
}

/// The first numbered name that neither exists nor has a folder that is needed.
fs::path Place::free_file(const fs::path &wanted) const {
  for (int i = 0;; ++i) {
    const fs::path file = numbered(wanted, i);
    if (!is_there(file) && !is_there(work_folder(file)) &&
        !(also_ && is_there(also_folder_of(file))))
      return file;
  }
}

void Place::find_file(const fs::path &wanted, const std::string &settings) {
  for (int i = 0;; ++i) {
    use_file(numbered(wanted, i));
    if (!is_there(file_) || (is_there(folder_) && !has_no_pages(folder_))) return;
    const std::string made_with = settings_in(file_);
    // A file that does not say its settings counts as done, unless its name is only the next one.
    finished_ = made_with == settings || (made_with.empty() && i == 0);
    if (finished_) return;
    if (i == 0) note_ = file_.string() + " was made with other settings and stays";
  }
}

void Place::use_file(const fs::path &file) {
  file_ = file;
  folder_ = work_folder(file);
}

void Place::make() {
  if (kind_ == OutputKind::stream) return;
  make_folder(is_file() ? parent_of(file_) : folder_);
  if (is_file()) {
    const fs::path wanted = file_;
    while (mkdir(folder_.c_str(), 0777) != 0) {
      if (errno != EEXIST) fail_to_write("--output: " + folder_.string(), errno);
      if (resume_) break;
      use_file(free_file(wanted));
    }
    work_ = open_folder(folder_);
    if (try_lock(work_) == Lock::refused || !work_.has_name(folder_))
      throw Error("--output=" + file_.string() +
                  ": another run is making this file; wait until it ends");
  }
  remove_leftovers(folder_);
  if (also_ && is_file()) make_also_folder();
  std::error_code error;
  const fs::path blank = folder_ / kBlankFolder;
  if (fs::is_directory(fs::symlink_status(blank, error))) remove_leftovers(blank);
}

void Place::make_also_folder() const {
  const fs::path also = also_folder();
  if (mkdir(also.c_str(), 0777) != 0 && (errno != EEXIST || !resume_))
    fail_to_write("--also: " + also.string(), errno);
  open_folder(also);  // refuses links
  for (const fs::path &folder : {also, also / kBlankFolder}) {
    std::error_code error;
    if (fs::is_directory(fs::symlink_status(folder, error))) remove_leftovers(folder);
  }
}

void Place::make_blank_folder(const fs::path &folder) {
  const fs::path blank = folder / kBlankFolder;
  std::error_code error;
  if (mkdir(blank.c_str(), 0777) != 0 && errno != EEXIST)
    fail_to_write("--output: " + blank.string(), errno);
  if (!fs::is_directory(fs::symlink_status(blank, error)))
    throw Error("--blank=aside: " + blank.string() + " is not a folder; move it away");
}

fs::path Place::bound_file() const {
  return folder_ / file_.filename();
}

bool Place::bound() const {
  return is_file() && resume_ && is_regular(bound_file());
}

std::vector<PdfPage> Place::pdf_pages(const std::vector<std::string> &pages,
                                      const PdfFacts &facts) const {
  std::vector<PdfPage> result;
  for (const std::string &page : pages) {
    const fs::path path = folder_ / page, text = path.string() + kTextSuffix;
    const auto label = facts.labels.find(page);
    result.push_back({path, facts.texts && is_regular(text) ? text : "",
                      label == facts.labels.end() ? path.stem().string() : label->second});
  }
  return result;
}

void Place::bind(const std::vector<std::string> &pages, const std::vector<std::string> &others,
                 PdfFacts facts) {
  std::vector<fs::path> paths;
  for (const std::string &page : pages) paths.push_back(folder_ / page);
  NewFile file(folder_);
  facts.mark = mark_;
  if (kind_ == OutputKind::pdf)
    write_pdf(pdf_pages(pages, facts), facts, file);
  else if (kind_ == OutputKind::tiff)
    write_tiff(paths, mark_, file);
  else
    file.write(open_page(paths.at(0)).read());
  if (!file.commit(file_.filename()))
    throw Error(bound_file().string() + ": the file needs this name; remove it");
  sync_folder(folder_);
  std::vector<std::string> all = pages;
  all.insert(all.end(), others.begin(), others.end());
  publish(all);
}

void Place::publish(const std::vector<std::string> &pages) {
  // Works in the locked folder, whatever has its path now.
  for (const std::string &page : pages)
    if (page != file_.filename()) unlinkat(work_.get(), page.c_str(), 0);
  const fs::path from = bound_file(), wanted = file_;
  for (int i = 0; !rename_to_free(from, file_ = numbered(wanted, i));) ++i;
  if (also_ && file_ != wanted) rename_to_free(also_folder_of(wanted), also_folder());
  sync_folder(parent_of(file_));
  drop_empty();
}

void Place::remove_texts() const {
  if (kind_ != OutputKind::pdf) return;
  const OpenFile folder = open_folder(folder_);
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder_, error))
    if (is_text(entry.path())) unlinkat(folder.get(), entry.path().filename().c_str(), 0);
}

void Place::drop_empty() const {
  if (!has_no_pages(folder_)) return;
  remove_texts();
  if (also_) {
    rmdir((also_folder() / kBlankFolder).c_str());
    rmdir(also_folder().c_str());
  }
  unlink((folder_ / Journal::kName).c_str());
  rmdir((folder_ / kBlankFolder).c_str());
  rmdir(folder_.c_str());
}

}  // namespace cudascan::scan
