// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/binary/patterns.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace cudascan::swo::patterns {
namespace {

/// Cells (x, y) from the middle to (x + width - 1, y + height - 1).
struct Rectangle {
  int x, y, width, height;
};

/// Rectangles that together cover the cells of this kind: runs, extended over rows with equal runs.
std::vector<Rectangle> rectangles(const Mask &mask, Mask::Cell kind) {
  std::vector<Rectangle> closed, open;  // the open ones extend to the previous row
  for (int row = 0; row <= mask.height; ++row) {
    std::vector<Rectangle> reached;
    for (int column = 0; row < mask.height && column < mask.width;) {
      const int first = column;
      while (column < mask.width && mask.at(column, row) == kind) ++column;
      if (column == first) {
        ++column;
        continue;
      }
      Rectangle run{first - mask.rx(), row - mask.ry(), column - first, 1};
      const auto above = std::find_if(open.begin(), open.end(), [&](const Rectangle &r) {
        return r.x == run.x && r.width == run.width;
      });
      if (above != open.end()) {
        run = *above;
        ++run.height;
        open.erase(above);
      }
      reached.push_back(run);
    }
    closed.insert(closed.end(), open.begin(), open.end());
    open = reached;
  }
  return closed;
}

int log2_of(int n) {
  return std::bit_width(static_cast<unsigned>(n)) - 1;
}

class Planner {
 public:
  explicit Planner(Plan &plan) : plan_(plan) {}

  /// Makes probes for all cells of a rectangle.
  void look_for(const Rectangle &r, int kind) {
    const int log_width = log2_of(r.width), log_height = log2_of(r.height);
    const int plane = plane_of(kind, log_width, log_height);
    const int right = r.width - (1 << log_width), low = r.height - (1 << log_height);
    for (const int y : {0, low}) {
      for (const int x : {0, right}) {
        plan_.probes.push_back({static_cast<std::int8_t>(r.x + x),
                                static_cast<std::int8_t>(r.y + y), static_cast<std::uint8_t>(plane),
                                false});
        if (right == 0) break;
      }
      if (low == 0) break;
    }
  }

 private:
  int plane_of(int kind, int log_width, int log_height) {
    if (log_width == 0 && log_height == 0) return kind;
    const auto key = std::tuple(kind, log_width, log_height);
    if (const auto known = planes_.find(key); known != planes_.end()) return known->second;
    const bool higher = log_height > 0;
    const int from = plane_of(kind, log_width - !higher, log_height - higher);
    const auto distance = static_cast<std::uint8_t>(1 << ((higher ? log_height : log_width) - 1));
    plan_.doublings.push_back({static_cast<std::uint8_t>(from),
                               static_cast<std::uint8_t>(higher ? 0 : distance),
                               static_cast<std::uint8_t>(higher ? distance : 0)});
    return planes_[key] = plan_.planes() - 1;
  }

  Plan &plan_;
  std::map<std::tuple<int, int, int>, int> planes_;
};

}  // namespace

Plan make_plan(const std::vector<Mask> &masks) {
  Plan plan;
  Planner planner(plan);
  for (const Mask &mask : masks) {
    plan.rx = std::max(plan.rx, mask.rx());
    plan.ry = std::max(plan.ry, mask.ry());
    for (const Rectangle &r : rectangles(mask, Mask::on)) planner.look_for(r, Plan::kWhite);
    for (const Rectangle &r : rectangles(mask, Mask::off)) {
      planner.look_for(r, Plan::kBlack);
      plan.asks_for_black = true;
    }
    plan.probes.back().last = true;
  }
  return plan;
}

}  // namespace cudascan::swo::patterns
