// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workers.h"

#include <unistd.h>

#include <cstring>
#include <new>

#include "clock.h"
#include "common/error.h"
#include "crop.h"
#include "digest.h"
#include "new_file.h"
#include "ocr.h"
#include "place.h"
#include "text_image.h"

namespace cudascan::scan {

bool Tasks::put(Task task) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return tasks_.size() < most_ || abandoned_; });
  if (abandoned_) return false;
  tasks_.push_back(std::move(task));
  changed_.notify_all();
  return true;
}

void Tasks::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

bool Tasks::take(Task &task) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !tasks_.empty() || closed_ || abandoned_; });
  if (tasks_.empty() || abandoned_) return false;
  task = std::move(tasks_.front());
  tasks_.pop_front();
  changed_.notify_all();
  return true;
}

void Tasks::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

Workers::Workers(const Job &job, int count, Tasks &tasks)
    : job_(job), tasks_(tasks), count_(count) {
  for (int i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
}

std::vector<std::string> Workers::finish() {
  for (std::thread &thread : threads_) thread.join();
  return std::move(written_);
}

void Workers::work() {
  try {
    const auto cleaner = job_.cuda ? make_cuda_cleaner() : make_cpu_cleaner();
    Image page(job_.cuda), clean(job_.cuda), cropped;
    Task task;
    // Scanned sheets have left the tray, so they are finished even if the run was told to stop.
    while (tasks_.take(task)) {
      if (interrupted() && !task.scanned) {
        tasks_.abandon();
        break;
      }
      make_page(task, *cleaner, page, clean, cropped);
      task.scanned.reset();
    }
  } catch (const std::exception &error) {
    // No GPU or no memory to start with; the other workers continue.
    job_.progress->say(std::string("a worker has stopped: ") + error.what());
    const std::lock_guard lock(mutex_);
    if (++stopped_ == count_) tasks_.abandon();
  }
}

/// The page as it is written.
const Image &Workers::finished(const Image &clean, const Findings &found, Image &cropped) const {
  if (job_.steps.crop == Crop::no && job_.steps.paper.width == 0) return clean;
  cut(clean, found.box, job_.steps.paper, cropped);
  return cropped;
}

namespace {

/// @param page  8 bit, 0 and 255
bool has_ink(const Image &page) {
  const auto levels = page.plane<const std::uint8_t>();
  for (int y = 0; y < page.height; ++y)
    if (std::memchr(levels.row(y), 0, page.width)) return true;
  return false;
}

/// Writes a file, or none for "". Removes what a killed run has left there.
void replace_file(const std::filesystem::path &folder, const std::string &name,
                  const std::string &bytes) {
  const std::filesystem::path path = folder / name;
  if (bytes.empty()) {
    unlink(path.c_str());
    return;
  }
  NewFile file(path.parent_path());
  file.write(bytes);
  while (!file.commit(path.filename())) unlink(path.c_str());
}

}  // namespace

void Workers::make_page(Task &task, Cleaner &cleaner, Image &page, Image &clean, Image &cropped) {
  PageRecord record;
  record.input = task.item.name();
  record.others = task.item.others;
  try {
    auto begin = Clock::now();
    Image *source = &page;
    if (task.scanned)
      source = task.scanned.get();
    else
      record.reading = task.item.document->read_page(task.item.page, job_.how_to_read, page);
    if (task.item.document) record.input_digest = task.item.document->digest();
    record.found.read_ms = ms_since(begin);
    cleaner.clean(*source, job_.steps, clean, record.found);
    begin = Clock::now();
    if (record.found.blank && job_.steps.blank == Blank::drop) {
      skip(task, record);
    } else {
      const Image &result = finished(clean, record.found, cropped);
      const std::string bytes = encode(result, job_.format);
      write(task, bytes, text_of(*source, result, bytes, record), record);
    }
    record.found.write_ms = ms_since(begin) - record.text_ms;
    job_.progress->done(record);
  } catch (const DiskError &error) {
    // The next pages would fail, too.
    const std::lock_guard lock(mutex_);
    if (disk_problem_.empty()) disk_problem_ = error.what();
    tasks_.abandon();
  } catch (const std::bad_alloc &) {
    record.problem = task.item.name() + ": not enough memory; use fewer --jobs";
    job_.progress->failed(record);
  } catch (const std::exception &error) {
    record.problem = error.what();
    if (!record.problem.starts_with(task.item.input))
      record.problem = task.item.name() + ": " + record.problem;
    job_.progress->failed(record);
  }
}

void Workers::skip(const Task &task, const PageRecord &record) {
  if (job_.journal) job_.journal->skip(task.item.key, record.input_digest);
}

/// The text of a page, in a PDF, or "".
std::string Workers::text_of(const Image &source, const Image &page, const std::string &bytes,
                             PageRecord &record) const {
  if (job_.ocr.empty() || record.found.blank || !has_ink(page)) return "";
  const auto begin = Clock::now();
  std::string text;
  try {
    text = read_text(text_image(source, page, bytes, job_.steps, record.found), page.resolution,
                     job_.ocr);
    record.has_text = true;
  } catch (const DiskError &) {
    throw;
  } catch (const Error &error) {
    record.text_problem = error.what();
  }
  record.text_ms = ms_since(begin);
  return text;
}

void Workers::write(const Task &task, const std::string &bytes, const std::string &text,
                    PageRecord &record) {
  record.output_digest = digest_of(bytes);
  if (job_.to_stream) {
    OpenFile output(dup(STDOUT_FILENO));
    output.write(bytes);
    record.output = "standard output";
    return;
  }
  const bool aside = record.found.blank && job_.steps.blank == Blank::aside;
  const std::string prefix = aside ? std::string(kBlankFolder) + '/' : "";
  if (aside) Place::make_blank_folder(job_.folder);
  NewFile file(job_.folder / prefix);
  file.write(bytes);
  std::string name = task.item.output;
  PageNote note{prefix + name, record.input_digest, record.output_digest};
  for (;;) {
    // Before the page: a page that is there needs nothing more.
    if (!job_.ocr.empty()) replace_file(job_.folder, note.output + kTextSuffix, text);
    if (job_.journal) job_.journal->claim(task.item.key, note);
    if (file.commit(name)) break;
    name = job_.names->take(std::filesystem::path(task.item.output).stem());
    note.output = prefix + name;
  }
  if (job_.journal) job_.journal->confirm(task.item.key, note);
  record.output = (job_.folder / note.output).string();
  const std::lock_guard lock(mutex_);
  if (written_.size() <= task.index) written_.resize(task.index + 1);
  written_[task.index] = note.output;
}

}  // namespace cudascan::scan
