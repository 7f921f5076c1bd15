// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/binarize/wide.h"

#include <atomic>

#include "kernels/binarize/extrema.h"
#include "kernels/binarize/squares.h"

namespace cudascan::binarize {

using runlengths::BitPlane;
namespace {

constexpr int kMinRows = 32;  // fewer rows do not justify a thread

/// Finds what is dark against paper of the sixteenth.
/// @param darkness  may be null
template <typename T>
void find_dark(Cpu &cpu, Plane<const T> quarter, const Paper<T> &paper, int ink_darkness,
               const Plane<T> *darkness, const BitPlane &dark) {
  const int width = quarter.width;
  cpu.for_bands(quarter.height, kMinRows, [&](int begin, int end) {
    RowMemory memory;
    DarkRows<T> dark_rows(paper, 4, memory);
    T *const buffer = memory.row<T>(width);
    for (int y = begin; y < end; ++y) {
      T *const d = darkness ? darkness->row(y) : buffer;
      dark_rows(quarter.row(y), width, y, d);
      rows<T>().dark(d, width, ink_darkness, dark.row(y));
    }
  });
}

/// Sets the pixels of the components of which keep(component) is true, and no others.
template <typename Keep>
bool paint_components(Cpu &cpu, const Components &components, const BitPlane &bits,
                      const Keep &keep) {
  std::atomic<bool> any = false;
  cpu.for_bands(bits.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      std::fill(bits.row(y), bits.row(y + 1), 0);
      for (std::uint32_t i = components.first(y); i < components.first(y + 1); ++i) {
        if (!keep(components.component(i))) continue;
        const Components::Run run = components.run(i);
        for_words(run.begin, run.end, [&](int word, Word mask) { bits.row(y)[word] |= mask; });
        any = true;
      }
    }
  });
  return any;
}

/// Pixels of the quarter as bits.
struct WideBits {
  BitPlane dark;   ///< against the widest closing
  BitPlane thick;  ///< the centres of dark squares against the wide closing
  BitPlane edge;   ///< dark pixels next to others
  BitPlane soft;   ///< edges where the darkness changes little
  BitPlane other;  ///< for what is needed only for a while
};

/// Finds the edges of what is dark, and where they are soft.
template <typename T>
void find_edges(Cpu &cpu, Plane<const T> darkness, int size, int ink_darkness, const WideBits &bits,
                WideMemory &memory) {
  const int width = darkness.width, height = darkness.height;
  const Plane<T> largest = plane_in<T>(memory.largest, width, height);
  const Plane<T> smallest = plane_in<T>(memory.smallest, width, height);
  square_extrema<T>(cpu, true, size, darkness, largest);
  square_extrema<T>(cpu, false, size, darkness, smallest);
  square_extrema(cpu, false, 3, bits.dark, bits.edge);
  cpu.for_bands(height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      rows<T>().soft(largest.row(y), smallest.row(y), width, ink_darkness, bits.soft.row(y));
      for (int i = 0; i < bits.edge.words(); ++i) {
        bits.edge.row(y)[i] = bits.dark.row(y)[i] & ~bits.edge.row(y)[i];
        bits.soft.row(y)[i] &= bits.edge.row(y)[i];
      }
    }
  });
}

/// Finds things that are wide and have sharp edges.
bool find_region(Cpu &cpu, const WideBits &bits, Components &components, const BitPlane &region) {
  components.find(cpu, bits.dark);
  struct Thing {
    std::uint32_t edge = 0, soft = 0;
    bool thick = false;
  };
  std::vector<Thing> things(components.count());
  const auto for_runs = [&](const auto &visit) {
    for (int y = 0; y < bits.dark.height; ++y)
      for (std::uint32_t i = components.first(y); i < components.first(y + 1); ++i)
        visit(y, components.run(i), things[components.component(i)]);
  };
  for_runs([&](int y, const Components::Run &run, Thing &thing) {
    thing.thick = thing.thick || any_bit(bits.thick.row(y), run.begin, run.end);
  });
  for_runs([&](int y, const Components::Run &run, Thing &thing) {
    if (!thing.thick) return;
    thing.edge += count_bits(bits.edge.row(y), run.begin, run.end);
    thing.soft += count_bits(bits.soft.row(y), run.begin, run.end);
  });
  return paint_components(cpu, components, region, [&](std::uint32_t i) {
    return things[i].thick && !fades(things[i].soft, things[i].edge);
  });
}

template <typename T>
bool find_margins(Cpu &cpu, const StrokeSizes &sizes, Plane<const T> darkness, int ink_darkness,
                  const WideBits &bits, Components &components, const BitPlane &margins) {
  cpu.for_bands(darkness.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y)
      rows<T>().dark_margin(darkness.row(y), darkness.width, ink_darkness, margins.row(y));
  });
  square_extrema(cpu, false, sizes.core, margins, bits.other);
  square_extrema(cpu, true, sizes.core, bits.other, margins);
  components.find(cpu, margins);
  std::vector<std::uint8_t> touches(components.count());
  for (int y = 0; y < margins.height; ++y)
    for (std::uint32_t i = components.first(y); i < components.first(y + 1); ++i) {
      const Components::Run run = components.run(i);
      if (y == 0 || y == margins.height - 1 || run.begin == 0 || run.end == margins.width)
        touches[components.component(i)] = 1;
    }
  if (!paint_components(cpu, components, bits.other, [&](std::uint32_t i) { return touches[i]; }))
    return false;
  square_extrema(cpu, true, sizes.margin, bits.other, margins);
  return true;
}

}  // namespace

template <typename T>
WideThings<T> find_wide_things(Cpu &cpu, Plane<const T> quarter, const StrokeSizes &sizes,
                               int ink_darkness, WideMemory &memory) {
  const int width = quarter.width, height = quarter.height;
  const auto bits_of = [&](int i) { return bits_in(memory.bits[i], width, height); };
  const WideBits bits{bits_of(0), bits_of(1), bits_of(2), bits_of(3), bits_of(4)};
  const Plane<T> darkness = plane_in<T>(memory.darkness, width, height);
  const auto sixteenth = [&](AlignedMemory &piece) {
    return plane_in<T>(piece, (width + 3) / 4, (height + 3) / 4);
  };
  const Plane<T> shrunk = sixteenth(memory.sixteenth);
  pool_quarter(cpu, quarter, shrunk);
  WideThings<T> things{{sixteenth(memory.widest), 0}, bits_of(5), bits_of(6), false, false};
  things.paper.close(cpu, shrunk, sizes.widest_closing);
  things.paper.raise(cpu);
  find_dark(cpu, quarter, things.paper, ink_darkness, &darkness, bits.dark);
  Paper<T> wide{sixteenth(memory.wide), 0};
  wide.close(cpu, shrunk, sizes.wide_closing);
  wide.raise(cpu);
  find_dark<T>(cpu, quarter, wide, ink_darkness, nullptr, bits.other);
  square_extrema(cpu, false, sizes.core, bits.other, bits.thick);
  find_edges<T>(cpu, darkness, sizes.edge, ink_darkness, bits, memory);
  things.any_near = find_region(cpu, bits, memory.components, things.near);
  things.any_margins =
      find_margins<T>(cpu, sizes, darkness, ink_darkness, bits, memory.components, things.margins);
  if (!things.any_near) return things;
  const std::size_t words = static_cast<std::size_t>(bits.other.words()) * height;
  for (std::size_t i = 0; i < words; ++i)
    bits.other.data[i] =
        things.near.data[i] & ~(things.any_margins ? things.margins.data[i] : Word{0});
  square_extrema(cpu, true, 3, bits.other, things.near);
  return things;
}

namespace {

/// Four times each bit of a quarter of a word.
Word spread(Word quarter) {
  Word x = quarter & 0xffff;
  x = (x | x << 24) & 0x000000ff000000ff;
  x = (x | x << 12) & 0x000f000f000f000f;
  x = (x | x << 6) & 0x0303030303030303;
  x = (x | x << 3) & 0x1111111111111111;
  return 15 * x;
}
/// Bits of the image for bits of the quarter. Returns whether there are any.
bool spread_row(const Word *row, int words, Word *out) {
  Word any = 0;
  for (int i = 0; i < words; ++i) {
    out[i] = spread(row[i / 4] >> (i % 4 * 16));
    any |= out[i];
  }
  return any != 0;
}

}  // namespace

template <typename T>
void paint_wide_things(Cpu &cpu, const PageImage<T> &image, const WideThings<T> &things,
                       int ink_darkness, const BitPlane &ink) {
  if (!things.any_near && !things.any_margins) return;
  const int width = image.in.width, height = image.in.height, words = ink.words();
  cpu.for_bands(image.mean.height, kMinRows / 4, [&](int begin, int end) {
    RowMemory memory;
    DarkRows<T> dark(things.paper, 16, memory);
    T *const inverted = memory.row<T>(width), *const d = memory.row<T>(width);
    std::vector<Word> near(words), margins(words), belong(words);
    for (int q = begin; q < end; ++q) {
      const bool any_near = things.any_near && spread_row(things.near.row(q), words, near.data());
      const bool any_margins =
          things.any_margins && spread_row(things.margins.row(q), words, margins.data());
      for (int y = 4 * q; y < 4 * q + 4 && y < height; ++y) {
        Word *const row = ink.row(y);
        if (any_near) {
          dark(image.row(y, inverted), width, y, d);
          rows<T>().belong(d, width, ink_darkness, belong.data());
          for (int i = 0; i < words; ++i) row[i] |= near[i] & belong[i];
        }
        if (any_margins)
          for (int i = 0; i < words; ++i) row[i] &= ~margins[i];
      }
    }
  });
}

#define INSTANTIATE(T)                                                                     \
  template WideThings<T> find_wide_things(Cpu &, Plane<const T>, const StrokeSizes &, int, \
                                          WideMemory &);                                   \
  template void paint_wide_things(Cpu &, const PageImage<T> &, const WideThings<T> &, int, \
                                  const BitPlane &);
INSTANTIATE(std::uint8_t)
INSTANTIATE(std::uint16_t)

}  // namespace cudascan::binarize
