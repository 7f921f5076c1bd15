// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A worker for each core takes whole pages: reads, cleans, compresses and writes one. So what the GPU,
/// the disk and the cores do for different pages overlaps.
#pragma once
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "encode.h"
#include "journal.h"
#include "plan.h"
#include "progress.h"
#include "steps.h"

namespace cudascan::scan {

/// Set by a signal: pages in flight are finished, no other is begun.
bool interrupted();

/// A page to make, and its pixels where they are not in a file.
struct Task {
  std::size_t index;  ///< in the order of the pages
  Item item;
  std::unique_ptr<Image> scanned;
};

/// Tasks between who finds and who does them.
class Tasks {
 public:
  explicit Tasks(std::size_t most) : most_(most) {}
  /// Waits while there are `most` waiting. @return false when nobody will take it
  bool put(Task task);
  /// Nothing more comes.
  void close();
  /// @return false at the end
  bool take(Task &task);
  /// Workers have gone.
  void abandon();

 private:
  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool closed_ = false, abandoned_ = false;
};

struct Job {
  Steps steps;
  Format format = Format::tiff;
  bool cuda = false;
  Resolution resolution;  ///< of files that do not say theirs
  std::filesystem::path folder;
  Journal *journal = nullptr;  ///< or nullptr
  Names *names = nullptr;
  Progress *progress = nullptr;
};

class Workers {
 public:
  Workers(const Job &job, int count, Tasks &tasks);
  /// Waits until the tasks are closed and done.
  /// @return names of the pages that are there, by index; "" for those that failed
  std::vector<std::string> finish();
  /// Whether all of them have given up, for want of a GPU or of memory.
  bool stopped() const { return stopped_ == count_; }

 private:
  void work();
  void make_page(Task &task, Cleaner &cleaner, Image &page, Image &clean);
  void write(const Task &task, const std::string &bytes, PageRecord &record);

  Job job_;
  Tasks &tasks_;
  const int count_;
  std::mutex mutex_;
  std::vector<std::string> written_;
  int stopped_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace cudascan::scan
