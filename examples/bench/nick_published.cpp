// SPDX-License-Identifier: LGPL-2.1-or-later
// Results of Najafi et al., compared with the same kernels and ours on this machine. Figures 3 to 5
// are plots: only the numbers in the text and Table 3 are used. The serial times on which the
// speed-ups are based are Table 3's times multiplied by Table 4's.
#include "bench/nick_published.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "bench/paper.h"

namespace cudascan::bench {
namespace {

using Algorithm = NickAlgorithm;

constexpr int kImages = 9;
constexpr char kGtx480[] = "GTX 480", kGtx780[] = "GTX 780", kXeon[] = "Xeon E5603";

/// Table 3: Global 9*9, Global 15*15, Shared 9*9, Shared 15*15.
constexpr double kTable3[kImages][4] = {
    {19, 39, 71, 107},    {85, 111, 216, 205},  {88, 117, 269, 223},
    {111, 132, 285, 228}, {127, 141, 297, 235}, {137, 147, 303, 237},
    {139, 148, 305, 239}, {141, 148, 307, 237}, {142, 149, 306, 239}};

/// Table 4: ms of the kernel and of the overhead, and total speed-ups.
struct Transfer {
  double kernel, non_pinned, pinned, speedup_non_pinned, speedup_pinned;
};
constexpr Transfer kTable4[kImages] = {
    {0.034, 0.109, 0.09, 25, 29},    {0.189, 0.540, 0.25, 51, 87},
    {0.570, 1.543, 0.64, 59, 104},   {1.399, 3.155, 1.5, 70, 109},
    {2.733, 5.700, 2.88, 77, 113},   {5.407, 10.419, 5.72, 74, 117},
    {8.071, 15.094, 8.44, 83, 116},  {16.266, 29.830, 16.82, 84, 117},
    {26.888, 48.704, 27.93, 83, 118}};

/// A bar of figures 3 and 5 whose value the text gives: the largest image.
struct Bar {
  Algorithm algorithm;
  int window;
  const char *gpu;
  double speedup;
};
constexpr Bar kFigure3[] = {
    {Algorithm::global, 9, kGtx480, 142},         {Algorithm::global, 15, kGtx480, 149},
    {Algorithm::global, 33, kGtx480, 166},        {Algorithm::global, 33, kGtx780, 171},
    {Algorithm::global_shared, 9, kGtx480, 74},   {Algorithm::global_shared, 15, "", kUnknown},
    {Algorithm::global_shared, 33, "", kUnknown}, {Algorithm::shared, 9, kGtx480, 306},
    {Algorithm::shared, 15, kGtx480, 239},        {Algorithm::shared, 15, kGtx780, 397}};
constexpr Bar kFigure5[] = {{Algorithm::global, 33, kGtx480, 144},
                            {Algorithm::global, 33, kGtx780, 161},
                            {Algorithm::shared, 15, kGtx480, 118},
                            {Algorithm::shared, 15, kGtx780, 147}};

/// Table 5: ms = slope * P + offset.
struct Model {
  Algorithm algorithm;
  int window;
  const char *hardware;
  double slope, offset;
};
constexpr Model kTable5[] = {{Algorithm::global, 33, kGtx480, 0.0000214, 0},
                             {Algorithm::shared, 15, kGtx480, 0.0000054, 0},
                             {Algorithm::global, 33, kGtx780, 0.000019, 0},
                             {Algorithm::shared, 15, kGtx780, 0.0000043, 0}};
constexpr Model kTable5Cpu[] = {{Algorithm::global, 33, kXeon, 0.002967, -23},
                                {Algorithm::global, 15, kXeon, 0.000657, -9}};

std::string square(int window) {
  return std::to_string(window) + "*" + std::to_string(window);
}

const char *kernel_name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::global:
      return "Global";
    case Algorithm::global_shared:
      return "Global-shared";
    case Algorithm::shared:
      return "Shared";
    case Algorithm::automatic:
      return "fast";
  }
  return "?";
}

/// Finds columns and makes rows from their times.
class Publication {
 public:
  Publication(const std::vector<NickColumn> &cpu, const std::vector<NickColumn> &cuda,
              Report &report)
      : cpu_(cpu), cuda_(cuda), report_(report) {}

  void table_3();
  void table_4();
  void table_5();
  void figure_3();
  void figure_4();
  void figure_5();

 private:
  void kernels_of_table_3(PaperTable &table);
  static const NickColumn *find(const std::vector<NickColumn> &columns, Algorithm algorithm,
                                int window) {
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const NickColumn &c) {
      return c.algorithm == algorithm && c.window == window;
    });
    return found == columns.end() ? nullptr : &*found;
  }
  static double kernel_us(const NickColumn *column, int image) {
    return column ? column->us[image] : kUnknown;
  }
  static double whole_us(const NickColumn *column, int image, double TransferTimes::*which) {
    return column && !column->transfers.empty() ? column->transfers[image].*which : kUnknown;
  }
  static NickLine whole_line(const NickColumn *column) {
    std::vector<double> us;
    if (column)
      for (const TransferTimes &times : column->transfers) us.push_back(times.pinned);
    return fit(us);
  }
  /// Time of the serial algorithm; extrapolated if it was left out, and then the note says so.
  double serial_us(int window, int image, std::string &note) const {
    const NickColumn *column = find(cpu_, Algorithm::global, window);
    if (!column) return kUnknown;
    if (!std::isnan(column->us[image])) return column->us[image];
    const NickLine line = fit(column->us);
    note = "serial time extrapolated";
    return (line.slope * kNickImages[image].pixels() + line.offset) * 1e3;
  }
  Row row(Algorithm algorithm, int window, int image) const {
    Row row;
    row.name = std::string("Image ") + std::to_string(image + 1) + ", " + kernel_name(algorithm) +
               " " + square(window);
    row.backend = "cuda";
    row.op = "nick";
    row.parameter = "window";
    row.value = window;
    row.size = kNickImages[image];
    row.us = kernel_us(find(cuda_, Algorithm::automatic, window), image);
    row.baseline_us = kernel_us(find(cuda_, algorithm, window), image);
    row.speedup = serial_us(window, image, row.note) / row.baseline_us;
    return row;
  }
  /// The same with copies from and to memory of the host.
  Row whole_row(Algorithm algorithm, int window, int image, double TransferTimes::*which) const {
    Row whole = row(algorithm, window, image);
    whole.us = whole_us(find(cuda_, Algorithm::automatic, window), image, which);
    whole.baseline_us = whole_us(find(cuda_, algorithm, window), image, which);
    whole.speedup = serial_us(window, image, whole.note) / whole.baseline_us;
    return whole;
  }

  const std::vector<NickColumn> &cpu_, &cuda_;
  Report &report_;
};

void Publication::kernels_of_table_3(PaperTable &table) {
  for (const auto &[algorithm, first] :
       {std::pair{Algorithm::global, 0}, std::pair{Algorithm::shared, 2}})
    for (int i = 0; i < 2; ++i)
      for (int image = 0; image < kImages; ++image) {
        Row line = row(algorithm, i == 0 ? 9 : 15, image);
        line.published = kGtx480;
        line.published_speedup = kTable3[image][first + i];
        if (algorithm == Algorithm::shared && i == 1)
          line.published_us = kTable4[image].kernel * 1e3;
        table.add(line);
      }
}

void Publication::table_3() {
  PaperTable table(report_, "paper 000 table 3",
                   "TABLE 3 of Najafi et al.: speed-ups of the kernels, windows 9*9 and 15*15");
  if (!cuda_.empty()) kernels_of_table_3(table);
  for (const int window : {9, 15})
    for (int image = 0; image < kImages; ++image) {
      const NickColumn *serial = find(cpu_, Algorithm::global, window);
      if (!serial) continue;
      Row line;
      line.name = "Image " + std::to_string(image + 1) + ", serial " + square(window);
      line.backend = "cpu";
      line.op = "nick";
      line.size = kNickImages[image];
      line.baseline_us = serial->us[image];
      line.us = kernel_us(find(cpu_, Algorithm::automatic, window), image);
      if (window == 15) {
        line.published = kXeon;
        line.published_us = kTable4[image].kernel * kTable3[image][3] * 1e3;
      }
      table.add(line);
    }
}

void Publication::table_4() {
  PaperTable table(report_, "paper 000 table 4",
                   "TABLE 4 of Najafi et al.: Shared 15*15 with its copies, pinned memory or not");
  for (int image = 0; image < kImages; ++image) {
    const Transfer &published = kTable4[image];
    Row kernel = row(Algorithm::shared, 15, image);
    kernel.published = kGtx480;
    kernel.published_us = published.kernel * 1e3;
    kernel.published_speedup = kTable3[image][3];
    table.add(kernel);
    for (const bool pinned : {false, true}) {
      Row whole = whole_row(Algorithm::shared, 15, image,
                            pinned ? &TransferTimes::pinned : &TransferTimes::pageable);
      whole.name += pinned ? ", pinned" : ", non-pinned";
      whole.published = kGtx480;
      whole.published_us =
          (published.kernel + (pinned ? published.pinned : published.non_pinned)) * 1e3;
      whole.published_speedup = pinned ? published.speedup_pinned : published.speedup_non_pinned;
      table.add(whole);
    }
  }
}

void Publication::table_5() {
  PaperTable table(report_, "paper 000 table 5",
                   "TABLE 5 of Najafi et al.: linear models, as times of the largest image");
  const auto add = [&](const Model &model, const char *what, const NickLine &baseline,
                       const NickLine &ours, const char *backend) {
    if (std::isnan(baseline.slope) && std::isnan(ours.slope)) return;
    Row line;
    line.name = std::string(what) + " " + square(model.window);
    line.backend = backend;
    line.op = "nick";
    line.size = kNickImages.back();
    line.published = model.hardware;
    line.published_us = (model.slope * line.size.pixels() + model.offset) * 1e3;
    line.baseline_us = baseline.largest_us();
    line.us = ours.largest_us();
    table.add(line);
  };
  for (const Model &model : kTable5)
    add(model, kernel_name(model.algorithm), whole_line(find(cuda_, model.algorithm, model.window)),
        whole_line(find(cuda_, Algorithm::automatic, model.window)), "cuda");
  for (const Model &model : kTable5Cpu) {
    const NickColumn *serial = find(cpu_, model.algorithm, model.window);
    const NickColumn *ours = find(cpu_, Algorithm::automatic, model.window);
    add(model, "CPU", serial ? fit(serial->us) : NickLine{}, ours ? fit(ours->us) : NickLine{},
        "cpu");
  }
}

void Publication::figure_3() {
  PaperTable table(report_, "paper 000 figure 3",
                   "FIGURE 3 of Najafi et al.: kernels of the largest image, blocks of 16*16");
  for (const Bar &bar : kFigure3) {
    Row line = row(bar.algorithm, bar.window, kImages - 1);
    line.published = bar.gpu;
    line.published_speedup = bar.speedup;
    table.add(line);
  }
}

void Publication::figure_4() {
  PaperTable table(report_, "paper 000 figure 4",
                   "FIGURE 4 of Najafi et al.: kernels against the image, window 9*9");
  for (const Algorithm algorithm : {Algorithm::global, Algorithm::global_shared, Algorithm::shared})
    for (int image = 0; image < kImages; ++image) {
      Row line = row(algorithm, 9, image);
      if (algorithm == Algorithm::global) line.published_speedup = kTable3[image][0];
      if (algorithm == Algorithm::shared) line.published_speedup = kTable3[image][2];
      if (algorithm == Algorithm::global_shared && image == 0) line.published_speedup = 30;
      if (algorithm == Algorithm::global_shared && image == kImages - 1)
        line.published_speedup = 74;
      if (!std::isnan(line.published_speedup)) line.published = kGtx480;
      table.add(line);
    }
}

void Publication::figure_5() {
  PaperTable table(report_, "paper 000 figure 5",
                   "FIGURE 5 of Najafi et al.: the largest image with its copies, pinned memory");
  for (const Bar &bar : kFigure5) {
    Row line = whole_row(bar.algorithm, bar.window, kImages - 1, &TransferTimes::pinned);
    line.published = bar.gpu;
    line.published_speedup = bar.speedup;
    table.add(line);
  }
}

}  // namespace

void print_nick_published(const std::vector<NickColumn> &cpu, const std::vector<NickColumn> &cuda,
                          Report &report) {
  Publication published(cpu, cuda, report);
  published.table_3();
  if (!cuda.empty()) published.table_4();
  published.table_5();
  if (cuda.empty()) return;
  published.figure_3();
  published.figure_4();
  published.figure_5();
}

}  // namespace cudascan::bench
