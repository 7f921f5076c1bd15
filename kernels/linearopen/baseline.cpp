// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/linearopen/baseline.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/base/refuse.h"
#include "kernels/linearopen/anchors.h"
#include "kernels/linearopen/scan.h"
#include "kernels/linearopen/van_herk.h"

namespace cudascan::linearopen {

PublishedOpening published_opening(LinearOpenAlgorithm algorithm) {
  switch (algorithm) {
    case LinearOpenAlgorithm::morard:
      return PublishedOpening::morard;
    case LinearOpenAlgorithm::bartovsky:
      return PublishedOpening::bartovsky;
    default:
      return PublishedOpening::bartovsky_zones;
  }
}

// ---- Zones --------------------------------------------------------------------------------------

namespace {

constexpr int kWarp = 32;

int divide_up(std::int64_t x, int by) {
  return static_cast<int>((x + by - 1) / by);
}

}  // namespace

ZoneSettings choose_zones(const ZoneSettings &wanted, const ZoneProblem &p) {
  ZoneSettings s = wanted;
  // Rule 1. Small blocks balance better; large blocks need less scheduling (table 1).
  if (s.threads == 0) s.threads = p.lines < 64 * p.multiprocessors ? kWarp : 3 * kWarp;
  if (s.threads < kWarp || s.threads > ZoneSettings::kMostThreads || s.threads % kWarp != 0)
    refuse("threads = ", s.threads, ": must be a multiple of ", kWarp, " up to ",
           ZoneSettings::kMostThreads);
  const int blocks = std::min(32, 2048 / s.threads);  // N_b, on a multiprocessor
  if (s.zones == 0) {
    // Rule 2 requires enough threads, rule 3 zones that are not mostly overlap.
    const int enough = divide_up(std::int64_t{s.threads} * blocks * p.multiprocessors, p.lines);
    const int worthwhile = p.steps / (2 * p.length);
    s.zones = std::max(1, std::min(enough, worthwhile));
  }
  if (s.zones < 1 || s.zones > p.steps)
    refuse("zones = ", s.zones, ": must be a number from 1 to ", p.steps);
  // Rules 4 and 5.
  if (s.recent == 0) {
    const auto fits = static_cast<unsigned>(p.shared / (s.threads * p.entry * blocks));
    s.recent = static_cast<int>(std::max(1u, std::bit_floor(fits)));
  }
  const int most = p.shared / (s.threads * p.entry);
  if (s.recent < 1 || s.recent > most || !std::has_single_bit(static_cast<unsigned>(s.recent)))
    refuse("recent = ", s.recent, ": must be a power of two up to ", most);
  return s;
}

double predicted_speedup(int zones, int length, int steps) {
  return zones * (1 - (zones - 1.) * (2. * length - 1) / steps);
}

// ---- On the CPU ---------------------------------------------------------------------------------

namespace {

/// Entries of a stack or a queue, in a ring of a power of two.
template <typename T>
struct HostMemory {
  Entry<T> *entries;
  int mask;

  Entry<T> load(int i) const { return entries[i & mask]; }
  void store(int i, int /*head*/, const Entry<T> &entry) { entries[i & mask] = entry; }
};

/// Opens the lines of a direction.
/// @param opener  called for each band of lines; makes a function that opens one
template <typename T, typename Opener>
void open_each_line(Cpu &cpu, const lines::Partition &partition, const Plane<const T> &in,
                    const Plane<T> &out, const Opener &opener) {
  cpu.for_bands(partition.count, 16, [&](int begin, int end) {
    auto open = opener();
    for (int k = begin; k < end; ++k) {
      const int number = partition.first + k;
      const Steps inside =
          steps_inside(partition.direction, number, partition.across, {0, partition.steps});
      open(ImageLine<T>{in, out, partition.direction, number, inside});
    }
  });
}

/// Opens steep lines, all at once: rows of the image are read one after another.
template <typename T>
void open_in_rows(Cpu &cpu, const lines::Partition &partition, int length, const Plane<const T> &in,
                  const Plane<T> &out) {
  struct Line {
    ZoneQueue<T, HostMemory<T>> queue;
    int first_step;
    int n = 0;  ///< samples so far
  };
  const auto room =
      static_cast<int>(std::bit_ceil(static_cast<unsigned>(most_zones(partition.steps, length))));
  cpu.for_bands(partition.count, 16, [&](int begin, int end) {
    std::vector<Entry<T>> entries(std::size_t(room) * (end - begin));
    std::vector<Line> lines;
    for (int k = begin; k < end; ++k) {
      const Steps inside = steps_inside(partition.direction, partition.first + k, partition.across,
                                        {0, partition.steps});
      const HostMemory<T> memory{entries.data() + std::size_t(room) * (k - begin), room - 1};
      lines.push_back({ZoneQueue<T, HostMemory<T>>(memory), inside.begin});
    }
    const auto write_to = [&](int number) {
      return [&, number](int i, T value) {
        const int step = lines[number - partition.first - begin].first_step + i;
        out.row(step)[number + partition.direction.shift(step)] = value;
      };
    };
    for (int step = 0; step < partition.steps; ++step) {
      const int shift = partition.direction.shift(step);
      // Numbers of the lines that cross the row.
      const int first = std::max(partition.first + begin, -shift);
      const int last = std::min(partition.first + end, partition.across - shift);
      for (int number = first; number < last; ++number) {
        Line &line = lines[number - partition.first - begin];
        open_next(line.queue, in.row(step)[number + shift], line.n++, length, write_to(number));
      }
    }
    for (int k = begin; k < end; ++k) {
      Line &line = lines[k - begin];
      open_last(line.queue, line.n, length, write_to(partition.first + k));
    }
  });
}

}  // namespace

template <typename T>
void open_lines(Cpu &cpu, PublishedOpening algorithm, const lines::Direction &direction, int length,
                Plane<const T> in, Plane<T> out) {
  const auto partition = lines::Partition::of(direction, in.width, in.height);
  const auto with_entries = [&](int most, const auto &open) {
    const auto room = std::bit_ceil(static_cast<unsigned>(most));
    open_each_line(cpu, partition, in, out, [&] {
      return [&open, entries = std::vector<Entry<T>>(room)](const auto &line) mutable {
        open(line, HostMemory<T>{entries.data(), static_cast<int>(entries.size()) - 1});
      };
    });
  };
  if (algorithm == PublishedOpening::bartovsky_rows && direction.steep)
    return open_in_rows(cpu, partition, length, in, out);
  switch (algorithm) {
    case PublishedOpening::morard:
    case PublishedOpening::morard_zones:
      return with_entries(most_cords(partition.steps, sizeof(T)),
                          [&](const auto &line, const auto &memory) {
                            open_by_stack(line, length, CordStack<T, HostMemory<T>>(memory));
                          });
    case PublishedOpening::bartovsky:
    case PublishedOpening::bartovsky_zones:
    case PublishedOpening::bartovsky_rows:
      return with_entries(most_zones(partition.steps, length),
                          [&](const auto &line, const auto &memory) {
                            open_by_queue(line, length, ZoneQueue<T, HostMemory<T>>(memory));
                          });
    case PublishedOpening::van_droogenbroeck:
      if constexpr (sizeof(T) > 2)
        refuse("Van Droogenbroeck's algorithm counts samples of 8 or 16 bits, not of 32");
      else
        return open_each_line(cpu, partition, in, out, [&] {
          return [&, counts = SampleCounts<T>()](const auto &line) mutable {
            AnchorOpening(line, length, counts)();
          };
        });
    case PublishedOpening::clienti:
      return open_each_line(cpu, partition, in, out, [&] {
        return [&, stages = ErosionAndDilation<T>(length)](const auto &line) mutable {
          open_by_two_stages(line, length, stages);
        };
      });
  }
}

using std::uint16_t, std::uint32_t, std::uint8_t, lines::Direction;
template void open_lines(Cpu &, PublishedOpening, const Direction &, int, Plane<const uint8_t>,
                         Plane<uint8_t>);
template void open_lines(Cpu &, PublishedOpening, const Direction &, int, Plane<const uint16_t>,
                         Plane<uint16_t>);
template void open_lines(Cpu &, PublishedOpening, const Direction &, int, Plane<const uint32_t>,
                         Plane<uint32_t>);

}  // namespace cudascan::linearopen
