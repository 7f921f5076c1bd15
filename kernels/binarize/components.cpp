// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/binarize/components.h"

#include <atomic>
#include <mutex>
#include <numeric>

#include "kernels/binarize/rows.h"

namespace cudascan::binarize {

using namespace runlengths;

namespace {

constexpr int kMinRows = 32;  // fewer rows do not justify a thread

}  // namespace

std::uint32_t Components::root(std::uint32_t i) {
  while (parent_[i] != i) {
    parent_[i] = parent_[parent_[i]];
    i = parent_[i];
  }
  return i;
}

void Components::unite(std::uint32_t a, std::uint32_t b) {
  a = root(a), b = root(b);
  if (a < b)
    parent_[b] = a;
  else
    parent_[a] = b;
}

void Components::unite_with_row_before(int y) {
  std::uint32_t above = first_[y - 1], here = first_[y];
  const std::uint32_t above_end = first_[y], here_end = first_[y + 1];
  while (above < above_end && here < here_end) {
    const Run a = runs_[above], b = runs_[here];
    if (a.begin <= b.end && b.begin <= a.end) unite(above, here);
    // The one that ends later may touch the next one of the other row.
    if (a.end < b.end)
      ++above;
    else
      ++here;
  }
}

void Components::find(Cpu &cpu, const BitPlane &bits) {
  const int height = bits.height;
  first_.assign(height + 1, 0);
  cpu.for_bands(height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) first_[y + 1] = words().count_runs(bits.row(y), bits.words());
  });
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  runs_.resize(count());
  parent_.resize(count());
  std::vector<int> begins;
  std::mutex mutex;
  cpu.for_bands(height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      std::uint32_t i = first_[y];
      for_each_run(bits.row(y), bits.width, [&](int first, int last) {
        runs_[i] = {static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last)};
        parent_[i] = i;
        ++i;
      });
      if (y > begin) unite_with_row_before(y);
    }
    const std::lock_guard lock(mutex);
    begins.push_back(begin);
  });
  for (const int y : begins)
    if (y > 0) unite_with_row_before(y);
  // A parent is never behind its child.
  for (std::uint32_t i = 0; i < count(); ++i) parent_[i] = parent_[parent_[i]];
}

void keep_with_seeds(Cpu &cpu, const BitPlane &seeds, const BitPlane &pixels,
                     Components &components, std::vector<std::uint8_t> &flags) {
  components.find(cpu, pixels);
  flags.assign(components.count(), 0);
  cpu.for_bands(pixels.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y)
      for (std::uint32_t i = components.first(y); i < components.first(y + 1); ++i) {
        const Components::Run run = components.run(i);
        if (any_bit(seeds.row(y), run.begin, run.end))
          std::atomic_ref(flags[components.component(i)]).store(1, std::memory_order_relaxed);
      }
  });
  cpu.for_bands(pixels.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y)
      for (std::uint32_t i = components.first(y); i < components.first(y + 1); ++i) {
        if (flags[components.component(i)]) continue;
        const Components::Run run = components.run(i);
        for_words(run.begin, run.end, [&](int word, Word mask) { pixels.row(y)[word] &= ~mask; });
      }
  });
}

}  // namespace cudascan::binarize
