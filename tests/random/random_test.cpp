// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs random cases in one thread and in several, on the CPU and, if there is one, on the GPU.
//
//     random_kernels_test [--seconds=S] [--cases=N] [--threads=N] [--seed=N] [--work=N]
//                         [--case=N] [--verbose]
//
// --case repeats the case that a failure names, --verbose names each case before it runs, --work
// limits the samples that a case reads.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>

#include "tests/random/cases.h"
#include "tests/run_all.h"

namespace cudascan::test {
namespace {

struct Options {
  double seconds = 10;
  std::uint64_t cases = ~std::uint64_t{0};
  int threads = 8;
  std::uint64_t seed = 1;
  double work = 2e7;  ///< limit of samples for a case
  std::optional<std::uint64_t> only;
  bool verbose = false;
};
Options options;

/// Draws cases until the time is over.
class Draw {
 public:
  explicit Draw(bool cuda) : cuda_(cuda) {}

  void operator()(int threads) {
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back([this] { work(); });
    work();
    for (std::thread &other : others) other.join();
    std::printf("%llu cases from seed %llu in %d threads\n",
                static_cast<unsigned long long>(done_.load()),
                static_cast<unsigned long long>(options.seed), threads);
  }

 private:
  static constexpr int kMostFailures = 20;

  void work() {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds);
    auto bench = std::make_unique<Bench>(cuda_);
    while (failures_ < kMostFailures && std::chrono::steady_clock::now() < end) {
      const std::uint64_t n = next_++;
      if (n >= (options.only ? 1 : options.cases)) break;
      const std::uint64_t number = options.only.value_or((options.seed << 40) + n);
      if (options.verbose)
        std::fprintf(stderr, "--case=%llu\n", static_cast<unsigned long long>(number));
      std::string what;
      try {
        what = bench->run(number, options.work);
      } catch (const std::exception &e) {
        what = e.what();
        try {  // an unfinished case must not affect the next one
          bench = std::make_unique<Bench>(cuda_);
        } catch (const std::exception &again) {
          return fail(number, what + "; then " + again.what());
        }
      }
      ++done_;
      if (!what.empty()) fail(number, what);
    }
  }
  void fail(std::uint64_t number, const std::string &what) {
    const std::lock_guard lock(mutex_);
    if (++failures_ <= kMostFailures) ADD_FAILURE() << "--case=" << number << ": " << what;
  }

  const bool cuda_;
  std::atomic<std::uint64_t> next_{0}, done_{0};
  std::atomic<int> failures_{0};
  std::mutex mutex_;
};

TEST(Random, ThreadsAndAlgorithmsAgree) {
  Draw draw(false);
  draw(1);
}
TEST(Random, ThreadsOfOneProcessDoNotDisturbEachOther) {
  Draw draw(false);
  draw(std::min(options.threads, 4));
}

class RandomCuda : public testing::Test {
 protected:
  void SetUp() override {
    if (!Cuda::available()) {
      if (std::getenv("REQUIRE_GPU")) FAIL() << "no CUDA device";
      GTEST_SKIP() << "no CUDA device";
    }
  }
};

TEST_F(RandomCuda, EqualsCpu) {
  Draw draw(true);
  draw(1);
}
TEST_F(RandomCuda, EqualsCpuInManyThreads) {
  Draw draw(true);
  draw(options.threads);
}

/// @return false if the argument is not one of the options
bool read_option(const std::string &argument) {
  const auto value_of = [&](const char *name) -> const char * {
    const std::string prefix = std::string("--") + name + "=";
    return argument.rfind(prefix, 0) == 0 ? argument.c_str() + prefix.size() : nullptr;
  };
  if (const char *value = value_of("seconds"))
    options.seconds = std::atof(value);
  else if (const char *value = value_of("cases"))
    options.cases = std::strtoull(value, nullptr, 10);
  else if (const char *value = value_of("threads"))
    options.threads = std::max(std::atoi(value), 1);
  else if (const char *value = value_of("seed"))
    options.seed = std::strtoull(value, nullptr, 10);
  else if (const char *value = value_of("work"))
    options.work = std::atof(value);
  else if (const char *value = value_of("case"))
    options.only = std::strtoull(value, nullptr, 10);
  else if (argument == "--verbose")
    options.verbose = true;
  else
    return false;
  return true;
}

}  // namespace
}  // namespace cudascan::test

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i)
    if (!cudascan::test::read_option(argv[i])) {
      std::fprintf(stderr,
                   "%s: unknown option; known are --seconds=, --cases=, --threads=, --seed=, "
                   "--work=, --case= and --verbose\n",
                   argv[i]);
      return 2;
    }
  return cudascan::test::run_all();
}
