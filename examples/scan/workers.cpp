// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workers.h"

#include <unistd.h>

#include <cstring>
#include <new>

#include "clock.h"
#include "coded.h"
#include "common/error.h"
#include "crop.h"
#include "digest.h"
#include "new_file.h"
#include "ocr.h"
#include "page_set.h"
#include "place.h"
#include "signals.h"
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

Workers::Workers(const Job &job, int count, Tasks &tasks, Crew &crew)
    : job_(job), tasks_(tasks), crew_(crew), count_(count) {
  crew_.begin(count, [this](Bench &bench) { work(bench); });
}

Workers::~Workers() {
  tasks_.abandon();
  crew_.wait();
}

std::vector<std::string> Workers::finish() {
  crew_.wait();
  return std::move(written_);
}

void Workers::work(Bench &bench) {
  try {
    bench.open();
    Task task;
    // Scanned sheets have left the tray, so they are finished even if the run was told to stop.
    while (tasks_.take(task)) {
      if (interrupted() && !task.scanned) {
        tasks_.abandon();
        break;
      }
      make_pages(task, bench);
      task.scanned.reset();
    }
  } catch (const NoGpu &) {  // which was said when the last one failed
    bench.clear();
    stop();
  } catch (const std::exception &error) {
    // No memory to start with; the other workers continue.
    job_.progress->say(std::string("a worker has stopped: ") + error.what());
    bench.clear();
    stop();
  }
}

void Workers::stop() {
  const std::lock_guard lock(mutex_);
  if (++stopped_ == count_) tasks_.abandon();
}

bool Tasks::abandoned() {
  const std::lock_guard lock(mutex_);
  return abandoned_;
}

/// The page as it is written.
const Image &Workers::finished(const Image &clean, const Findings &found, Image &cropped) const {
  if (job_.steps.crop == Crop::no && job_.steps.paper.width == 0) return clean;
  cut(clean, found.box, job_.steps.paper, cropped);
  return cropped;
}

/// Whether nothing else is made of the pixels of a clean page.
bool Workers::wants_only_group4() const {
  return job_.format == Format::tiff && job_.outputs.mode == Mode::bw &&
         job_.outputs.also.empty() && job_.steps.crop == Crop::no && job_.steps.paper.width == 0 &&
         job_.ocr.empty();
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

/// The further files of a page.
std::vector<AlsoFile> Workers::also(const Task &task, const Image &bw, Cleaner &cleaner,
                                    PageOutputs &outputs, Findings &found) const {
  if (job_.outputs.also.empty()) return {};
  FileTags tags{job_.mark, std::filesystem::path(task.item.input).filename(), ""};
  if (task.item.pages > 1)
    tags.page =
        "page " + std::to_string(task.item.page + 1) + " of " + std::to_string(task.item.pages);
  return outputs.also(bw, job_.steps, found, cleaner, tags);
}

template <typename Make>
void Workers::attempt(const Task &task, PageRecord &record, Make make) {
  try {
    make();
  } catch (const DiskError &error) {
    // The next pages would fail, too.
    const std::lock_guard lock(mutex_);
    if (disk_problem_.empty()) disk_problem_ = error.what();
    tasks_.abandon();
  } catch (const NoGpu &) {  // the page has not failed; a later run can make it
    const std::lock_guard lock(mutex_);
    unmade_ = true;
    tasks_.abandon();
    throw;
  } catch (const std::bad_alloc &) {
    record.problem = task.item.name() + ": not enough memory; use fewer --jobs";
    job_.progress->failed(record);
  } catch (const std::exception &error) {
    record.problem = error.what();
    if (!record.problem.starts_with(task.item.input))
      record.problem = record.name() + ": " + record.problem;
    job_.progress->failed(record);
  }
}

void Workers::make_pages(Task &task, Bench &bench) {
  Buffers &buffers = bench.buffers();
  PageRecord record;
  record.input = task.item.name();
  record.others = task.item.others;
  attempt(task, record, [&] {
    const auto begin = Clock::now();
    Image *source = &buffers.page;
    // First, so that the file comes from the disk here and from the cache when it is decoded.
    if (task.item.document && !job_.how_to_read.for_gpu())
      record.input_digest = task.item.document->digest();
    if (task.scanned)
      source = task.scanned.get();
    else
      record.reading =
          task.item.document->read_page(task.item.page, job_.how_to_read, buffers.page);
    if (!record.reading.not_on_gpu.empty()) {
      record.found.decoder = "cpu";
      record.found.not_on_gpu = record.reading.not_on_gpu;
    }
    // Of a file that was read whole, for a GPU.
    if (task.item.document) record.input_digest = task.item.document->digest();
    record.found.read_ms = ms_since(begin);
    bench.note(1.0 * source->width * source->height);
    const auto rest = Clock::now();
    const std::vector<Part> parts = find_parts(task, *source, buffers.spread);
    record.found.straighten_ms = ms_since(rest);
    for (const Part part : parts) {
      PageRecord page = record;
      if (job_.split != Split::no) page.split = {part, buffers.spread.gutter()};
      attempt(task, page, [&] { make_page(task, page, *source, bench.cleaner(), buffers); });
      record.found.read_ms = record.found.straighten_ms = record.reading.decode_ms = 0;
      record.reading.warnings.clear();
      if (tasks_.abandoned()) return;
    }
  });
}

/// The pages of an image that are still to be made.
std::vector<Part> Workers::find_parts(const Task &task, Image &image, Spread &spread) {
  if (job_.split == Split::no) return {Part::whole};
  std::vector<Part> parts = spread.look(image, job_.split, job_.steps);
  if (parts.size() > 1 && !job_.one_page.empty())
    throw Error("is an open book of two pages: " + job_.one_page + ", or use --split=no");
  std::erase_if(parts, [&](Part part) { return part != Part::whole && task.item.half(part).done; });
  job_.progress->expect(static_cast<int>(parts.size()) - 1);
  return parts;
}

/// Makes one page that is written: an image, or a part of it.
void Workers::make_page(const Task &task, PageRecord &record, Image &source, Cleaner &cleaner,
                        Buffers &buffers) {
  Steps steps = job_.steps;
  const Part part = record.split.part;
  Image *page = &source;
  if (job_.split != Split::no) {
    page = &buffers.spread.page(source, part);
    if (part == Part::whole) steps.upright = false;
  }
  buffers.outputs.keep(*page);
  steps.only_group4 = wants_only_group4();
  steps.keep_page = !job_.ocr.empty();
  cleaner.clean(*page, steps, buffers.clean, record.found);
  if (page->coded && page->coded->is_decoded()) {
    record.reading = page->coded->reading();
    record.reading.decode_ms = 0;  // it is in the time for measuring
  }
  const auto begin = Clock::now();
  if (record.found.blank && job_.steps.blank == Blank::drop) {
    skip(task, record);
  } else {
    const Image &bw = finished(buffers.clean, record.found, buffers.cropped);
    const std::string bytes =
        cleaner.group4().empty()
            ? buffers.outputs.page(bw, job_.format, steps, record.found, cleaner)
            : tiff_of(cleaner.group4(), bw.width, bw.height, bw.resolution);
    const auto more = also(task, bw, cleaner, buffers.outputs, record.found);
    record.found.encode_ms = ms_since(begin);
    write(task, bytes, text_of(*page, bw, record), more, record);
  }
  if (job_.split != Split::no) buffers.spread.add_to(part, record.found);
  record.found.write_ms = ms_since(begin) - record.text_ms;
  job_.progress->done(record);
}

void Workers::skip(const Task &task, const PageRecord &record) {
  if (job_.journal) job_.journal->skip(task.item.key_of(record.split.part), record.input_digest);
}

/// The text of a page, in a PDF, or "".
std::string Workers::text_of(const Image &source, const Image &page, PageRecord &record) const {
  if (job_.ocr.empty() || record.found.blank || !has_ink(page)) return "";
  const auto begin = Clock::now();
  std::string text;
  try {
    text = read_text(text_image(source, page, job_.steps, record.found), page.resolution, job_.ocr);
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
                    const std::vector<AlsoFile> &also, PageRecord &record) {
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
  if (aside && !also.empty()) Place::make_blank_folder(job_.also_folder);
  PageSet set;
  set.add(job_.folder / prefix, bytes);
  std::vector<std::string> digests{record.output_digest}, names(1 + also.size());
  for (const AlsoFile &file : also) {
    set.add(job_.also_folder / prefix, file.bytes);
    digests.push_back(digest_of(file.bytes));
  }
  const Part part = record.split.part;
  const PageKey key = task.item.key_of(part);
  const bool whole = part == Part::whole;
  const std::string planned = whole ? task.item.output : task.item.half(part).output;
  const bool partly = whole ? task.item.partly : task.item.half(part).partly;
  PageNote note{"", record.input_digest, record.output_digest};
  for (names[0] = planned;; names[0] = job_.names->take(std::filesystem::path(planned).stem())) {
    const std::string stem = std::filesystem::path(names[0]).stem();
    note.output = prefix + names[0];
    note.also.clear();
    for (std::size_t i = 0; i < also.size(); ++i) {
      names[i + 1] = stem + also[i].suffix;
      note.also.push_back({prefix + names[i + 1], digests[i + 1]});
    }
    // Before the page: a page that is there needs nothing more.
    if (!job_.ocr.empty()) replace_file(job_.folder, note.output + kTextSuffix, text);
    if (job_.journal) job_.journal->claim(key, note);
    if (set.commit(names, digests, partly)) break;
  }
  if (job_.journal) job_.journal->confirm(key, note);
  record.output = (job_.folder / note.output).string();
  for (const AlsoNote &file : note.also)
    record.also.push_back({(job_.also_folder / file.output).string(), file.digest});
  const std::lock_guard lock(mutex_);
  const std::size_t place = place_of(task.index, part, job_.split);
  if (written_.size() <= place) written_.resize(place + 1);
  written_[place] = note.output;
}

}  // namespace cudascan::scan
