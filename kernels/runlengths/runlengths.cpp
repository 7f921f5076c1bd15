// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/runlengths.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <vector>

#include "kernels/base/aligned_memory.h"
#include "kernels/base/refuse.h"
#include "kernels/histogram/roi.h"
#include "kernels/runlengths/rows.h"
#include "kernels/runlengths/sparse.h"

namespace cudascan {
namespace runlengths {
namespace {

constexpr int kMinRows = 64;  // fewer do not justify a thread
constexpr int kMinWords = 8;  // columns of words

constexpr int kLongest = kRunBins - 1;

/// Counts of lengths, and of shorter runs that touch the edge.
struct LengthCounts {
  static constexpr int kTouches = kRunBins;
  std::uint32_t of[kRunBins + 1] = {};

  void add_to(std::uint32_t *sums) const {
    for (int i = 0; i < kRunBins; ++i) sums[i] += of[i];
  }
};

/// The words of a row that have pixels of a part; pixels around it become 0.
struct PartOfRow {
  int first, count;
  Word left, right;  ///< masks of the first and the last word

  static PartOfRow of(int begin, int end) {
    const int first = begin / kWordBits, last = (end - 1) / kWordBits;
    return {first, last - first + 1, ~bits_before(begin),
            end % kWordBits ? bits_before(end) : ~Word{0}};
  }
  Word word(const Word *row, int i) const {
    Word w = row[first + i];
    if (i == 0) w &= left;
    if (i == count - 1) w &= right;
    return w;
  }
};

/// Counts the horizontal runs of every so many-th of the rows [begin, end).
void count_rows(const BitPlane &bits, const Rectangle &part, int begin, int end, int every,
                LengthCounts &counts) {
  const int x_end = part.x + part.width;
  const PartOfRow words = PartOfRow::of(part.x, x_end);
  std::vector<Word> row(words.count);
  const int before = words.first * kWordBits;
  for (int y = (begin + every - 1) / every * every; y < end; y += every) {
    for (int i = 0; i < words.count; ++i) row[i] = words.word(bits.row(y), i);
    for_each_run(row.data(), x_end - before, [&](int first, int last) {
      const bool touches = first + before == part.x || last + before == x_end;
      const int length = std::min(last - first, kLongest);
      ++counts.of[touches && length < kLongest ? LengthCounts::kTouches : length];
    });
  }
}

/// The columns of a word that are measured of a part; see RunLengthParams::sparse.
Word sparse_columns(const Rectangle &part, int word) {
  constexpr int kGroups = kWordBits / kGroup;
  const int first = first_sparse_group(part);
  Word columns = 0;
  for (int i = 0; i < kGroups; ++i)
    if ((word * kGroups + i - first) % kSparse == 0)
      columns |= ((Word{1} << kGroup) - 1) << (i * kGroup);
  return columns;
}

/// Counts the vertical runs of some words of all rows. Where pixels change from a row to the next,
/// a run begins or ends.
void count_columns(const BitPlane &bits, const Rectangle &part, const PartOfRow &words, int begin,
                   int end, bool sparse, LengthCounts &counts) {
  constexpr int kOutside = 1 << 20;  // before the part: longer than all runs inside
  const auto bin_of = [](int length) {
    if (length < kOutside) return std::min(length, kLongest);
    return length - kOutside < kLongest ? LengthCounts::kTouches : kLongest;
  };
  LengthCounts paper;
  LengthCounts *const tables[] = {&paper, &counts};  // of what ends
  std::vector<Word> wanted(end, ~Word{0});
  for (int i = begin; sparse && i < end; ++i) wanted[i] = sparse_columns(part, words.first + i);
  std::vector<int> start((end - begin) * kWordBits, part.y - kOutside);
  for (int y = part.y + 1; y < part.y + part.height; ++y)
    for (int i = begin; i < end; ++i) {
      const Word word = words.word(bits.row(y), i);
      Word turns = (word ^ words.word(bits.row(y - 1), i)) & wanted[i];
      for (; turns; turns &= turns - 1) {
        const int bit = std::countr_zero(turns);
        int &from = start[(i - begin) * kWordBits + bit];
        ++tables[~word >> bit & 1]->of[bin_of(y - from)];
        from = y;
      }
    }
  // What touches the lower edge.
  const int y_end = part.y + part.height;
  for (int i = begin; i < end; ++i)
    for (Word word = words.word(bits.row(y_end - 1), i) & wanted[i]; word; word &= word - 1) {
      const int length = y_end - start[(i - begin) * kWordBits + std::countr_zero(word)];
      if (bin_of(length) == kLongest) ++counts.of[kLongest];
    }
}

}  // namespace

void count_runs(Cpu &cpu, const BitPlane &bits, const Rectangle &part, bool sparse,
                RunLengths &counts) {
  std::mutex mutex;
  cpu.for_bands(part.height, kMinRows, [&](int begin, int end) {
    LengthCounts band;
    count_rows(bits, part, part.y + begin, part.y + end, sparse ? kSparse : 1, band);
    const std::lock_guard lock(mutex);
    band.add_to(counts.rows.data());
  });
  const PartOfRow words = PartOfRow::of(part.x, part.x + part.width);
  cpu.for_bands(words.count, kMinWords, [&](int begin, int end) {
    LengthCounts band;
    count_columns(bits, part, words, begin, end, sparse, band);
    const std::lock_guard lock(mutex);
    band.add_to(counts.columns.data());
  });
}

namespace {

template <typename T>
void count_plane(Cpu &cpu, Plane<const T> in, const RunLengthParams &params, RunLengths &counts) {
  check_sizes(in.width, in.height, in.width, in.height);
  check_rows("input", in);
  check_roi(params.roi, in.width, in.height);
  const Rectangle part = clip_to_plane(params.roi, in.width, in.height);
  const T level = static_cast<T>(std::min<unsigned>(params.level, std::numeric_limits<T>::max()));
  // The bits begin at whole words and groups of rows, so that sparse lines are those of the plane.
  const int x0 = part.x / kWordBits * kWordBits, y0 = part.y / kSparse * kSparse;
  const Rectangle inside{part.x - x0, part.y - y0, part.width, part.height};
  const int width = inside.x + inside.width, height = inside.y + inside.height;
  const BitPlane bits{static_cast<Word *>(cpu.scratch(sizeof(Word) * words_of(width) *
                                                      static_cast<std::size_t>(height))),
                      width, height};
  cpu.for_bands(height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y)
      pack_loops<T>().pack(in.row(y0 + y) + x0, width, level, bits.row(y));
  });
  counts = {};
  count_runs(cpu, bits, inside, params.sparse, counts);
}

}  // namespace
}  // namespace runlengths

void count_runs(Cpu &cpu, Plane<const std::uint8_t> in, const RunLengthParams &params,
                RunLengths &counts) {
  runlengths::count_plane(cpu, in, params, counts);
}
void count_runs(Cpu &cpu, Plane<const std::uint16_t> in, const RunLengthParams &params,
                RunLengths &counts) {
  runlengths::count_plane(cpu, in, params, counts);
}

double median_run(const RunLengths &counts, int shortest) {
  std::uint64_t runs = 0, before = 0;
  const auto in_bin = [&](int length) {
    return std::uint64_t{counts.rows[length]} + counts.columns[length];
  };
  const int first = std::max(shortest, 1);
  for (int i = first; i < kRunBins; ++i) runs += in_bin(i);
  for (int i = first; i < kRunBins; ++i) {
    const std::uint64_t here = in_bin(i);
    if (here > 0 && 2 * (before + here) >= runs)
      return i - 0.5 + static_cast<double>(runs - 2 * before) / static_cast<double>(2 * here);
    before += here;
  }
  return 0;
}

}  // namespace cudascan
