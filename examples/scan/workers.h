// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// There is a worker for each core. Each reads, cleans, compresses and writes whole pages, so the
/// GPU, the disk and the cores work on different pages at the same time. The threads are those of a
/// crew, which stays for the next run.
#pragma once
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "crew.h"
#include "encode.h"
#include "gpus.h"
#include "journal.h"
#include "outputs.h"
#include "plan.h"
#include "progress.h"
#include "steps.h"

namespace cudascan::scan {

/// A page to make, and its pixels if they are not in a file.
struct Task {
  std::size_t index;  ///< in the order of the pages
  Item item;
  std::unique_ptr<Image> scanned;
};

/// The queue of tasks between the reader of inputs and the workers.
class Tasks {
 public:
  explicit Tasks(std::size_t most) : most_(most) {}
  /// Waits while the queue holds `most` tasks. @return false when all workers are gone
  bool put(Task task);
  /// No more tasks will be added.
  void close();
  /// @return false at the end
  bool take(Task &task);
  /// All workers are gone.
  void abandon();
  bool abandoned();

 private:
  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool closed_ = false, abandoned_ = false;
};

struct Job {
  Steps steps;
  Split split = Split::no;
  std::string one_page;  ///< why there can be only one page, or ""
  Format format = Format::tiff;
  Outputs outputs;
  std::string mark;      ///< for files that say how they were made
  Gpus *gpus = nullptr;  ///< that make the pages, nullptr = the CPU
  HowToRead how_to_read;
  std::filesystem::path folder, also_folder;
  Journal *journal = nullptr;  ///< or nullptr
  Names *names = nullptr;
  bool to_stream = false;  ///< pages go to standard output, not into the folder
  std::string ocr;         ///< languages of the text that is put next to pages, or ""
  Progress *progress = nullptr;
};

/// The pages of a run, as a crew makes them.
class Workers {
 public:
  /// @param count  threads of the crew
  /// @param crew   lives longer
  Workers(const Job &job, int count, Tasks &tasks, Crew &crew);
  ~Workers();
  Workers(const Workers &) = delete;
  Workers &operator=(const Workers &) = delete;
  /// Waits until the tasks are closed and done.
  /// @return names of the finished pages, by place_of(); "" for those that failed
  std::vector<std::string> finish();
  /// Whether all have given up because there was no GPU or not enough memory, or one of them in the
  /// middle of a page.
  bool stopped() const { return stopped_ == count_ || unmade_; }
  /// Why the disk takes no more pages, or "".
  const std::string &disk_problem() const { return disk_problem_; }

 private:
  void work(Bench &bench);
  bool wants_only_group4() const;
  void stop();
  const Image &finished(const Image &clean, const Findings &found, Image &cropped) const;
  template <typename Make>
  void attempt(const Task &task, PageRecord &record, Make make);
  void make_pages(Task &task, Bench &bench);
  std::vector<Part> find_parts(const Task &task, Image &image, Spread &spread);
  void make_page(const Task &task, PageRecord &record, Image &source, Cleaner &cleaner,
                 Buffers &buffers);
  void skip(const Task &task, const PageRecord &record);
  std::vector<AlsoFile> also(const Task &task, const Image &bw, Cleaner &cleaner,
                             PageOutputs &outputs, Findings &found) const;
  void write(const Task &task, const std::string &bytes, const std::string &text,
             const std::vector<AlsoFile> &also, PageRecord &record);
  std::string text_of(const Image &source, const Image &page, PageRecord &record) const;

  Job job_;
  Tasks &tasks_;
  Crew &crew_;
  const int count_;
  std::mutex mutex_;
  std::vector<std::string> written_;
  int stopped_ = 0;
  bool unmade_ = false;  ///< no GPU was left for a page
  std::string disk_problem_;
};

}  // namespace cudascan::scan
