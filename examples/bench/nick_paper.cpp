// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/nick_published.h"

namespace cudascan::bench {
namespace {

Runner nick_runner(int window, NickAlgorithm algorithm) {
  NickParams params;
  params.window = window;
  params.algorithm = algorithm;
  return make_runner(params);
}

std::string formula(const NickLine &line) {
  if (std::isnan(line.slope)) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.3g*P%+.3g", line.slope, line.offset);
  return text;
}

std::string ms(double us) {
  if (std::isnan(us)) return "-";
  char text[32];
  std::snprintf(text, sizeof text, us < 1e5 ? "%.3f" : "%.0f", us / 1e3);
  return text;
}

std::string ratio(double value) {
  if (std::isnan(value)) return "-";
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.1fx" : "%.0fx", value);
  return text;
}

/// Times a column on one core; leaves out the images that would take too long.
void time_cpu(const Options &options, NickColumn &column) {
  Cpu cpu(1);
  const Runner runner = nick_runner(column.window, column.algorithm);
  const double patience_us = options.patience_us();  // for one run on one image
  double us_per_pixel = 0;
  for (Size size : kNickImages) {
    double us = kUnknown;
    if (us_per_pixel * size.pixels() < patience_us) {
      const std::ptrdiff_t stride = stride_of(size, options.align);
      auto in = make_content(options.content, size, stride);
      std::vector<std::uint8_t> out(in.size(), 0x5a);
      us = time_host(
          [&] {
            runner.cpu(cpu, {in.data(), size.width, size.height, size.depth, stride},
                       {out.data(), size.width, size.height, size.depth, stride});
          },
          50e3, options.repeat);
      us_per_pixel = us / size.pixels();
    }
    column.us.push_back(us);
  }
}

void time_cuda(const Options &options, NickColumn &column) {
  column.transfers =
      time_transfers(options, kNickImages, nick_runner(column.window, column.algorithm));
  for (const TransferTimes &t : column.transfers) column.us.push_back(t.kernel);
}

void record(Report &report, const std::string &section, const NickColumn &column) {
  for (std::size_t i = 0; i < column.us.size(); ++i) {
    Row row;
    row.section = section;
    row.name = column.name + " " + std::to_string(column.window);
    row.table = "nick tables";
    row.backend = column.transfers.empty() ? "cpu" : "cuda";
    row.op = "nick";
    row.series = row.name;
    row.parameter = "pixels";
    row.value = kNickImages[i].pixels();
    row.size = kNickImages[i];
    row.us = column.us[i];
    report.record(row);
    if (column.transfers.empty()) continue;
    row.name += ", pinned";
    row.us = column.transfers[i].pinned;
    report.record(row);
    row.name = column.name + " " + std::to_string(column.window) + ", pageable";
    row.us = column.transfers[i].pageable;
    report.record(row);
  }
}

void print_times(const std::vector<NickColumn> &cpu, const std::vector<NickColumn> &cuda) {
  std::printf(
      "\nTime against pixels, ms: the images of Table 1 of Najafi et al.; one CPU core, CUDA "
      "kernels "
      "in a graph\n%-22s",
      "");
  for (const auto *columns : {&cpu, &cuda})
    for (const NickColumn &column : *columns) std::printf(" %13s", column.name.c_str());
  std::printf("\n%-22s", "image");
  for (const auto *columns : {&cpu, &cuda})
    for (const NickColumn &column : *columns)
      std::printf(" %13s",
                  (std::to_string(column.window) + "*" + std::to_string(column.window)).c_str());
  std::printf("\n");
  for (std::size_t i = 0; i < kNickImages.size(); ++i) {
    std::printf("%zu %5d*%-5d %8.0f", i + 1, kNickImages[i].width, kNickImages[i].height,
                kNickImages[i].pixels());
    for (const auto *columns : {&cpu, &cuda})
      for (const NickColumn &column : *columns)
        std::printf(" %13s", i < column.us.size() ? ms(column.us[i]).c_str() : "-");
    std::printf("\n");
  }
}

/// Table 4: the cost of transfers, and the speedup over the serial CPU algorithm that remains.
void print_transfers(const NickColumn &column, const NickColumn &serial) {
  std::printf(
      "\nThe effect of pinned memory, kernel %s, window %d*%d (Table 4), ms\n"
      "%-6s %10s %12s %12s %14s %14s\n",
      column.name.c_str(), column.window, column.window, "", "kernel", "overhead", "overhead",
      "total speedup", "total speedup");
  std::printf("%-6s %10s %12s %12s %14s %14s\n", "", "", "non-pinned", "pinned", "non-pinned",
              "pinned");
  for (std::size_t i = 0; i < column.transfers.size(); ++i) {
    const TransferTimes &t = column.transfers[i];
    // The kernel's time is GPU time only; launching it counts as overhead.
    std::printf("Img %-2zu %10s %12s %12s %14s %14s\n", i + 1, ms(t.kernel).c_str(),
                ms(std::max(t.pageable - t.kernel, 0.)).c_str(),
                ms(std::max(t.pinned - t.kernel, 0.)).c_str(),
                ratio(serial.us[i] / t.pageable).c_str(), ratio(serial.us[i] / t.pinned).c_str());
  }
}

/// Table 5: linear models of the time in ms, P = number of pixels.
void print_regression(const std::vector<NickColumn> &cpu, const std::vector<NickColumn> &cuda) {
  std::printf("\nLinear regression of the time in ms on the number of pixels P (Table 5)\n");
  if (!cuda.empty()) {
    std::printf("%-14s %-7s %-7s %-24s %7s  %-24s %7s\n", "kernel", "block", "window",
                "GPU total, pinned", "R^2", "GPU kernel", "R^2");
    for (const NickColumn &column : cuda) {
      std::vector<double> total;
      for (const TransferTimes &t : column.transfers) total.push_back(t.pinned);
      const NickLine whole = fit(total), kernel = fit(column.us);
      std::printf("%-14s %-7s %-7s %-24s %7.4f  %-24s %7.4f\n", column.name.c_str(),
                  column.block.c_str(),
                  (std::to_string(column.window) + "*" + std::to_string(column.window)).c_str(),
                  formula(whole).c_str(), whole.r2, formula(kernel).c_str(), kernel.r2);
    }
  }
  std::printf("%-14s %-7s %-7s %-24s %7s\n", "CPU, one core", "", "window", "CPU total", "R^2");
  for (const NickColumn &column : cpu) {
    const NickLine line = fit(column.us);
    std::printf("%-14s %-7s %-7s %-24s %7.4f\n", column.name.c_str(), "",
                (std::to_string(column.window) + "*" + std::to_string(column.window)).c_str(),
                formula(line).c_str(), line.r2);
  }
}

}  // namespace

NickLine fit(const std::vector<double> &us) {
  double n = 0, sum_x = 0, sum_y = 0;
  for (std::size_t i = 0; i < us.size(); ++i)
    if (!std::isnan(us[i])) {
      ++n;
      sum_x += kNickImages[i].pixels();
      sum_y += us[i] / 1e3;
    }
  if (n < 3) return {};
  double xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < us.size(); ++i)
    if (!std::isnan(us[i])) {
      const double dx = kNickImages[i].pixels() - sum_x / n, dy = us[i] / 1e3 - sum_y / n;
      xx += dx * dx;
      xy += dx * dy;
      yy += dy * dy;
    }
  return {xy / xx, (sum_y - xy / xx * sum_x) / n, xy * xy / (xx * yy)};
}

/// The tables of Najafi, Murali, Lilja, Sartori, "GPU-Accelerated Nick Local Image Thresholding
/// Algorithm", ICPADS 2015: time against pixels, the cost of transfers, linear regression.
void nick_paper(const Options &options, bool with_cuda, Report &report) {
  if (!options.wants("nick tables, paper 000 tables 3 to 5, figures 3 to 5") &&
      !options.filter.starts_with("paper 000"))
    return;
  constexpr auto fast = NickAlgorithm::automatic, global = NickAlgorithm::global;
  std::vector<NickColumn> cpu{{"serial", "", 15, global},
                              {"serial", "", 33, global},
                              {"fast, CPU", "", 15, fast},
                              {"fast, CPU", "", 33, fast}};
  // These columns are only for the publication's other tables and are not printed here.
  std::vector<NickColumn> more_cpu{{"serial", "", 9, global}, {"fast, CPU", "", 9, fast}};
  std::vector<NickColumn> more_cuda{{"Global", "16*16", 9, global},
                                    {"Global-shared", "16*16", 9, NickAlgorithm::global_shared},
                                    {"Global-shared", "16*16", 33, NickAlgorithm::global_shared},
                                    {"Shared", "16*16", 9, NickAlgorithm::shared},
                                    {"fast", "", 9, fast}};
  std::vector<NickColumn> cuda{{"Global", "16*16", 15, global},
                               {"Global", "16*16", 33, global},
                               {"Global-shared", "16*16", 15, NickAlgorithm::global_shared},
                               {"Shared", "16*16", 15, NickAlgorithm::shared},
                               {"fast", "", 15, fast},
                               {"fast", "", 33, fast}};
  for (auto *columns : {&cpu, &more_cpu})
    for (NickColumn &column : *columns)
      if (options.cpu) time_cpu(options, column);
  for (auto *columns : {&cuda, &more_cuda})
    for (NickColumn &column : *columns)
      if (with_cuda) time_cuda(options, column);
  for (auto *columns : {&cpu, &more_cpu, &cuda, &more_cuda})
    std::erase_if(*columns, [](const NickColumn &column) { return column.us.empty(); });
  if (cpu.empty() && cuda.empty()) return;

  for (const NickColumn &column : cpu) record(report, "paper, cpu 1", column);
  for (const NickColumn &column : cuda) record(report, "paper, cuda", column);
  print_times(cpu, cuda);
  const NickColumn unknown{"", "", 15, global, std::vector<double>(kNickImages.size(), kUnknown)};
  const NickColumn &serial = cpu.empty() ? unknown : cpu.front();
  for (const NickColumn &column : cuda)
    if (column.window == 15 && (column.name == "Shared" || column.name == "fast"))
      print_transfers(column, serial);
  print_regression(cpu, cuda);
  cpu.insert(cpu.end(), more_cpu.begin(), more_cpu.end());
  cuda.insert(cuda.end(), more_cuda.begin(), more_cuda.end());
  print_nick_published(cpu, cuda, report);
}

}  // namespace cudascan::bench
