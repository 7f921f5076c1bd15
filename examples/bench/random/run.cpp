// SPDX-License-Identifier: LGPL-2.1-or-later
// Times random settings until the time is over.
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "bench/random/draws.h"
#include "bench/random/summary.h"

namespace cudascan::bench {
namespace {

constexpr double kSlowUs = 20e3;
constexpr int kMostFailures = 20;
constexpr int kMostSkipped = 1000000;  // draws without a case for the filter

class RandomRun {
 public:
  RandomRun(const Options &options, bool cuda, Report &report)
      : options_(options), cuda_(cuda), report_(report) {
    options_.run_once = true;
  }

  void run() {
    const Size size = cuda_ ? Size{3840, 2160} : Size{1920, 1080};
    if (options_.only_case > 0) {
      measure(draw_case(options_.seed, options_.only_case, size));
      return;
    }
    std::printf("\nRandom settings on the %s, %dx%d, %s content, seed %d\n", cuda_ ? "GPU" : "CPU",
                size.width, size.height, name(options_.content), options_.seed);
    const double end = now_us() + options_.random_s * 1e6;
    int skipped = 0, failures = 0;
    for (int n = 1; now_us() < end && failures < kMostFailures && skipped < kMostSkipped; ++n) {
      const DrawnCase drawn = draw_case(options_.seed, n, size);
      if (options_.wants(drawn.name())) {
        skipped = 0;
        failures += !measure(drawn);
      } else {
        ++skipped;
      }
    }
    summarize();
  }

 private:
  /// @return false if the case failed
  bool measure(const DrawnCase &drawn) {
    const Case &c = drawn.c;
    const Content content = c.content.value_or(options_.content);
    const double begin = now_us();
    Row row = timer(c)(c);
    row.table = "random";
    row.section = "random, " + row.section;
    row.series = drawn.family->title();
    row.goal_us =
        cuda_ ? drawn.directions * drawn.family->budget_us(c.size.depth, content) : kCpuUs;
    row.note += (row.note.empty() ? "" : ", ") + selection() + std::to_string(drawn.number);
    report_.record(row);
    if (!row.error.empty() || options_.only_case > 0)
      std::printf("%s %d bit: %s %s (%s)\n", row.name.c_str(), c.size.depth,
                  row.error.empty() ? time_text(row.us).c_str() : "FAILED:",
                  row.error.empty() ? "us" : row.error.c_str(), row.note.c_str());
    if (!row.error.empty()) return false;
    times_.push_back(
        {drawn.number, drawn.family, c.op, c.variant, c.size.depth, row.us, row.goal_us});
    if (row.us > kSlowUs) {
      ++slow_;
      slow_us_ += now_us() - begin;
    }
    return true;
  }

  /// A timer for each depth and content, as each keeps the pictures of its last case.
  const TimeCase &timer(const Case &c) {
    TimeCase &timer = timers_[{c.size.depth, c.content.has_value()}];
    if (!timer) timer = cuda_ ? cuda_timer(options_) : cpu_timer(options_, 0);
    if (!timer) throw Error("the GPU cannot be used");
    return timer;
  }

  /// The options that select a case, without its number.
  std::string selection() const {
    std::string options = "--seed " + std::to_string(options_.seed);
    if (options_.content != Content::natural)
      options += std::string(" --content ") + name(options_.content);
    return options + " --case ";
  }

  void summarize() const {
    if (times_.empty()) {
      std::printf("no setting was measured\n");
      return;
    }
    print_shares(times_, share_limits_ms(cuda_));
    print_families(times_);
    std::printf(
        "\n%zu settings; %d of them take more than %g ms, %.1f s of the time in all\n"
        "To repeat one: cudascan-bench --%s-only %sN; or paste its element "
        "into a pipeline\n",
        times_.size(), slow_, kSlowUs / 1e3, slow_us_ / 1e6, cuda_ ? "cuda" : "cpu",
        selection().c_str());
  }

  Options options_;
  const bool cuda_;
  Report &report_;
  std::map<std::pair<int, bool>, TimeCase> timers_;
  std::vector<RandomTime> times_;
  int slow_ = 0;
  double slow_us_ = 0;
};

}  // namespace

void random_settings(const Options &options, bool with_cuda, Report &report) {
  if (options.cuda && !with_cuda) std::printf("(no CUDA rows: no CUDA device can be used here)\n");
  if (with_cuda) RandomRun(options, true, report).run();
  if (options.cpu) RandomRun(options, false, report).run();
}

}  // namespace cudascan::bench
