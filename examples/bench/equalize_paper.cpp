// SPDX-License-Identifier: LGPL-2.1-or-later
// Dobreanu, Chelaru, "Histogram equalization": its table of five images and its two screenshots.
#include "bench/operator_cases.h"
#include "bench/paper.h"

namespace cudascan::bench {
namespace {

using Algorithm = EqualizeAlgorithm;

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
constexpr char kGpu1[] = "GTX 1650", kCpu1[] = "Core i7-9750H, OpenCV", kGpu2[] = "GTX 1050",
               kCpu2[] = "Ryzen 3 1200, OpenCV";

/// Times on the GPU with copies from and to pageable memory, of one image.
struct Whole {
  TransferTimes ours, naive, optimized;
};

Whole time_whole(const Options &options, Size size) {
  const auto time = [&](Algorithm algorithm) {
    const auto times = time_transfers(options, {size}, equalize_case(size, algorithm).runner);
    return times.empty() ? TransferTimes{} : times.front();
  };
  return {time(Algorithm::automatic), time(Algorithm::naive), time(Algorithm::shared)};
}

/// Lines for one image and configuration: the published times, and the same steps here.
class Lines {
 public:
  Lines(PaperTable &table, std::string name, Size size, std::string hardware)
      : table_(&table), name_(std::move(name)), size_(size), hardware_(std::move(hardware)) {}

  void add(const std::string &step, double published_us, double baseline_us, Row row) const {
    row.name = name_ + ", " + step;
    row.size = size_;
    row.published = hardware_;
    row.published_us = published_us;
    row.baseline_us = baseline_us;
    row.op = "equalize";
    table_->add(row);
  }
  /// A step that is not a case of the benchmark: the whole work on the GPU, including transfers.
  void add(const std::string &step, double published_us, double baseline_us, double us) const {
    Row row;
    row.backend = "cuda";
    row.us = us;
    add(step, published_us, baseline_us, row);
  }

 private:
  PaperTable *table_;
  std::string name_;
  Size size_;
  std::string hardware_;
};

/// Our times, and OpenCV's, which the publication measured.
Row time_cpu(const Backend &cpu, Size size) {
  Case c = equalize_case(size);
  c.peer = OpenCv{"equalize"};
  return cpu.time(c);
}

void print_table(const Options &options, const std::vector<Backend> &backends, Report &report) {
  PaperTable table(report, "paper 001 table 1",
                   "TABLE 1 of Dobreanu and Chelaru: CPU and naive GPU, first configuration");
  int number_of_image = 0;
  for (const Image &image : kImages) {
    const std::string name = "Image " + std::to_string(++number_of_image);
    for (const Backend &backend : backends) {
      if (!backend.cuda) {
        Lines(table, name, image.size, kCpu1)
            .add("CPU total", image.cpu, kUnknown, time_cpu(backend, image.size));
        continue;
      }
      const Lines lines(table, name, image.size, kGpu1);
      const Whole whole = time_whole(options, image.size);
      Row ours = backend.time(equalize_case(image.size));
      set_baseline(ours, backend.time(equalize_case(image.size, Algorithm::naive)));
      lines.add("to the GPU", image.upload, kUnknown, whole.ours.upload);
      lines.add("equalize", image.equalize, ours.baseline_us, ours);
      lines.add("from the GPU", image.download, kUnknown, whole.ours.download);
      lines.add("GPU total", image.total, whole.naive.pageable, whole.ours.pageable);
    }
  }
}

/// The screenshots' runs of image 5 on the second configuration, and the conclusions' CPU.
void print_screenshots(const Options &options, const std::vector<Backend> &backends,
                       Report &report) {
  const Size size = kImages[4].size;
  PaperTable table(
      report, "paper 001 screenshots",
      "SCREENSHOTS of Dobreanu and Chelaru: naive and optimized, second configuration");
  for (const Backend &backend : backends) {
    if (!backend.cuda) {
      Lines(table, "Image 5", size, kCpu2)
          .add("CPU total", 22e3, kUnknown, time_cpu(backend, size));
      continue;
    }
    const Whole whole = time_whole(options, size);
    Row beside_naive = backend.time(equalize_case(size)), beside_optimized = beside_naive;
    set_baseline(beside_naive, backend.time(equalize_case(size, Algorithm::naive)));
    set_baseline(beside_optimized, backend.time(equalize_case(size, Algorithm::shared)));
    const Lines naive(table, "Naive", size, kGpu2), optimized(table, "Optimized", size, kGpu2);
    naive.add("to the GPU", 2226, kUnknown, whole.ours.upload);
    naive.add("equalize", 103701, beside_naive.baseline_us, beside_naive);
    naive.add("from the GPU", 2376, kUnknown, whole.ours.download);
    naive.add("total", 108304, whole.naive.pageable, whole.ours.pageable);
    optimized.add("to the GPU", 2255, kUnknown, whole.ours.upload);
    optimized.add("equalize", 10279, beside_optimized.baseline_us, beside_optimized);
    optimized.add("from the GPU", 2317, kUnknown, whole.ours.download);
    optimized.add("total", 14853, whole.optimized.pageable, whole.ours.pageable);
  }
}

}  // namespace

/// Table of Dobreanu and Chelaru, "Histogram equalization".
void equalize_paper(const Options &options, bool with_cuda, Report &report) {
  const bool of_table = options.wants("paper 001 table 1"),
             of_screenshots = options.wants("paper 001 screenshots");
  if (!of_table && !of_screenshots) return;
  const auto backends = table_backends(options, with_cuda);
  if (of_table) print_table(options, backends, report);
  if (of_screenshots) print_screenshots(options, backends, report);
}

}  // namespace cudascan::bench
