// SPDX-License-Identifier: LGPL-2.1-or-later
#include "run.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <optional>

#include "decode_option.h"
#include "inputs.h"
#include "kept.h"
#include "mark.h"
#include "new_file.h"
#include "options.h"
#include "output_option.h"
#include "outputs_option.h"
#include "pdf_run.h"
#include "place.h"
#include "read.h"
#include "say_plan.h"
#include "settings.h"
#include "signals.h"
#include "workers.h"

namespace cudascan::scan {
namespace {

const char *suffix_of(Format format) {
  return format == Format::png ? ".png" : ".tif";
}

/// A run: pages go through the workers, and then into a PDF if one was asked for.
class Run {
 public:
  Run(const Options &options, Kept &kept)
      : options_(options), kept_(kept), settings_(settings_of(options)) {
    job_.steps = options.steps;
    job_.format = options.format;
    job_.split = options.split;
    if (options.kind == OutputKind::png || options.kind == OutputKind::stream)
      job_.one_page = one_page_only(options);
    job_.outputs = options.outputs;
    job_.mark = mark_of(VERSION, settings_);
    job_.to_stream = options.kind == OutputKind::stream;
    job_.how_to_read.dpi = options.resolution;
    job_.how_to_read.salvage = options.salvage;
    job_.ocr = options.ocr;
    pdf_ = facts_of(options, VERSION, jobs());
  }
  ~Run() { kept_.end_run(); }
  Run(const Run &) = delete;
  Run &operator=(const Run &) = delete;

  int files();
  int scanner();

 private:
  std::string nothing_in(const Inputs &inputs) const;
  void check_count(const std::vector<Item> &plan) const;
  void say_others(const std::vector<Item> &plan) const;
  /// Before anything is written: throws Error when a GPU that was asked for is not there.
  void choose_backend();
  void start(const Place &place, Progress &progress);
  /// Makes the file of all pages, if one was asked for, and the statistics.
  /// @param full  why the disk takes no more pages, or ""
  /// @return the exit status
  int finish(Place &place, std::vector<std::string> pages, bool bind, std::string full);
  int jobs() const { return jobs_of(options_, gpus_); }
  std::map<int, double> used_gpus() const {
    return gpus_ ? gpus_->busy_seconds() : std::map<int, double>();
  }

  const Options &options_;
  Kept &kept_;
  const std::string settings_;
  Gpus *gpus_ = nullptr;
  Job job_;
  std::vector<std::string> others_;  ///< pages in the work folder made with other settings
  Totals totals_;
  PdfFacts pdf_;
};

void Run::choose_backend() {
  if (options_.dry_run) return;
  gpus_ = kept_.gpus(options_, [this](const std::string &line) { job_.progress->say(line); });
  job_.gpus = gpus_;
}

void Run::start(const Place &place, Progress &progress) {
  job_.folder = place.folder();
  job_.also_folder = place.also_folder();
  job_.progress = &progress;
  prepare_reading(
      options_, gpus_, [&](const std::string &line) { progress.say(line); }, job_.how_to_read);
}

int Run::finish(Place &place, std::vector<std::string> pages, bool bind, std::string full) {
  int status = totals_.failed + totals_.salvaged + totals_.unread > 0 ? kSomeLeftOut : kAllDone;
  std::erase(pages, "");
  std::stable_partition(pages.begin(), pages.end(),
                        [](const std::string &page) { return !is_put_aside(page); });
  bool keeps_pages = false;
  if (place.is_file() && pages.empty()) {
    place.drop_empty();
  } else if (place.is_file() && bind && full.empty()) {
    try {
      place.bind(pages, others_, pdf_);
      if (options_.talk != Talk::quiet)
        std::fprintf(stderr, "%zu page%s in %s\n", pages.size(), pages.size() == 1 ? "" : "s",
                     place.file().c_str());
    } catch (const DiskError &error) {
      full = error.what();
      keeps_pages = true;
    }
  } else if (place.is_file()) {
    keeps_pages = true;
  } else {
    sync_folder(place.folder());
  }
  if (keeps_pages)
    std::fprintf(stderr, "%s keeps the finished pages%s\n", place.folder().c_str(),
                 options_.scan ? "" : "; --resume continues with them");
  if (!full.empty()) {
    std::fprintf(stderr, "cudascan-scan: --output=%s: %s; no more pages can be written\n",
                 options_.output.c_str(), full.c_str());
    status = kDiskFull;
  }
  if (!options_.stats.empty())
    write_stats(options_.stats, totals_,
                {gpus_ ? "cuda" : "cpu", jobs(), VERSION, settings_,
                 options_.steps.blank != Blank::keep, !options_.ocr.empty()},
                *job_.progress);
  if (interrupted()) status = kSignal + received_signal();
  return status;
}

/// Names of the pages that earlier runs have made.
std::vector<std::string> finished_pages(const std::vector<Item> &plan, Split split) {
  std::vector<std::string> pages(kMostPages * plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) add_done(plan[i], i, split, pages);
  return pages;
}

/// When the newest input was written, in nanoseconds; 0 = unknown.
long long newest_of(const std::vector<Item> &plan) {
  long long newest = 0;
  for (const Item &item : plan)
    if (item.document) newest = std::max(newest, item.document->modified_ns());
  return newest;
}

/// Pixels of the largest page that is to be made, as its file says; 0 = unknown.
double largest_of(const std::vector<Item> &plan) {
  double largest = 0;
  for (const Item &item : plan) {
    if (!item.document || item.done || !item.problem.empty()) continue;
    const PageHeader &page = item.document->header().pages[static_cast<std::size_t>(item.page)];
    largest = std::max(largest, 1.0 * page.width * page.height);
  }
  return largest;
}

int say_done(const Place &place) {
  std::fprintf(stderr, "%s already exists\n", place.file().c_str());
  return kAllDone;
}

void Run::say_others(const std::vector<Item> &plan) const {
  const auto again = std::count_if(plan.begin(), plan.end(), [](const Item &item) {
    return !item.done && !item.others.empty();
  });
  if (again > 0 && options_.talk != Talk::quiet)
    std::fprintf(stderr, "%td page%s made with other settings and %s made again\n", again,
                 again == 1 ? " was" : "s were", again == 1 ? "is" : "are");
}

/// @throws UsageError for several pages and an output that holds one
void Run::check_count(const std::vector<Item> &plan) const {
  const bool one = options_.kind == OutputKind::png || options_.kind == OutputKind::stream;
  const auto pages = std::count_if(plan.begin(), plan.end(),
                                   [](const Item &item) { return item.problem.empty(); });
  if (one && pages > 1)
    throw UsageError(std::to_string(pages) + " pages: " + one_page_only(options_));
}

/// Why there is no file to read.
std::string Run::nothing_in(const Inputs &inputs) const {
  std::string text =
      (options_.inputs.empty() ? "--files-from=" + options_.files_from : options_.inputs[0]) +
      ": no images found";
  if (!options_.recursive) text += "; --recursive looks into subfolders, too";
  for (std::size_t i = 0; i < inputs.ignored.size() && i < 10; ++i)
    text += "\nignored: " + inputs.ignored[i].path + ": " + inputs.ignored[i].why;
  return text;
}

int Run::files() {
  std::vector<std::string> named = options_.inputs;
  if (!options_.files_from.empty())
    for (std::string &name : names_in(options_.files_from, options_.null))
      named.push_back(std::move(name));
  const Inputs inputs = list_inputs(named, options_.recursive, options_.output);
  if (inputs.files.empty()) throw Error(nothing_in(inputs));
  std::vector<Item> plan = find_pages(inputs.files);
  check_count(plan);
  choose_backend();
  pdf_.time = time_of(newest_of(plan));
  Place place(options_.output, options_.kind, options_.resume, job_.mark, settings_,
              !options_.outputs.also.empty());
  if (place.finished()) {
    if (!options_.dry_run) place.drop_empty();
    return say_done(place);
  }
  if (!options_.dry_run) place.make();
  if (!place.note().empty()) std::fprintf(stderr, "%s\n", place.note().c_str());
  std::optional<Journal> journal;
  if (!job_.to_stream) journal.emplace(place.folder(), settings_, VERSION, place.also_folder());
  Names names(place.folder(), suffix_of(options_.format), place.file().filename(),
              options_.outputs.suffixes(), place.also_folder());
  name_pages(plan, names, options_.resume ? &*journal : nullptr, options_.split);
  const auto problems = std::count_if(plan.begin(), plan.end(),
                                      [](const Item &item) { return !item.problem.empty(); });
  for (const Item &item : plan)
    others_.insert(others_.end(), item.others.begin(), item.others.end());
  if (place.bound()) {
    std::vector<std::string> rest = finished_pages(plan, options_.split);
    std::erase(rest, "");
    rest.insert(rest.end(), others_.begin(), others_.end());
    if (!options_.dry_run) place.publish(rest);
    return say_done(place);
  }
  if (options_.dry_run) {
    say_plan(plan, inputs, place, options_.outputs.suffixes());
    return problems > 0 ? kSomeLeftOut : kAllDone;
  }
  const auto done =
      std::count_if(plan.begin(), plan.end(), [](const Item &item) { return item.done; });
  Progress progress(options_.talk, static_cast<int>(plan.size()) - static_cast<int>(done),
                    !options_.stats.empty(), kept_.cpu_seconds_before());
  start(place, progress);
  job_.journal = journal ? &*journal : nullptr;
  job_.names = &names;
  say_others(plan);
  for (const Item &item : plan) progress.skipped(item.pages_done());
  progress.ignored(inputs.ignored);
  Tasks tasks(std::size_t{2} * jobs());
  Workers workers(job_, std::min(jobs(), static_cast<int>(plan.size())), tasks,
                  kept_.crew(options_.outputs, largest_of(plan)));
  std::vector<std::string> pages = finished_pages(plan, options_.split);
  for (std::size_t i = 0; i < plan.size() && !interrupted(); ++i) {
    if (plan[i].done) continue;
    if (!plan[i].problem.empty()) {
      progress.failed({plan[i].input, "", plan[i].problem});
    } else if (!tasks.put({i, plan[i], nullptr})) {
      break;
    }
  }
  tasks.close();
  const std::vector<std::string> written = workers.finish();
  for (std::size_t place = 0; place < written.size(); ++place)
    if (!written[place].empty()) pages[place] = written[place];
  // The halves of open books have the names of their files.
  if (options_.split == Split::no)
    for (std::size_t place = 0; place < pages.size(); ++place)
      pdf_.labels[pages[place]] = stem_of(plan[place / kMostPages]);
  totals_ = progress.finish(used_gpus(), interrupted());
  const bool stopped = workers.stopped() && !interrupted();
  const int status =
      finish(place, std::move(pages), !interrupted() && !stopped, workers.disk_problem());
  return stopped ? static_cast<int>(kNothingDone) : status;
}

/// Names a scanned page scan-0001 and so on, after the highest existing number.
void name_scan(Item &item, Names &names, int &number, Split split) {
  char stem[32];
  const auto is_free = [&](Part part) {
    return names.is_free(part == Part::whole ? stem : std::string(stem) + "-" + name_of(part));
  };
  do {
    std::snprintf(stem, sizeof stem, "scan-%04d", ++number);
  } while (!is_free(Part::whole) || !is_free(Part::left) || !is_free(Part::right));
  item.output = names.take(stem);
  if (split != Split::no) name_halves(item, stem, names);
}

int Run::scanner() {
  choose_backend();
  Place place(options_.output, options_.kind, false, job_.mark, settings_,
              !options_.outputs.also.empty());
  pdf_.time = time_of(0);
  Sane sane;
  Scanner scanner(sane, options_.scanner, go_on_scanning);
  if (options_.talk != Talk::quiet)
    for (const std::string &note : scanner.notes()) std::fprintf(stderr, "%s\n", note.c_str());
  if (!options_.dry_run) place.make();
  Names names(place.folder(), suffix_of(options_.format), place.file().filename(),
              options_.outputs.suffixes(), place.also_folder());
  int number = 0;
  if (options_.dry_run) {
    Item item;
    name_scan(item, names, number, options_.split);
    std::cout << scanner.device() << " at " << scanner.resolution().x << " dpi -> "
              << outputs_of(item, place) << " and so on\n";
    return kAllDone;
  }
  Progress progress(options_.talk, 0, !options_.stats.empty(), kept_.cpu_seconds_before());
  start(place, progress);
  job_.names = &names;
  Tasks tasks(std::size_t{2} * jobs());
  Workers workers(job_, jobs(), tasks, kept_.crew(options_.outputs, 0));
  std::string problem;
  try {
    for (std::size_t i = 0; !interrupted(); ++i) {
      auto page = std::make_unique<Image>(gpus_ != nullptr);
      page->colour = colours_for(options_.outputs, gpus_ != nullptr);
      if (!scanner.next(*page)) break;
      Item item;
      item.input = scanner.device() + " page " + std::to_string(i + 1);
      name_scan(item, names, number, options_.split);
      if (!tasks.put({i, item, std::move(page)})) break;
    }
  } catch (const Error &error) {
    problem = error.what();
  }
  tasks.close();
  std::vector<std::string> written = workers.finish();
  if (!problem.empty()) progress.say(problem);
  totals_ = progress.finish(used_gpus(), interrupted());
  const int status = finish(place, std::move(written), true, workers.disk_problem());
  if (!workers.disk_problem().empty()) return status;
  if (problem.empty() || interrupted()) return status;
  return totals_.pages > 0 ? kSomeLeftOut : kNothingDone;
}

/// @param details  whether to open each and say what it offers
int list_devices(bool details) {
  Sane sane;
  const auto devices = sane.devices();
  for (const auto &[name, description] : devices) {
    std::cout << name << "  " << description << '\n';
    if (!details) continue;
    try {
      for (const std::string &line : sane.describe(name)) std::cout << "  " << line << '\n';
    } catch (const Error &error) {
      std::cout << "  " << error.what() << '\n';
    }
  }
  if (devices.empty()) std::cerr << "no scanner was found\n";
  return devices.empty() ? kNothingDone : kAllDone;
}

int make_run(const std::vector<std::string> &words, Kept &kept, bool is_served) {
  const Options options = parse_options(words, is_served);
  if (options.version) {
    std::cout << "cudascan-scan " VERSION "\n";
    return kAllDone;
  }
  watch_signals();
  kept.start_decoding(words[0]);
  check_writers(options.outputs);
  if (options.list_devices) return list_devices(options.talk == Talk::verbose);
  Run run(options, kept);
  return options.scan ? run.scanner() : run.files();
}

}  // namespace

int run(const std::vector<std::string> &words, Kept &kept, bool is_served) {
  try {
    return make_run(words, kept, is_served);
  } catch (const UsageError &error) {
    std::cerr << "cudascan-scan: " << error.what()
              << "\n`cudascan-scan --help` lists the options.\n";
    return kWrongUsage;
  } catch (const DiskError &error) {
    std::cerr << "cudascan-scan: " << error.what() << '\n';
    return kDiskFull;
  } catch (const std::exception &error) {
    std::cerr << "cudascan-scan: " << error.what() << '\n';
    return kNothingDone;
  }
}

}  // namespace cudascan::scan
