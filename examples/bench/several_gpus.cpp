// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/several_gpus.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>

#include "kernels/devices.h"

namespace cudascan::bench {
namespace {

/// Different frames of a stream and their results, in pinned memory.
class Frames {
 public:
  static constexpr int kFrames = 64, kQuickFrames = 8;

  Frames(const Options &options, Size size) : options_(options), size_(size) {
    const int n = options.quick ? kQuickFrames : kFrames;
    const auto content = make_content(options.content, size, size.width);
    const std::size_t bytes = content.size();
    memory_.reserve(2 * n * bytes);
    auto *at = static_cast<std::uint8_t *>(memory_.data());
    for (int i = 0; i < n; ++i, at += 2 * bytes) {
      // Frame i begins with another row, so that no two results are the same.
      const std::size_t first = static_cast<std::size_t>(i % size.height) * size.width;
      std::memcpy(at, content.data() + first, bytes - first);
      std::memcpy(at + bytes - first, content.data(), first);
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
  double time(Devices &devices, const Runner &runner) const {
    return time(devices, [&](Devices::Worker &worker, std::size_t i) {
      const Plane<const std::uint8_t> from = worker.upload(0, in_[i]);
      const Plane<std::uint8_t> to = worker.plane(1, out_[i]);
      runner.cuda(worker.cuda(), any(from), any(to));
      worker.download(to, out_[i]);
    });
  }
  /// The same with the copies alone.
  double time_copies(Devices &devices) const {
    return time(devices, [&](Devices::Worker &worker, std::size_t i) {
      worker.download(worker.upload(0, in_[i]), out_[i]);
    });
  }
  /// A number that tells all results from others.
  std::uint64_t results() const {
    std::uint64_t sum = 0;
    const std::size_t bytes = static_cast<std::size_t>(size_.width) * size_.height;
    const std::size_t n = memory_.size() / (2 * bytes);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t at = 0; at < bytes; at += sizeof sum) {
        std::uint64_t word = 0;
        std::memcpy(&word, out_[i].data + at, std::min(sizeof word, bytes - at));
        sum = (sum ^ word) * 0x100000001b3 + (sum >> 47);
      }
    return sum;
  }
  Size size() const { return size_; }

 private:
  template <typename T>
  AnyPlane any(const Plane<T> &plane) const {
    return {const_cast<std::uint8_t *>(plane.data), plane.width, plane.height, size_.depth,
            plane.stride};
  }
  double time(Devices &devices,
              const std::function<void(Devices::Worker &, std::size_t)> &frame) const {
    const auto all = [&] { devices.for_each(in_.size(), frame); };
    all();  // allocates device memory and loads kernels
    return time_host(all, options_.quick ? 20e3 : 250e3, options_.repeat) /
           static_cast<double>(in_.size());
  }

  const Options &options_;
  Size size_;
  cuda::PinnedBuffer memory_;
  std::vector<Plane<const std::uint8_t>> in_;
  std::vector<Plane<std::uint8_t>> out_;
};

std::string per_second(double us) {
  return number(1e6 / us, 0);
}

void print(const Row &row, double our_speedup) {
  std::printf("%-16s %-17s %4.0f", row.series.c_str(), row.size.name().c_str(), row.value);
  if (row.error.empty())
    std::printf(" %12s %9s %9s %12s %9s %9s %9s\n", time_text(row.baseline_us).c_str(),
                per_second(row.baseline_us).c_str(), number(row.speedup, 2, "x").c_str(),
                time_text(row.us).c_str(), per_second(row.us).c_str(),
                number(our_speedup, 2, "x").c_str(), time_text(row.copy_us).c_str());
  else
    std::printf(" FAILED: %s\n", row.error.c_str());
  std::fflush(stdout);
}

/// What one GPU has made and how long that took.
struct OneGpu {
  double baseline_us = kUnknown, us = kUnknown;
  std::uint64_t baseline_results = 0, results = 0;
};

/// The rows of one size on one list of devices. `one`: of each work, for the other lists.
void measure(const std::vector<int> &list, const std::vector<SharedWork> &works, Frames &frames,
             std::vector<OneGpu> &one, Row like, Report &report) {
  like.parameter = "GPUs";
  like.value = static_cast<double>(list.size());
  like.size = frames.size();
  std::unique_ptr<Devices> devices;
  try {
    devices = std::make_unique<Devices>(list);
    like.copy_us = frames.time_copies(*devices);
  } catch (const std::exception &error) {
    like.error = error.what();
  }
  for (std::size_t i = 0; i < works.size(); ++i) {
    Row row = like;
    row.op = works[i].op;
    row.series = works[i].series;
    row.name =
        row.series + ", " + std::to_string(list.size()) + (list.size() == 1 ? " GPU" : " GPUs");
    if (row.error.empty()) try {
        OneGpu now;
        now.baseline_us = row.baseline_us = frames.time(*devices, works[i].published);
        now.baseline_results = frames.results();
        now.us = row.us = frames.time(*devices, works[i].ours);
        now.results = frames.results();
        if (list.size() == 1) one[i] = now;
        if (now.baseline_results != one[i].baseline_results || now.results != one[i].results)
          row.error = "the results differ from those of one GPU";
      } catch (const std::exception &error) {
        row.error = error.what();
      }
    row.speedup = one[i].baseline_us / row.baseline_us;
    print(row, one[i].us / row.us);
    report.record(row);
  }
}

}  // namespace

std::vector<std::vector<int>> device_lists() {
  const std::vector<int> all = Devices::all();
  std::vector<std::vector<int>> lists;
  for (std::size_t n = 1; n < all.size(); n *= 2)
    lists.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
  if (!all.empty()) lists.push_back(all);
  return lists;
}

void several_gpus_table(const Options &options, Report &report, const std::string &table,
                        const std::string &title, const std::vector<Size> &sizes,
                        const std::vector<SharedWork> &works) {
  std::printf(
      "\n%s: %d frames in pinned memory are shared out, copies included [%s]\n"
      "%-16s %-17s %4s %12s %9s %9s %12s %9s %9s %9s\n",
      title.c_str(), options.quick ? Frames::kQuickFrames : Frames::kFrames, table.c_str(), "", "",
      "GPUs", "published us", "frames/s", "speed-up", "ours us", "frames/s", "speed-up",
      "copies us");
  Row like;
  like.table = like.section = table;
  like.backend = "cuda";
  for (const Size size : options.quick ? std::vector<Size>{{128, 96, 8}} : sizes) {
    try {
      Frames frames(options, size);
      std::vector<OneGpu> one(works.size());
      for (const std::vector<int> &list : device_lists())
        measure(list, works, frames, one, like, report);
    } catch (const std::exception &error) {
      std::printf("(%s: %s)\n", size.name().c_str(), error.what());
    }
  }
}

}  // namespace cudascan::bench
