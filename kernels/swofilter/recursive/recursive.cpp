// SPDX-License-Identifier: LGPL-2.1-or-later
// Erosions are dilations of complements.
#include "kernels/swofilter/recursive/recursive.h"

#include <algorithm>

#include "kernels/swofilter/extrema/extrema.h"
#include "kernels/swofilter/recursive/form.h"
#include "kernels/swofilter/recursive/steps.h"

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

/// In place, for any window of at most 31 rows and columns.
/// @param has_rest  whether `out` has the extrema of the samples that are still input
template <typename T>
void run_steps(Cpu &cpu, Plane<T> out, const RecursiveSteps &steps, bool has_rest,
               const Complement<T> &complement, T outside) {
  constexpr int kMargin = RecursiveSteps::kMostReach;  // of zeros, on both sides
  const int width = out.width, n_rows = steps.rows + 1;
  const std::size_t pitch = width + 2 * kMargin;
  auto *const memory = static_cast<T *>(cpu.scratch(pitch * n_rows * sizeof(T)));
  std::fill_n(memory, pitch * n_rows, T{0});
  const auto row = [&](int y) { return memory + (y + n_rows) % n_rows * pitch + kMargin; };
  for (int y = 0; y < out.height; ++y) {
    T *const here = row(y), *const to = out.row(y);
    if (has_rest)
      std::transform(to, to + width, here, complement);
    else
      std::fill_n(here, width, T{0});
    const int first = y < steps.top ? width : std::min(-steps.first, width);
    for (int x = 0; x < first; ++x) here[x] = std::max(here[x], outside);
    for (int x = std::max(width - steps.last, 0); x < width; ++x)
      here[x] = std::max(here[x], outside);
    for (const RecursiveCell &cell : steps.above)
      if (cell.rows <= y) raise(here, row(y - cell.rows) + cell.x, width);
    if (!steps.left.empty())
      for (int x = 0; x < width; ++x) {
        T v = here[x];
        for (const int distance : steps.left) v = std::max(v, here[x - distance]);
        here[x] = v;
      }
    std::transform(here, here + width, to, complement);
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
  if (form.exists) return run_form(cpu, in, out, form, complement, outside);
  const RecursiveSteps steps(job.mask(), in.width);
  const bool has_rest = steps.rest.count() > 0;
  if (has_rest) extrema(cpu, in, out, steps.job_of_rest(job));
  if (!steps.above.empty() || !steps.left.empty())
    run_steps(cpu, out, steps, has_rest, complement, outside);
}
template void recursive(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &);
template void recursive(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &);

}  // namespace cudascan::swo
