// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/nick_published.h"
#include "kernels/nick.h"
#include "kernels/nick/baseline.h"

namespace cudascan::bench {
namespace {

/// The weight of both codes, within the range of the paper.
float weight() {
  return static_cast<float>(k_in_use(NickParams()));
}

/// As the library does it, or as the paper does.
Runner nick_runner(const NickColumn &column) {
  using nick::PublishedKernel;
  if (column.code == NickCode::ours) {
    NickParams params;
    params.window = column.window;
    return make_runner(params);
  }
  const auto kernel = column.code == NickCode::global          ? PublishedKernel::global
                      : column.code == NickCode::global_shared ? PublishedKernel::global_shared
                                                               : PublishedKernel::shared;
  Runner runner;
  runner.cpu = [window = column.window](Cpu &, AnyPlane in, AnyPlane out) {
    nick::run_published_serial(in.as<const std::uint8_t>(), out.as<std::uint8_t>(), window,
                               weight());
  };
  runner.cuda = [=, block = column.block, window = column.window](Cuda &cuda, AnyPlane in,
                                                                  AnyPlane out) {
    nick::run_published(cuda, in.as<const std::uint8_t>(), out.as<std::uint8_t>(), kernel, block,
                        window, weight());
  };
  return runner;
}

std::string formula(const LinearModel &line) {
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
  const Runner runner = nick_runner(column);
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
  const std::size_t first = column.all_images ? 0 : kNickImages.size() - 1;
  const auto times = time_transfers(options, {kNickImages.begin() + first, kNickImages.end()},
                                    nick_runner(column));
  if (times.empty()) return;
  column.transfers.resize(first);
  column.transfers.insert(column.transfers.end(), times.begin(), times.end());
  for (const TransferTimes &t : column.transfers) column.us.push_back(t.kernel);
}

/// "Global 9*9, block 16*16".
std::string whole_name(const NickColumn &column) {
  const std::string block = column.block ? ", block " + square(column.block) : "";
  return column.name() + " " + square(column.window) + block;
}

void record(Report &report, const std::string &section, const NickColumn &column) {
  for (std::size_t i = 0; i < column.us.size(); ++i) {
    if (std::isnan(column.us[i])) continue;
    Row row;
    row.section = section;
    row.name = whole_name(column);
    row.table = "nick tables";
    row.backend = column.cuda() ? "cuda" : "cpu";
    row.op = "nick";
    row.series = row.name;
    row.parameter = "pixels";
    row.value = kNickImages[i].pixels();
    row.size = kNickImages[i];
    row.us = column.us[i];
    report.record(row);
    if (!column.cuda()) continue;
    row.name += ", pinned";
    row.us = column.transfers[i].pinned;
    report.record(row);
    row.name = whole_name(column) + ", pageable";
    row.us = column.transfers[i].pageable;
    report.record(row);
  }
}

/// The columns with all images.
void print_times(const std::vector<NickColumn> &columns) {
  std::printf(
      "\nTime against pixels, ms: the images of Table 1 of Najafi et al.; one CPU core, CUDA "
      "kernels in a graph\n%-22s",
      "");
  const auto line_of = [&](const auto &text) {
    for (const NickColumn &column : columns)
      if (column.all_images) std::printf(" %13s", text(column).c_str());
    std::printf("\n");
  };
  line_of([](const NickColumn &c) { return c.name() + (c.cuda() ? "" : ", CPU"); });
  std::printf("%-22s", "window");
  line_of([](const NickColumn &c) { return square(c.window); });
  std::printf("%-22s", "image, and the block");
  line_of([](const NickColumn &c) { return c.block ? square(c.block) : std::string(); });
  for (std::size_t i = 0; i < kNickImages.size(); ++i) {
    std::printf("%zu %5d*%-5d %8.0f", i + 1, kNickImages[i].width, kNickImages[i].height,
                kNickImages[i].pixels());
    line_of([&](const NickColumn &c) { return ms(c.us[i]); });
  }
}

/// Table 4: the cost of transfers, and the speedup over the serial CPU algorithm that remains.
void print_transfers(const NickColumn &column, const NickColumn &serial) {
  std::printf(
      "\nThe effect of pinned memory, %s (Table 4), ms\n"
      "%-6s %10s %12s %12s %14s %14s\n",
      whole_name(column).c_str(), "", "kernel", "overhead", "overhead", "total speedup",
      "total speedup");
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
void print_regression(const std::vector<NickColumn> &columns) {
  std::printf("\nLinear regression of the time in ms on the number of pixels P (Table 5)\n");
  std::printf("%-36s %-24s %7s  %-24s %7s\n", "", "total, pinned", "R^2", "kernel", "R^2");
  for (const NickColumn &column : columns) {
    if (!column.all_images) continue;
    const LinearModel time = fit(column.us), whole = column.cuda() ? fit_pinned(column) : time;
    std::printf("%-36s %-24s %7.4f", (whole_name(column) + (column.cuda() ? "" : ", CPU")).c_str(),
                formula(whole).c_str(), whole.r2);
    if (column.cuda()) std::printf("  %-24s %7.4f", formula(time).c_str(), time.r2);
    std::printf("\n");
  }
}

}  // namespace

std::string square(int side) {
  return std::to_string(side) + "*" + std::to_string(side);
}

std::string NickColumn::name() const {
  switch (code) {
    case NickCode::ours:
      return "ours";
    case NickCode::serial:
      return "serial";
    case NickCode::global:
      return "Global";
    case NickCode::global_shared:
      return "Global-shared";
    case NickCode::shared:
      return "Shared";
  }
  return "?";
}

LinearModel fit(const std::vector<double> &us) {
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

LinearModel fit_pinned(const NickColumn &column) {
  std::vector<double> us;
  for (const TransferTimes &times : column.transfers) us.push_back(times.pinned);
  return fit(us);
}

/// The tables of Najafi, Murali, Lilja, Sartori, "GPU-Accelerated Nick Local Image Thresholding
/// Algorithm", ICPADS 2015: time against pixels, the cost of transfers, linear regression.
void nick_paper(const Options &options, bool with_cuda, Report &report) {
  if (!options.wants("nick tables, paper 000 tables 3 to 5, figures 3 to 5") &&
      !options.filter.starts_with("paper 000"))
    return;
  std::vector<NickColumn> cpu, cuda;
  for (const int window : nick::kPublishedWindows) {
    for (const NickCode code : {NickCode::serial, NickCode::ours}) cpu.push_back({code, window});
    cuda.push_back({NickCode::ours, window});
    for (const NickCode code : {NickCode::global, NickCode::global_shared, NickCode::shared})
      for (const int block : nick::kPublishedBlocks) {
        const bool shared = code == NickCode::shared;
        if (shared && !nick::is_published(nick::PublishedKernel::shared, block, window)) continue;
        // Table 5 has a block of 32*32 with all images.
        const bool all = block == 16 || (code == NickCode::global && block == 32 && window == 33);
        cuda.push_back({code, window, block, all});
      }
  }
  for (NickColumn &column : cpu)
    if (options.cpu) time_cpu(options, column);
  for (NickColumn &column : cuda)
    if (with_cuda) time_cuda(options, column);
  for (auto *columns : {&cpu, &cuda})
    std::erase_if(*columns, [](const NickColumn &column) { return column.us.empty(); });
  if (cpu.empty() && cuda.empty()) return;

  for (const NickColumn &column : cpu) record(report, "paper, cpu 1", column);
  for (const NickColumn &column : cuda) record(report, "paper, cuda", column);
  std::vector<NickColumn> columns = cpu;
  columns.insert(columns.end(), cuda.begin(), cuda.end());
  print_times(columns);
  NickColumn serial{NickCode::serial, 15, 0, true, std::vector(kNickImages.size(), kUnknown), {}};
  for (const NickColumn &column : cpu)
    if (column.window == 15 && column.code == NickCode::serial) serial = column;
  for (const NickColumn &column : cuda)
    if (column.window == 15 && column.all_images &&
        (column.code == NickCode::shared || column.code == NickCode::ours))
      print_transfers(column, serial);
  print_regression(columns);
  print_nick_published(cpu, cuda, report);
}

}  // namespace cudascan::bench
