// SPDX-License-Identifier: LGPL-2.1-or-later
// Dobreanu, Chelaru, "Histogram equalization": its table of five images, its screenshots, and the
// pixels a thread of its optimizations. Their code for the CPU is OpenCV's.
#include <cmath>

#include "bench/operator_cases.h"
#include "bench/paper.h"
#include "kernels/equalize/baseline.cuh"

namespace cudascan::bench {
namespace {

using equalize::BaselineVariant;

/// The table's "config 1", microseconds.
struct Image {
  Size size;
  double cpu, upload, equalize, download, total;
};
constexpr Image kImages[] = {{{512, 384, 8}, 932, 112, 563, 96, 771},
                             {{910, 682, 8}, 7946, 223, 996, 303, 1522},
                             {{1000, 667, 8}, 8985, 216, 1011, 208, 1436},
                             {{1920, 1080, 8}, 5487, 563, 2196, 476, 3236},
                             {{5120, 2880, 8}, 13612, 3299, 11958, 3349, 18607}};
constexpr Size kLargest = kImages[4].size;
constexpr char kGpu1[] = "GTX 1650", kCpu1[] = "Core i7-9750H, OpenCV", kGpu2[] = "GTX 1050",
               kCpu2[] = "Ryzen 3 1200, OpenCV";

/// A screenshot of the second configuration, image 5, microseconds.
struct Screenshot {
  const char *name;
  BaselineVariant variant;
  double upload, histogram, equalize, download, total;
};
constexpr Screenshot kScreenshots[] = {
    {"Naive", equalize::kNaive, 2226, 9296, 103701, 2376, 108304},
    {"Histogram only", equalize::kHistogramOnly, kUnknown, 5000, kUnknown, kUnknown, kUnknown},
    {"Optimized", equalize::kBothOptimizations, 2255, 5083, 10279, 2317, 14853}};

Case with_runner(Case c, const std::function<void(Cuda &, AnyPlane, AnyPlane)> &runner) {
  c.runner.cuda = runner;
  return c;
}

/// The kernels of the publication.
Case published_case(Size size, const BaselineVariant &variant) {
  const auto same_levels =
      variant.float_factor ? EqualizeAlgorithm::shared : EqualizeAlgorithm::naive;
  return with_runner(
      equalize_case(size, same_levels), [variant](Cuda &cuda, AnyPlane in, AnyPlane out) {
        equalize::run_baseline(cuda, in.as<const std::uint8_t>(), out.as<std::uint8_t>(), variant);
      });
}

/// Their histogram alone, which writes counts into the output.
Case published_histogram(Size size, const BaselineVariant &variant) {
  return with_runner(histogram_case(size), [variant](Cuda &cuda, AnyPlane in, AnyPlane out) {
    equalize::count_baseline(cuda, in.as<const std::uint8_t>(),
                             static_cast<std::uint32_t *>(out.data), variant);
  });
}

TransferTimes with_copies(const Options &options, const Case &c) {
  const auto times = time_transfers(options, {c.size}, c.runner);
  return times.empty() ? TransferTimes{} : times.front();
}

/// OpenCV's time as that of the published code, and ours.
Row time_cpu(const Options &options, Size size) {
  Case c = equalize_case(size);
  c.peer = OpenCv{"equalize"};
  Row row = cpu_timer(options)(c);
  row.baseline_us = row.peer_us;
  row.peer_us = kUnknown;
  row.peer.clear();
  return row;
}

/// Lines for one image and configuration: the published times, and the same steps here.
class Lines {
 public:
  /// @param series  common name of the steps, for the plots
  Lines(PaperTable &table, std::string series, Size size, std::string hardware)
      : table_(&table), series_(std::move(series)), size_(size), hardware_(std::move(hardware)) {}

  void add(const std::string &step, double published_us, double baseline_us, Row row) const {
    row.name = series_ + ", " + step;
    row.series = series_;
    row.size = size_;
    if (!std::isnan(published_us)) row.published = hardware_;
    row.published_us = published_us;
    row.baseline_us = baseline_us;
    row.op = "equalize";
    table_->add(row);
  }
  /// A step that is not a case of the benchmark: work on the GPU with copies.
  /// @param published_cpu_us, cpu_us  of the code for the CPU, for the speed-ups
  void add(const std::string &step, double published_us, double baseline_us, double us,
           double published_cpu_us = kUnknown, double cpu_us = kUnknown) const {
    Row row;
    row.backend = "cuda";
    row.us = us;
    row.published_speedup = published_cpu_us / published_us;
    row.speedup = cpu_us / baseline_us;
    add(step, published_us, baseline_us, row);
  }

 private:
  PaperTable *table_;
  std::string series_;
  Size size_;
  std::string hardware_;
};

/// Times on the GPU, or nothing if it is not wanted or there is none.
TimeCase gpu_timer(const Options &options, bool with_cuda) {
  return with_cuda ? cuda_timer(options) : TimeCase();
}

void print_table(const Options &options, const TimeCase &gpu, Report &report) {
  PaperTable table(report, "paper 001 table 1",
                   "TABLE 1 of Dobreanu and Chelaru: CPU and naive GPU, first configuration");
  int number_of_image = 0;
  for (const Image &image : kImages) {
    const std::string name = "Image " + std::to_string(++number_of_image);
    Row cpu;
    if (options.cpu) {
      cpu = time_cpu(options, image.size);
      Lines(table, name, image.size, kCpu1).add("CPU total", image.cpu, cpu.baseline_us, cpu);
    }
    if (!gpu) continue;
    const Lines lines(table, name, image.size, kGpu1);
    const Case naive_case = published_case(image.size, equalize::kNaive);
    const TransferTimes ours = with_copies(options, equalize_case(image.size)),
                        naive = with_copies(options, naive_case);
    Row row = gpu(equalize_case(image.size));
    set_baseline(row, gpu(naive_case));
    lines.add("to the GPU", image.upload, kUnknown, ours.upload);
    lines.add("equalize", image.equalize, row.baseline_us, row);
    lines.add("from the GPU", image.download, kUnknown, ours.download);
    lines.add("GPU total", image.total, naive.pageable, ours.pageable, image.cpu, cpu.baseline_us);
  }
}

/// The screenshots' runs of image 5 on the second configuration, and the conclusions' CPU.
void print_screenshots(const Options &options, const TimeCase &gpu, Report &report) {
  PaperTable table(report, "paper 001 screenshots",
                   "SCREENSHOTS of Dobreanu and Chelaru: image 5, second configuration");
  Row cpu;
  if (options.cpu) {
    cpu = time_cpu(options, kLargest);
    Lines(table, "CPU", kLargest, kCpu2).add("total", 22e3, cpu.baseline_us, cpu);
  }
  if (!gpu) return;
  const Row equalized = gpu(equalize_case(kLargest)), counted = gpu(histogram_case(kLargest));
  const TransferTimes ours = with_copies(options, equalize_case(kLargest));
  for (const Screenshot &shot : kScreenshots) {
    const Lines lines(table, shot.name, kLargest, kGpu2);
    const Case c = published_case(kLargest, shot.variant);
    lines.add("to the GPU", shot.upload, kUnknown, ours.upload);
    lines.add("histogram", shot.histogram, gpu(published_histogram(kLargest, shot.variant)).us,
              counted);
    lines.add("equalize, histogram included", shot.equalize, gpu(c).us, equalized);
    lines.add("from the GPU", shot.download, kUnknown, ours.download);
    lines.add("total", shot.total, with_copies(options, c).pageable, ours.pageable, 22e3,
              cpu.baseline_us);
  }
}

/// Pixels that a thread of the shared histogram counts, or of the float factor maps.
void print_loads(const TimeCase &gpu, Report &report) {
  PaperTable table(report, "paper 001 load factors",
                   "LOAD FACTORS of Dobreanu and Chelaru: image 5, pixels a thread");
  const auto add = [&](const char *series, const Case &ours, const auto &case_of) {
    const Row mine = gpu(ours);
    for (int load = 1; load <= 512; load *= 2) {
      Row row = mine;
      set_baseline(row, gpu(case_of(load)));
      row.series = series;
      row.name = row.series + ", " + std::to_string(load) + " pixels a thread";
      row.parameter = "load";
      row.value = load;
      table.add(row);
    }
  };
  add("histogram", histogram_case(kLargest), [](int load) {
    return published_histogram(
        kLargest, {.shared_histogram = true, .float_factor = true, .histogram_load = load});
  });
  add("equalization by the load of its last kernel", equalize_case(kLargest), [](int load) {
    return published_case(kLargest,
                          {.shared_histogram = true, .float_factor = true, .mapping_load = load});
  });
}

}  // namespace

/// Table, screenshots and load factors of Dobreanu and Chelaru, "Histogram equalization".
void equalize_paper(const Options &options, bool with_cuda, Report &report) {
  const bool of_table = options.wants("paper 001 table 1"),
             of_screenshots = options.wants("paper 001 screenshots"),
             of_loads = options.wants("paper 001 load factors");
  if (!of_table && !of_screenshots && !of_loads) return;
  const TimeCase gpu = gpu_timer(options, with_cuda);
  if (of_table) print_table(options, gpu, report);
  if (of_screenshots) print_screenshots(options, gpu, report);
  if (of_loads && gpu) print_loads(gpu, report);
}

}  // namespace cudascan::bench
