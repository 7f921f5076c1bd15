// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/window_planes.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace cudascan::gswo {
namespace {

/// Number of cells from which making and reading a plane is faster than the window's own function.
struct WorthPlanes {
  int extrema, median, ranks;
  int sums, sums_with_squares;
};
constexpr WorthPlanes kOnCpu{10, 25, 25, 25, 25};
/// On the GPU the operators are fastest for rectangles, then for crosses. A window sorts up to 40
/// samples of 8 bits, or 81.
constexpr WorthPlanes kRectangleOnGpu{10, 10, 25, 700, 500}, kCrossOnGpu{20, 41, 41, 82, 82},
    kShapeOnGpu{160, 41, 41, 257, 128}, kWideShapeOnGpu{160, 82, 82, 257, 128};

WorthPlanes worth_for(const FilterTarget &target, bool on_gpu) {
  if (!on_gpu) return kOnCpu;
  if (target.mask.rectangle) return kRectangleOnGpu;
  if (target.mask.is_cross()) return kCrossOnGpu;
  return target.maximum >> target.shift < 256 ? kShapeOnGpu : kWideShapeOnGpu;
}

constexpr std::int64_t kWhole = 1000000;

using Constants = std::vector<UserFilterConstant>;

/// The argument's value: a decimal number, or the name of a whole number in `params`.
std::optional<float> value_of(const RankCall &call, const Constants &constants) {
  for (const UserFilterConstant &constant : constants)
    if (const auto *whole = std::get_if<std::int64_t>(&constant.value);
        whole && constant.name == call.argument)
      return static_cast<float>(*whole);
  std::string text = call.argument;
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  if (text.find('.') != text.npos && (text.back() == 'f' || text.back() == 'F')) text.pop_back();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<float>(call.is_percentile ? value : std::trunc(value));
}

/// The number of percentile(q) as in gswo/window.h, for 0 < q < 100.
int percentile_of(int n, float q) {
  return std::min(static_cast<int>(static_cast<float>(n) * q / 100), n - 1);
}

int fixed_rank(int, float k) {
  return static_cast<int>(k);
}

/// Adds the plane of a call.
/// @return whether there is one
bool add_rank(WindowPlanes &planes, const RankCall &call, const FilterTarget &target,
              const Constants &constants) {
  const std::optional<float> value = value_of(call, constants);
  const int cells = target.mask.count();
  if (!value) return false;
  if (*value <= 0) {
    planes.kinds |= kMinPlane;
    return true;
  }
  if (*value >= static_cast<float>(call.is_percentile ? 100 : cells - 1)) {
    planes.kinds |= kMaxPlane;
    return true;
  }
  const bool clips = target.border == WindowBorder::clip;
  const int least = clips && call.is_percentile ? 1 : cells;
  const std::int64_t share =
      share_for(least, cells, call.is_percentile ? percentile_of : fixed_rank, *value);
  if (share < 0) return false;
  const RankPlane plane{call.is_percentile, *value, share, clips && !call.is_percentile};
  if (std::find(planes.ranks.begin(), planes.ranks.end(), plane) != planes.ranks.end()) return true;
  if (planes.ranks.size() == kMostRankPlanes) return false;
  planes.ranks.push_back(plane);
  planes.kinds |= kRankPlanes;
  if (plane.fills_up) planes.kinds |= kMaxPlane;
  return true;
}

}  // namespace

std::int64_t share_for(int least, int most, int (*number_of)(int n, float argument),
                       float argument) {
  std::int64_t low = 0, high = kWhole;
  for (std::int64_t n = least; n <= most; ++n) {
    const int number = number_of(static_cast<int>(n), argument);
    if (number < 0 || number >= n) return -1;
    low = std::max(low, (number * kWhole + n - 1) / n);
    if (number < n - 1) high = std::min(high, ((number + 1) * kWhole - 1) / n);
  }
  return low <= high ? low : -1;
}

void count_clipped(Cpu &cpu, const Mask &mask, Plane<std::uint16_t> counts) {
  // Cells above and to the left of a corner between cells.
  const int pitch = mask.width + 1, rx = mask.rx(), ry = mask.ry();
  std::vector<std::uint16_t> before(std::size_t(pitch) * (mask.height + 1));
  for (int row = 0; row < mask.height; ++row) {
    std::uint16_t in_row = 0;
    for (int column = 0; column < mask.width; ++column) {
      in_row = static_cast<std::uint16_t>(in_row + (mask.at(column, row) == Mask::on));
      const std::uint16_t above = before[std::size_t(row) * pitch + column + 1];
      before[std::size_t(row + 1) * pitch + column + 1] =
          static_cast<std::uint16_t>(above + in_row);
    }
  }
  const int width = counts.width, height = counts.height;
  constexpr int kMinRows = 64;  // fewer rows do not justify a thread
  cpu.for_bands(height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      const std::uint16_t *const above = &before[std::size_t(std::max(0, ry - y)) * pitch];
      const std::uint16_t *const below =
          &before[std::size_t(std::min(mask.height, ry + height - y)) * pitch];
      const bool is_inside = y >= ry && y + ry < height && width > 2 * rx;
      const auto count = [&](int from, int to) {
        for (int x = from; x < to; ++x) {
          const int left = std::max(0, rx - x), right = std::min(mask.width, rx + width - x);
          counts.row(y)[x] =
              static_cast<std::uint16_t>(below[right] - below[left] - above[right] + above[left]);
        }
      };
      count(0, is_inside ? rx : width);
      if (is_inside) count(width - rx, width);
    }
  });
}

WindowPlanes planes_for(const WindowCalls &calls, const FilterTarget &target,
                        const Constants &constants, UserFilterReads reads, bool on_gpu) {
  const WorthPlanes worth = worth_for(target, on_gpu);
  const int cells = target.mask.count();
  WindowPlanes planes;
  if (reads != UserFilterReads::automatic || cells < worth.ranks)
    planes.other_ranks = !calls.ranks.empty();
  else
    for (const RankCall &call : calls.ranks)
      planes.other_ranks = !add_rank(planes, call, target, constants) || planes.other_ranks;
  if (reads != UserFilterReads::automatic) return planes;
  if (calls.min && cells >= worth.extrema) planes.kinds |= kMinPlane;
  if (calls.max && cells >= worth.extrema) planes.kinds |= kMaxPlane;
  if (calls.median && cells >= worth.median) planes.kinds |= kMedianPlane;
  if (calls.sums && cells >= (calls.squares ? worth.sums_with_squares : worth.sums)) {
    planes.kinds |= kSumPlane;
    if (calls.squares) planes.kinds |= kSquaresPlane;
  }
  if ((calls.sums || calls.count) && cells >= worth.sums && !on_gpu && !target.mask.rectangle &&
      target.border == WindowBorder::clip)
    planes.kinds |= kCountPlane;
  return planes;
}

}  // namespace cudascan::gswo
