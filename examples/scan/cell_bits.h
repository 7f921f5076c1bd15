// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Cells of a page that tell yes or no, one bit each, and what is done with many of them at once.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudascan::scan {

/// Rows of bits in words of 64. A frame of one cell is around the cells: cell x is bit x + 1 of its
/// row. Bits outside the frame, and before and after the rows, have no meaning but may be read.
class CellBits {
 public:
  using Word = std::uint64_t;
  static constexpr int kWord = 64;
  static constexpr int kWidest = 14;  ///< the largest side for keep_squares()

  static int words_for(int width) { return (width + 2 + kWord - 1) / kWord; }

  /// All bits become 0, those outside the cells `outside`.
  void shape(int width, int height, bool outside = false);
  int width() const { return width_; }
  int height() const { return height_; }
  int words() const { return words_; }  ///< of a row
  /// @param y  -1..height
  Word *row(int y) { return bits_.data() + std::ptrdiff_t{1} * (y + kAround) * words_; }
  const Word *row(int y) const { return bits_.data() + std::ptrdiff_t{1} * (y + kAround) * words_; }
  bool has(int x, int y) const { return (row(y)[(x + 1) / kWord] >> ((x + 1) % kWord) & 1) != 0; }
  /// Sets the cells from `begin` to the one before `end`.
  void set(int y, int begin, int end);
  /// Whether one of these cells is set.
  bool any(int y, int begin, int end) const;
  /// How many cells are set. The frame must be 0.
  std::ptrdiff_t count() const;

  /// Clears rows `top` to `bottom` - 1.
  void clear(int top, int bottom) { std::fill(row(top), row(bottom), Word{0}); }
  /// Clears what is set in another one, in such rows.
  void remove(const CellBits &other, int top, int bottom);
  void remove(const CellBits &other) { remove(other, 0, height_); }
  void add(const CellBits &other);
  /// Keeps what is set in another one, too.
  void keep(const CellBits &other);
  /// Sets the cells below a level.
  /// @param levels  rows of words() * 64 levels, that of cell x at x + 1
  void add_below(const std::uint8_t *levels, std::uint8_t level);
  /// Keeps the cells that a square of set cells contains: a morphological opening.
  /// @param side   1..kWidest
  /// @param space  of the same size
  void keep_squares(int side, CellBits &space);
  /// Sets rows `top` to `bottom` - 1 to the cells of `of` and those next to them by a side.
  void set_neighbours(const CellBits &of, int top, int bottom);
  /// Adds the cells next to cells, by a side or a corner.
  void grow(CellBits &space);

 private:
  static constexpr int kAround = kWidest / 2 + 2;  ///< rows of zeros before and after the rows

  Word *begin() { return row(0); }
  const Word *begin() const { return row(0); }
  std::size_t size() const { return std::size_t{1} * words_ * height_; }
  /// Clears what is outside the cells.
  void clear_outside();

  int width_ = 0, height_ = 0, words_ = 0;
  std::vector<Word> bits_;
};

/// Calls use(begin, end) for the runs of cells that are set in a row.
/// @param row  with a frame of 0
template <typename Use>
void for_runs(const CellBits::Word *row, int words, Use use) {
  CellBits::Word before = 0;
  int begin = -1;
  for (int i = 0; i < words; before = row[i++] >> (CellBits::kWord - 1))
    for (CellBits::Word turns = row[i] ^ (row[i] << 1 | before); turns; turns &= turns - 1) {
      const int x = i * CellBits::kWord + std::countr_zero(turns) - 1;
      if (begin >= 0) use(begin, x);
      begin = begin >= 0 ? -1 : x;
    }
}

/// Calls use(x) for the cells of a row that differ from those above them.
/// @param y  0..height; cells outside are 0
template <typename Use>
void for_changes(const CellBits &cells, int y, Use use) {
  for (int i = 0; i < cells.words(); ++i)
    for (CellBits::Word turns = cells.row(y)[i] ^ cells.row(y - 1)[i]; turns; turns &= turns - 1)
      use(i * CellBits::kWord + std::countr_zero(turns) - 1);
}

/// Cells next to each other in a row.
struct CellRun {
  int begin, end, y;
  int piece = 0;
};

/// The cells that are connected by their sides, in runs that are sorted by pieces.
class CellPieces {
 public:
  /// @param cells  with a frame of 0
  void find(const CellBits &cells);
  int count() const { return static_cast<int>(first_.size()) - 1; }
  const CellRun *begin(int piece) const { return sorted_.data() + first_[piece]; }
  const CellRun *end(int piece) const { return sorted_.data() + first_[piece + 1]; }

 private:
  std::vector<CellRun> runs_, sorted_;
  std::vector<int> first_;    ///< of the runs of each piece, and the number of runs
  std::vector<int> numbers_;  ///< of the pieces, by their roots
};

}  // namespace cudascan::scan
