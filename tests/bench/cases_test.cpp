// SPDX-License-Identifier: LGPL-2.1-or-later
// Each row of the benchmark, on small images: the settings that are timed give the same picture in
// one thread and in several, and on the GPU.
#include "bench/cases.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "kernels/cuda_resources.h"
#include "tests/kernels/operator_test.h"

namespace cudascan::bench {
namespace {

/// Narrower and wider than blocks, with rows at multiples of a vector.
constexpr Size kSmall[] = {{131, 97, 8}, {640, 37, 8}};
constexpr int kAlign = 256;
/// Room for the counts of 16-bit samples: histograms write counts into the output.
constexpr std::size_t kLeastOutput = 1 << 18;

/// The cases of both backends, each setting and depth once.
std::vector<Case> all_cases() {
  const Options options;
  std::vector<Case> all, cpu = cpu_cases(options);
  std::set<std::string> known;
  for (const std::vector<Case> &cases : {cuda_cases(options), cpu})
    for (const Case &c : cases)
      if (known.insert(c.op + " " + c.variant + " " + std::to_string(c.size.depth)).second)
        all.push_back(c);
  return all;
}

struct Job {
  Size size;
  std::ptrdiff_t stride;
  std::vector<std::uint8_t> in, out;

  Job(const Case &c, Size small, std::uint8_t fill)
      : size{small.width, small.height, c.size.depth},
        stride(stride_of(size, kAlign)),
        in(make_content(c.content.value_or(Content::page), size, stride)),
        out(std::max(in.size(), kLeastOutput), fill) {}

  AnyPlane plane(void *data) const { return {data, size.width, size.height, size.depth, stride}; }

  /// The samples of the result without the padding of rows; for a histogram, its counts; nothing
  /// for a report.
  std::vector<std::uint8_t> result(const Case &c) const {
    if (c.report_only) return {};
    if (c.reads_only) return {out.begin(), out.begin() + (std::size_t{4} << size.depth)};
    std::vector<std::uint8_t> samples;
    for (int y = 0; y < size.height; ++y)
      samples.insert(samples.end(), out.begin() + y * stride,
                     out.begin() + y * stride + size.width * size.sample_bytes());
    return samples;
  }
};

/// The result of a row on the CPU.
std::vector<std::uint8_t> on_cpu(const Case &c, Size size, int threads) {
  Job job(c, size, static_cast<std::uint8_t>(threads));
  Cpu cpu(threads);
  c.runner.cpu(cpu, job.plane(job.in.data()), job.plane(job.out.data()));
  return job.result(c);
}

using Give = std::function<std::vector<std::uint8_t>(const Case &, Size)>;

/// The result of each row must be the result of one thread.
void expect_result_of_one_thread(const std::vector<Case> &cases, const Give &give) {
  EXPECT_GT(cases.size(), 100u);
  for (const Case &c : cases)
    for (const Size size : kSmall) {
      SCOPED_TRACE(c.op + " " + c.variant + ", " + std::to_string(c.size.depth) + " bit, " +
                   std::to_string(size.width) + "x" + std::to_string(size.height));
      EXPECT_TRUE(test::same(on_cpu(c, size, 1), give(c, size), 1));
    }
}

TEST(BenchCases, GiveTheSameInSeveralThreads) {
  expect_result_of_one_thread(all_cases(),
                              [](const Case &c, Size size) { return on_cpu(c, size, 3); });
}

TEST(BenchCases, HaveEveryOperator) {
  std::set<std::string> ops;
  for (const Case &c : all_cases()) ops.insert(c.op);
#define EXPECT_CASES(op, Name) EXPECT_TRUE(ops.contains(#op)) << #op;
  CUDASCAN_ALL_OPERATORS(EXPECT_CASES)
}

#ifdef HAVE_CUDA
TEST(BenchCases, CudaEqualsCpu) {
  NEED_GPU();
  cuda::Stream stream;
  Cuda cuda(stream.get());
  // NVRTC takes up to half a minute for each row of users' code. SwoFilterCustomCuda tests that.
  std::vector<Case> cases = all_cases();
  std::erase_if(cases, [](const Case &c) { return c.variant.starts_with("custom"); });
  expect_result_of_one_thread(cases, [&](const Case &c, Size size) {
    Job job(c, size, 0xc3);
    cuda::DeviceBuffer in(job.in.size()), out(job.out.size());
    const auto copy = [&](void *to, const void *from, std::size_t bytes) {
      cuda::copy_rows(to, bytes, from, bytes, bytes, 1, stream.get());
    };
    copy(in.data(), job.in.data(), job.in.size());
    copy(out.data(), job.out.data(), job.out.size());
    c.runner.cuda(cuda, job.plane(in.data()), job.plane(out.data()));
    copy(job.out.data(), out.data(), job.out.size());
    cuda.synchronize();
    return job.result(c);
  });
}
#endif

}  // namespace
}  // namespace cudascan::bench
