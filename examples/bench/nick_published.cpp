// SPDX-License-Identifier: LGPL-2.1-or-later
// Results of Najafi et al., compared with their kernels and ours on this machine. Figures 3 to 5
// are plots: only the numbers in the text and Table 3 are used. The serial times on which the
// speed-ups are based are Table 3's times multiplied by Table 4's.
#include "bench/nick_published.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "bench/paper.h"

namespace cudascan::bench {
namespace {

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
  NickCode kernel;
  int window, block;
  const char *gpu;
  double speedup;
};
constexpr Bar kFigure3[] = {
    {NickCode::global, 9, 16, kGtx480, 142},       {NickCode::global, 15, 16, kGtx480, 149},
    {NickCode::global, 33, 16, kGtx480, 166},      {NickCode::global, 33, 32, kGtx780, 171},
    {NickCode::global_shared, 9, 16, kGtx480, 74}, {NickCode::shared, 9, 16, kGtx480, 306},
    {NickCode::shared, 15, 16, kGtx480, 239},      {NickCode::shared, 15, 16, kGtx780, 397}};
constexpr Bar kFigure5[] = {{NickCode::global, 33, 16, kGtx480, 144},
                            {NickCode::global, 33, 32, kGtx780, 161},
                            {NickCode::shared, 15, 16, kGtx480, 118},
                            {NickCode::shared, 15, 16, kGtx780, 147}};
/// The conclusion's speed-ups of Global-shared with copies, without its window and block.
constexpr Bar kConclusion[] = {{NickCode::global_shared, 0, 0, kGtx480, 66},
                               {NickCode::global_shared, 0, 0, kGtx780, 132}};

/// Table 5, ms.
struct Model {
  NickCode code;
  int window, block;
  const char *hardware;
  LinearModel published;
};
constexpr Model kTable5[] = {{NickCode::global, 33, 16, kGtx480, {0.0000214, 0}},
                             {NickCode::shared, 15, 16, kGtx480, {0.0000054, 0}},
                             {NickCode::global, 33, 32, kGtx780, {0.000019, 0}},
                             {NickCode::shared, 15, 16, kGtx780, {0.0000043, 0}},
                             {NickCode::serial, 33, 0, kXeon, {0.002967, -23}},
                             {NickCode::serial, 15, 0, kXeon, {0.000657, -9}}};

constexpr char kWhySlower[] =
    "slower than Global here: a load for each pixel of a window is the limit of both; L1 and "
    "shared "
    "memory are one memory since Volta; and of a block's (16 + window)^2 threads 16^2 decide "
    "pixels, so its warps load 1.6 times as often at 9*9, twice at 15*15";

std::string image_name(int image) {
  return "Image " + std::to_string(image + 1);
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
  void bars(PaperTable &table, const Bar *first, const Bar *end, bool whole);
  static const NickColumn *find(const std::vector<NickColumn> &columns, NickCode code, int window,
                                int block = 0) {
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const NickColumn &c) {
      return c.code == code && c.window == window && c.block == block;
    });
    return found == columns.end() ? nullptr : &*found;
  }
  static double kernel_us(const NickColumn *column, int image) {
    return column ? column->us[image] : kUnknown;
  }
  static double whole_us(const NickColumn *column, int image, double TransferTimes::*which) {
    return column && column->cuda() ? column->transfers[image].*which : kUnknown;
  }
  /// Time of the serial algorithm; extrapolated if it was left out, and then the note says so.
  double serial_us(int window, int image, std::string &note) const {
    const NickColumn *column = find(cpu_, NickCode::serial, window);
    if (!column) return kUnknown;
    if (!std::isnan(column->us[image])) return column->us[image];
    note = "serial time extrapolated";
    return fit(column->us).us(kNickImages[image]);
  }
  Row row(NickCode kernel, int window, int image, int block = 16) const {
    const NickColumn *column = find(cuda_, kernel, window, block);
    Row row;
    row.series = NickColumn{kernel, window}.name() + " " + square(window);
    row.name = image_name(image) + ", " + row.series;
    row.backend = "cuda";
    row.op = "nick";
    row.parameter = "image";
    row.value = image + 1;
    row.size = kNickImages[image];
    row.us = kernel_us(find(cuda_, NickCode::ours, window), image);
    row.baseline_us = kernel_us(column, image);
    row.speedup = serial_us(window, image, row.note) / row.baseline_us;
    return row;
  }
  /// The same with copies from and to memory of the host.
  Row whole_row(NickCode kernel, int window, int image, double TransferTimes::*which,
                int block = 16) const {
    Row whole = row(kernel, window, image, block);
    whole.us = whole_us(find(cuda_, NickCode::ours, window), image, which);
    whole.baseline_us = whole_us(find(cuda_, kernel, window, block), image, which);
    whole.speedup = serial_us(window, image, whole.note) / whole.baseline_us;
    return whole;
  }

  const std::vector<NickColumn> &cpu_, &cuda_;
  Report &report_;
};

void Publication::kernels_of_table_3(PaperTable &table) {
  for (const auto &[kernel, first] :
       {std::pair{NickCode::global, 0}, std::pair{NickCode::shared, 2}})
    for (int i = 0; i < 2; ++i)
      for (int image = 0; image < kImages; ++image) {
        const int window = i == 0 ? 9 : 15;
        Row line = row(kernel, window, image);
        line.published = kGtx480;
        line.published_speedup = kTable3[image][first + i];
        if (kernel == NickCode::shared) {
          if (i == 1) line.published_us = kTable4[image].kernel * 1e3;
          if (line.baseline_us > kernel_us(find(cuda_, NickCode::global, window, 16), image))
            line.note = kWhySlower;
        }
        table.add(line);
      }
}

void Publication::table_3() {
  PaperTable table(report_, "paper 000 table 3",
                   "TABLE 3 of Najafi et al.: speed-ups of the kernels, windows 9*9 and 15*15");
  if (!cuda_.empty()) kernels_of_table_3(table);
  for (const int window : {9, 15})
    for (int image = 0; image < kImages; ++image) {
      const NickColumn *serial = find(cpu_, NickCode::serial, window);
      if (!serial) continue;
      Row line;
      line.series = "serial " + square(window);
      line.name = image_name(image) + ", " + line.series;
      line.backend = "cpu";
      line.op = "nick";
      line.parameter = "image";
      line.value = image + 1;
      line.size = kNickImages[image];
      line.baseline_us = serial->us[image];
      line.us = kernel_us(find(cpu_, NickCode::ours, window), image);
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
    Row kernel = row(NickCode::shared, 15, image);
    kernel.published = kGtx480;
    kernel.published_us = published.kernel * 1e3;
    kernel.published_speedup = kTable3[image][3];
    table.add(kernel);
    for (const bool pinned : {false, true}) {
      Row whole = whole_row(NickCode::shared, 15, image,
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
  for (const Model &model : kTable5) {
    const bool serial = model.code == NickCode::serial;
    const auto &columns = serial ? cpu_ : cuda_;
    const NickColumn *published = find(columns, model.code, model.window, model.block),
                     *ours = find(columns, NickCode::ours, model.window);
    if (!published && !ours) continue;
    const auto fitted = [&](const NickColumn *column) {
      return !column ? LinearModel{} : serial ? fit(column->us) : fit_pinned(*column);
    };
    Row line;
    line.name = NickColumn{model.code, model.window}.name() + " " + square(model.window);
    if (!serial) line.name += ", block " + square(model.block);
    line.backend = serial ? "cpu" : "cuda";
    line.op = "nick";
    line.size = kNickImages.back();
    line.published = model.hardware;
    line.published_model = model.published;
    line.baseline_model = fitted(published);
    line.model = fitted(ours);
    line.published_us = model.published.us(line.size);
    line.baseline_us = line.baseline_model.us(line.size);
    line.us = line.model.us(line.size);
    table.add(line);
  }
}

/// The largest image with every window and block, and the published bars next to them.
/// @param whole  with copies from and to pinned memory
void Publication::bars(PaperTable &table, const Bar *first, const Bar *end, bool whole) {
  for (const NickCode kernel : {NickCode::global, NickCode::global_shared, NickCode::shared})
    for (const int window : {9, 15, 33})
      for (const int block : {8, 16, 32}) {
        if (!find(cuda_, kernel, window, block)) continue;
        Row line = whole ? whole_row(kernel, window, kImages - 1, &TransferTimes::pinned, block)
                         : row(kernel, window, kImages - 1, block);
        line.name = line.series + ", block " + square(block);
        line.parameter = "block";
        line.value = block;
        bool added = false;
        for (const Bar *bar = first; bar != end; ++bar) {
          if (bar->kernel != kernel || bar->window != window || bar->block != block) continue;
          line.published = bar->gpu;
          line.published_speedup = bar->speedup;
          table.add(line);
          added = true;
        }
        if (!added) table.add(line);
      }
}

void Publication::figure_3() {
  PaperTable table(report_, "paper 000 figure 3",
                   "FIGURE 3 of Najafi et al.: kernels of the largest image, windows and blocks");
  bars(table, std::begin(kFigure3), std::end(kFigure3), false);
}

void Publication::figure_4() {
  PaperTable table(report_, "paper 000 figure 4",
                   "FIGURE 4 of Najafi et al.: kernels against the image, window 9*9");
  for (const NickCode kernel : {NickCode::global, NickCode::global_shared, NickCode::shared})
    for (int image = 0; image < kImages; ++image) {
      Row line = row(kernel, 9, image);
      if (kernel == NickCode::global) line.published_speedup = kTable3[image][0];
      if (kernel == NickCode::shared) line.published_speedup = kTable3[image][2];
      if (kernel == NickCode::global_shared && image == 0) line.published_speedup = 30;
      if (kernel == NickCode::global_shared && image == kImages - 1) line.published_speedup = 74;
      if (!std::isnan(line.published_speedup)) line.published = kGtx480;
      table.add(line);
    }
}

void Publication::figure_5() {
  PaperTable table(report_, "paper 000 figure 5",
                   "FIGURE 5 of Najafi et al.: the largest image with its copies, pinned memory");
  bars(table, std::begin(kFigure5), std::end(kFigure5), true);
  Row best;
  for (const int window : {9, 15, 33})
    for (const int block : {8, 16, 32}) {
      const Row line =
          whole_row(NickCode::global_shared, window, kImages - 1, &TransferTimes::pinned, block);
      if (std::isnan(best.speedup) || line.speedup > best.speedup) best = line;
    }
  best.name = "Global-shared, the best of its bars";
  best.series.clear();
  for (const Bar &bar : kConclusion) {
    best.published = bar.gpu;
    best.published_speedup = bar.speedup;
    table.add(best);
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
