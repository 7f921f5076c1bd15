// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Threads that make pages, one run after another. Each keeps its cleaner and its memory for the
/// next page and the next run.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "image.h"
#include "outputs.h"
#include "page_outputs.h"
#include "spread.h"
#include "steps.h"

namespace cudascan::scan {

/// Memory that is kept for the next page.
struct Buffers {
  Buffers(const Outputs &kinds, bool pinned)
      : page(pinned), clean(pinned), spread(pinned), outputs(kinds, pinned) {
    page.colour = colours_for(kinds, pinned);
  }
  Image page, clean, cropped;
  Spread spread;
  PageOutputs outputs;
};

/// What a thread of a crew works with.
class Bench {
 public:
  Bench(Gpus *gpus, const Outputs &kinds) : gpus_(gpus), kinds_(kinds) {}

  /// Makes what is not there.
  /// @throws NoGpu, Error, std::bad_alloc
  void open();
  /// Frees everything, after an error.
  void clear();
  Cleaner &cleaner() { return *cleaner_; }
  Buffers &buffers() { return *buffers_; }
  /// Says that a page of so many pixels was made.
  void note(double pixels) { largest_ = std::max(largest_, pixels); }
  /// Pixels of the largest page until now.
  double largest() const { return largest_; }

 private:
  Gpus *const gpus_;
  const Outputs kinds_;
  std::unique_ptr<Cleaner> cleaner_;
  std::optional<Buffers> buffers_;
  double largest_ = 0;
};

class Crew {
 public:
  using Work = std::function<void(Bench &)>;

  /// @param gpus  nullptr = the CPU; live longer
  Crew(Gpus *gpus, const Outputs &kinds) : gpus_(gpus), kinds_(kinds) {}
  ~Crew();
  Crew(const Crew &) = delete;
  Crew &operator=(const Crew &) = delete;

  /// Calls work in `count` threads, and does not wait for it. There is no work before.
  /// @param work  throws nothing
  /// @throws std::system_error when a thread cannot be started; then nothing is called
  void begin(int count, Work work);
  /// Waits until all work is done.
  void wait();
  /// Pixels of the largest page until now. There is no work.
  double largest() const;

 private:
  struct Member {
    Member(Gpus *gpus, const Outputs &kinds) : bench(gpus, kinds) {}
    Bench bench;  ///< made here, but used and cleared by the thread
    bool has_work = false;
    std::thread thread;
  };
  void stay(Member &member);

  Gpus *const gpus_;
  const Outputs kinds_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Work work_;
  int at_work_ = 0;
  bool ends_ = false;
  std::deque<Member> members_;
};

}  // namespace cudascan::scan
