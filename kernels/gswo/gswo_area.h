// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Rectangles of pixels, and where the rows of a user's image are in host memory.
#pragma once
#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gswo {

/// Rows y0..y1 and columns x0..x1.
struct Area {
  int y0 = 0, y1 = -1, x0 = 0, x1 = -1;

  bool empty() const { return y1 < y0 || x1 < x0; }
  int rows() const { return y1 - y0 + 1; }
  int columns() const { return x1 - x0 + 1; }
  bool contains(const Area &a) const {
    return a.empty() || (y0 <= a.y0 && a.y1 <= y1 && x0 <= a.x0 && a.x1 <= x1);
  }
  friend bool operator==(const Area &, const Area &) = default;
};

inline Area common(const Area &a, const Area &b) {
  return {std::max(a.y0, b.y0), std::min(a.y1, b.y1), std::max(a.x0, b.x0), std::min(a.x1, b.x1)};
}

/// The smallest area that has both.
inline Area around(const Area &a, const Area &b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.y0, b.y0), std::max(a.y1, b.y1), std::min(a.x0, b.x0), std::max(a.x1, b.x1)};
}

/// Whether around(a, b) has no other pixels.
inline bool fit_together(const Area &a, const Area &b) {
  if (a.contains(b) || b.contains(a)) return true;
  const bool rows_touch = a.y0 <= b.y1 + 1 && b.y0 <= a.y1 + 1,
             columns_touch = a.x0 <= b.x1 + 1 && b.x0 <= a.x1 + 1;
  return (a.x0 == b.x0 && a.x1 == b.x1 && rows_touch) ||
         (a.y0 == b.y0 && a.y1 == b.y1 && columns_touch);
}

/// Calls use(area) for up to four areas that together are `a` without `b`, a part of it.
template <class Use>
void without(const Area &a, const Area &b, const Use &use) {
  const auto some = [&](const Area &part) {
    if (!part.empty()) use(part);
  };
  if (b.empty()) return some(a);
  some({a.y0, b.y0 - 1, a.x0, a.x1});
  some({b.y1 + 1, a.y1, a.x0, a.x1});
  some({b.y0, b.y1, a.x0, b.x0 - 1});
  some({b.y0, b.y1, b.x1 + 1, a.x1});
}

/// A function that gives the address of a row, of an image whose rows are at equal distances.
template <class Row>
struct Equal : Row {};
template <class Row>
Equal<Row> equal(const Row &row) {
  return {row};
}
template <class Row>
inline constexpr bool is_equal = false;
template <class Row>
inline constexpr bool is_equal<Equal<Row>> = true;

/// Where the rows of an image are: the address of column 0 of each. Usually they are at equal
/// distances; else there is a table.
class HostRows {
 public:
  HostRows() = default;
  /// @param row  row(y) is the address of column 0
  template <class Row>
  HostRows(int y0, int y1, const Row &row) : y0_(y0), y1_(y1), first_(address(row, y0)) {
    if (y1 > y0)
      distance_ = (std::ptrdiff_t)((std::uintptr_t)address(row, y0 + 1) - (std::uintptr_t)first_);
    for (int y = y0 + 2; !is_equal<Row> && y <= y1; y++)
      if (address(row, y) != by_rule(y)) {
        for (int k = y0; k <= y1; k++) table_.push_back(address(row, k));
        return;
      }
  }

  char *operator[](int y) const {
    return table_.empty() ? by_rule(y) : table_[(std::size_t)(y - y0_)];
  }

  /// The address of row 0, if the rows are at equal distances. If two images have different ones,
  /// they are not the same.
  const char *zero() const { return is_rule() ? by_rule(0) : nullptr; }

  /// Whether both can be the same image: all rows that both know are at the same places.
  bool agrees(const HostRows &other) const {
    if (is_rule() && other.is_rule()) return (*this)[0] == other[0] && distance_ == other.distance_;
    const int low = std::max(lowest(), other.lowest()), high = std::min(highest(), other.highest());
    for (int y = low; y <= high; y++)
      if ((*this)[y] != other[y]) return false;
    return low <= high;
  }

  /// Adds the rows of another that agrees.
  void learn(const HostRows &other) {
    const int low = std::min(y0_, other.y0_), high = std::max(y1_, other.y1_);
    if (is_rule() && (other.is_rule() || other.y0_ == other.y1_)) {
      *this = HostRows(low, high, [&](int y) { return (*this)[y]; });
    } else if (other.y0_ <= y0_ && y1_ <= other.y1_) {
      *this = other;
    } else if (other.y0_ < y0_ || y1_ < other.y1_) {
      // Rows between the two are never used.
      *this = HostRows(low, high, [&](int y) -> char * {
        if (other.y0_ <= y && y <= other.y1_) return other[y];
        return lowest() <= y && y <= highest() ? (*this)[y] : nullptr;
      });
    }
  }

  /// The lowest and the highest address of column 0.
  std::pair<const char *, const char *> ends() const {
    if (table_.empty()) return std::minmax<const char *>({first_, (*this)[y1_]});
    std::pair<const char *, const char *> all(nullptr, nullptr);
    for (const char *const row : table_) {
      if (!row) continue;
      if (!all.first || row < all.first) all.first = row;
      if (row > all.second) all.second = row;
    }
    return all;
  }

  /// The bytes of the columns x0..x1, row by row, in ascending order.
  std::vector<std::pair<const char *, const char *>> spans(int x0, int x1, std::size_t size) const {
    std::vector<std::pair<const char *, const char *>> all;
    for (int y = y0_; y <= y1_; y++)
      if (const char *const row = (*this)[y])
        all.emplace_back(row + x0 * (std::ptrdiff_t)size, row + (x1 + 1) * (std::ptrdiff_t)size);
    if (!std::is_sorted(all.begin(), all.end())) std::sort(all.begin(), all.end());
    return all;
  }

 private:
  template <class Row>
  static char *address(const Row &row, int y) {
    return (char *)row(y);
  }
  /// As a number, which may be no valid address.
  char *by_rule(int y) const {
    return (char *)((std::uintptr_t)first_ + (std::uintptr_t)((y - y0_) * distance_));
  }
  /// Whether a rule gives the places of all rows.
  bool is_rule() const { return table_.empty() && y1_ > y0_; }
  int lowest() const { return is_rule() ? INT_MIN : y0_; }
  int highest() const { return is_rule() ? INT_MAX : y1_; }

  int y0_ = 0, y1_ = -1;
  char *first_ = nullptr;
  std::ptrdiff_t distance_ = 0;
  std::vector<char *> table_;
};

/// Whether two lists of spans in ascending order have bytes in common.
inline bool have_common_bytes(const std::vector<std::pair<const char *, const char *>> &a,
                              const std::vector<std::pair<const char *, const char *>> &b) {
  std::size_t i = 0, k = 0;
  while (i < a.size() && k < b.size()) {
    if (a[i].first < b[k].second && b[k].first < a[i].second) return true;
    a[i].second <= b[k].second ? i++ : k++;
  }
  return false;
}

}  // namespace gswo
