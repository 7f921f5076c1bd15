// SPDX-License-Identifier: LGPL-2.1-or-later
// Erosions are dilations of complements.
#include "kernels/swofilter/recursive/recursive.h"

#include <algorithm>
#include <vector>

#include "kernels/swofilter/recursive/form.h"

namespace cudascan::swo {
namespace {

constexpr int kMinRows = 64;  // of a band; fewer do not justify a thread

template <typename T>
struct Complement {
  bool wanted;
  T maximum;
  T operator()(T v) const { return wanted ? static_cast<T>(maximum - v) : v; }
};

template <typename T>
void raise(T *__restrict to, const T *__restrict from, int n) {
  for (int x = 0; x < n; ++x) to[x] = to[x] > from[x] ? to[x] : from[x];
}

/// The form of form.h.
/// @param least  lower bound of all results
template <typename T>
void run_form(Cpu &cpu, Plane<const T> in, Plane<T> out, const RecursiveForm &form,
              const Complement<T> &complement, T least) {
  const int width = in.width, height = in.height;
  // A row's last sample is repeated after its end, for loops that read ahead.
  const std::size_t pitch = width + RecursiveForm::kMostRows;
  auto *const memory = static_cast<T *>(cpu.scratch(pitch * (height + 2) * sizeof(T)));
  T *above = memory + pitch * height, *here = above + pitch;
  const auto extend = [&](T *row) { std::fill(row + width, row + pitch, row[width - 1]); };

  T *const sums = memory;
  cpu.for_bands(height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      const T *const from = in.row(y);
      T *const to = sums + y * pitch;
      T v = 0;
      for (int x = 0; x < width; ++x) {
        const T sample = complement(from[x]);
        v = form.sums_up ? std::max(v, sample) : sample;
        to[x] = v;
      }
      extend(to);
    }
  });
  for (int y = 0; y < height; ++y) {
    if (y > 0 && form.step >= 0)
      std::copy_n(above + form.step, width, here);
    else
      std::fill_n(here, width, least);
    const auto meet = [&](int k) {
      if (form.reach[k] >= 0 && y + k < height)
        raise(here, sums + (y + k) * pitch + form.reach[k], width);
    };
    if (y == 0)
      for (int k = 0; k < form.rows; ++k) meet(k);
    else
      for (int i = 0; i < form.n_terms; ++i) meet(form.terms[i]);
    extend(here);
    T *const to = out.row(y);
    for (int x = 0; x < width; ++x) to[x] = complement(here[x]);
    std::swap(above, here);
  }
}

/// Rows of a window with the same run of cells, except the middle row.
struct RunStack {
  int first, last;
  std::vector<int> rows;
};

/// Writes the largest of n samples from each position on, for `count` positions. Overwrites `row`.
template <typename T>
void raise_to_runs(T *to, T *row, int n, int count) {
  int done = 1;  // number of samples covered by an entry of the row
  for (; 2 * done <= n; done *= 2)
    for (int x = 0; x < count + n - 2 * done; ++x) row[x] = std::max(row[x], row[x + done]);
  for (int x = 0; x < count; ++x) to[x] = std::max({to[x], row[x], row[x + n - done]});
}

/// In place, for any window, in a plane with a margin of outside samples.
template <typename T>
void run_any(Cpu &cpu, Plane<const T> in, Plane<T> out, const Mask &mask,
             const Complement<T> &complement, T outside) {
  const int width = in.width, height = in.height, rx = mask.rx(), ry = mask.ry();
  const std::size_t pitch = width + 2 * rx;
  auto *const memory = static_cast<T *>(cpu.scratch(pitch * (height + 2 * ry + 2) * sizeof(T)));
  T *const largest = memory + pitch * (height + 2 * ry), *const some = largest + pitch;
  const auto row = [&](int y) { return memory + (y + ry) * pitch + rx; };
  std::fill_n(memory, pitch * (height + 2 * ry), outside);
  for (int y = 0; y < height; ++y) std::transform(in.row(y), in.row(y) + width, row(y), complement);

  std::vector<RunStack> stacks;
  std::vector<int> left;  // cells of the middle row, the nearest first
  for (Run run : mask.runs()) {
    if (run.y == 0) {
      for (int x = std::min<int>(run.last, -1); x >= run.first; --x) left.push_back(x);
      if (run.last < 0) continue;
      run.first = std::max<std::int8_t>(run.first, 0);
    }
    const auto stack = std::find_if(stacks.begin(), stacks.end(), [&](const RunStack &s) {
      return run.y != 0 && s.first == run.first && s.last == run.last && s.rows[0] != 0;
    });
    if (stack != stacks.end())
      stack->rows.push_back(run.y);
    else
      stacks.push_back({run.first, run.last, {run.y}});
  }
  std::sort(left.begin(), left.end(), std::greater<>());

  for (int y = 0; y < height; ++y) {
    std::fill_n(largest, width, T{0});
    for (const RunStack &s : stacks) {
      const int run = s.last - s.first + 1, n = width + run - 1;
      std::copy_n(row(y + s.rows[0]) + s.first, n, some);
      for (std::size_t i = 1; i < s.rows.size(); ++i) raise(some, row(y + s.rows[i]) + s.first, n);
      raise_to_runs(largest, some, run, width);
    }
    T *const here = row(y);
    // With the nearest cell, results grow along the row, so the other cells add nothing.
    const std::size_t cells = !left.empty() && left[0] == -1 ? 1 : left.size();
    for (int x = 0; x < width; ++x) {
      T v = largest[x];
      for (std::size_t i = 0; i < cells; ++i) v = std::max(v, here[x + left[i]]);
      here[x] = v;
    }
    std::transform(here, here + width, out.row(y), complement);
  }
}

}  // namespace

template <typename T>
void recursive(Cpu &cpu, Plane<const T> in, Plane<T> out, const FilterJob &job) {
  const Complement<T> complement{job.op == SwoFilterOperator::recursive_erode,
                                 static_cast<T>(job.maximum)};
  const T outside =
      job.border == SwoFilterBorder::constant ? complement(static_cast<T>(job.outside)) : T{0};
  const RecursiveForm form(job.mask(), job.border);
  if (form.exists)
    run_form(cpu, in, out, form, complement, outside);
  else
    run_any(cpu, in, out, job.mask(), complement, outside);
}
template void recursive(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &);
template void recursive(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &);

}  // namespace cudascan::swo
