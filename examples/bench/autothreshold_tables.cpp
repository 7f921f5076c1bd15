// SPDX-License-Identifier: LGPL-2.1-or-later
// The future work of Prahara et al., 2021: several GPUs share the frames of a stream.
#include <cstdio>
#include <cstring>
#include <functional>

#include "bench/operator_cases.h"
#include "kernels/devices.h"

namespace cudascan::bench {
namespace {

using Method = AutothresholdMethod;
using Algorithm = AutothresholdAlgorithm;

constexpr const char *kTable = "paper 003 several GPUs";

struct Part {
  const char *name;
  Method method;
};
constexpr Part kParts[] = {
    {"Otsu", Method::otsu}, {"ISODATA", Method::isodata}, {"MCET", Method::mcet}};

/// A stream of frames and their results, in pinned memory for 64 of each.
class Frames {
 public:
  static constexpr int kFrames = 64;

  Frames(const Options &options, Size size) : size_(size) {
    const auto content = make_content(options.content, size, size.width);
    const std::size_t bytes = content.size();
    memory_.reserve(2 * kFrames * bytes);
    auto *at = static_cast<std::uint8_t *>(memory_.data());
    for (int i = 0; i < kFrames; ++i, at += 2 * bytes) {
      std::memcpy(at, content.data(), bytes);
      std::memset(at + bytes, 0x5a, bytes);
      in_.push_back({at, size.width, size.height, size.width});
      out_.push_back({at + bytes, size.width, size.height, size.width});
    }
    // A short stream would measure how threads start.
    const double pixels = options.quick ? 0 : 4096. * 4096 * kFrames;
    for (std::size_t i = 0; size.pixels() * static_cast<double>(in_.size()) < pixels; ++i) {
      in_.push_back(Plane(in_[i]));
      out_.push_back(Plane(out_[i]));
    }
  }

  /// Microseconds for each frame, copies included.
  double time(const Options &options, Devices &devices, Method method, Algorithm algorithm) {
    AutothresholdParams params;
    params.method = method;
    params.algorithm = algorithm;
    return time(options, [&] { run(devices, in_, out_, params); });
  }
  /// The same with the copies alone.
  double time_copies(const Options &options, Devices &devices) {
    return time(options, [&] {
      devices.for_each(in_.size(), [&](Devices::Worker &worker, std::size_t i) {
        worker.download(worker.upload(0, in_[i]), out_[i]);
      });
    });
  }
  Size size() const { return size_; }

 private:
  double time(const Options &options, const std::function<void()> &all) const {
    all();  // allocates device memory and loads kernels
    const double us = time_host(all, options.quick ? 50e3 : 500e3, options.repeat);
    return us / static_cast<double>(in_.size());
  }

  Size size_;
  cuda::PinnedBuffer memory_;
  std::vector<Plane<const std::uint8_t>> in_;
  std::vector<Plane<std::uint8_t>> out_;
};

/// 1, 2, 4, 8 and so on, then all.
std::vector<std::vector<int>> device_lists() {
  const std::vector<int> all = Devices::all();
  std::vector<std::vector<int>> lists;
  for (std::size_t n = 1; n < all.size(); n *= 2) lists.emplace_back(all.begin(), all.begin() + n);
  lists.push_back(all);
  return lists;
}

std::string per_second(double us) {
  return number(1e6 / us, 0);
}

void print(const Row &row, double our_speedup) {
  std::printf("%-16s %-17s %4.0f", row.series.c_str(), row.size.name().c_str(), row.value);
  if (!row.error.empty()) {
    std::printf(" FAILED: %s\n", row.error.c_str());
    return;
  }
  std::printf(" %12s %9s %9s %12s %9s %9s %9s\n", time_text(row.baseline_us).c_str(),
              per_second(row.baseline_us).c_str(), number(row.speedup, 2, "x").c_str(),
              time_text(row.us).c_str(), per_second(row.us).c_str(),
              number(our_speedup, 2, "x").c_str(), time_text(row.copy_us).c_str());
  std::fflush(stdout);
}

/// The rows of one method and size: one for each number of devices.
void measure(const Options &options, const Part &part, Frames &frames, Report &report) {
  double one_baseline_us = kUnknown, one_us = kUnknown;
  for (const std::vector<int> &list : device_lists()) {
    Row row;
    row.table = row.section = kTable;
    row.backend = "cuda";
    row.op = "autothreshold";
    row.series = part.name;
    row.size = frames.size();
    row.parameter = "GPUs";
    row.value = static_cast<double>(list.size());
    row.name = std::string(part.name) + ", " + std::to_string(list.size()) +
               (list.size() == 1 ? " GPU" : " GPUs");
    try {
      Devices devices(list);
      row.baseline_us = frames.time(options, devices, part.method, Algorithm::prahara);
      row.us = frames.time(options, devices, part.method, Algorithm::automatic);
      row.copy_us = frames.time_copies(options, devices);
    } catch (const std::exception &error) {
      row.error = error.what();
    }
    if (list.size() == 1) {
      one_baseline_us = row.baseline_us;
      one_us = row.us;
    }
    row.speedup = one_baseline_us / row.baseline_us;
    print(row, one_us / row.us);
    report.record(row);
  }
}

}  // namespace

void autothreshold_tables(const Options &options, bool with_cuda, Report &report) {
  if (!with_cuda || !options.wants(kTable)) return;
  std::printf(
      "\nSEVERAL GPUS, future work of Prahara et al.: %d frames in pinned memory are shared out, "
      "copies included [%s]\n%-16s %-17s %4s %12s %9s %9s %12s %9s %9s %9s\n",
      Frames::kFrames, kTable, "", "", "GPUs", "published us", "frames/s", "speed-up", "ours us",
      "frames/s", "speed-up", "copies us");
  for (const int side : {1024, 4096}) {
    if (options.quick && side != 1024) continue;
    try {
      Frames frames(options, {side, side, 8});
      for (const Part &part : kParts) measure(options, part, frames, report);
    } catch (const std::exception &error) {
      std::printf("(%dx%d: %s)\n", side, side, error.what());
    }
  }
}

}  // namespace cudascan::bench
