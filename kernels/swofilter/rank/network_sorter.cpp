// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/network_sorter.h"

#include <cstddef>

namespace cudascan::swo::networks {
namespace {

Sorted every_second(const Sorted &s, std::size_t from) {
  Sorted half;
  for (std::size_t i = from; i < s.size(); i += 2) half.push_back(s[i]);
  return half;
}

/// Batcher's odd-even merge, for any lengths.
Sorted odd_even_merge(Graph &g, const Sorted &a, const Sorted &b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  if (a.size() == 1 && b.size() == 1) return {g.minimum(a[0], b[0]), g.maximum(a[0], b[0])};
  const Sorted even = odd_even_merge(g, every_second(a, 0), every_second(b, 0));
  const Sorted odd = odd_even_merge(g, every_second(a, 1), every_second(b, 1));
  Sorted all{even[0]};
  std::size_t i = 0;
  for (; i < odd.size() && i + 1 < even.size(); ++i) {
    all.push_back(g.minimum(odd[i], even[i + 1]));
    all.push_back(g.maximum(odd[i], even[i + 1]));
  }
  for (std::size_t j = i; j < odd.size(); ++j) all.push_back(odd[j]);
  for (std::size_t j = i + 1; j < even.size(); ++j) all.push_back(even[j]);
  return all;
}

/// Number k of two merged sequences: for some i, i of the first k + 1 samples are in b.
Value select(Graph &g, const Sorted &a, const Sorted &b, int k) {
  const int na = static_cast<int>(a.size()), nb = static_cast<int>(b.size());
  Value smallest;
  for (int i = std::max(0, k + 1 - na); i <= std::min(nb, k + 1); ++i) {
    const Value from_a = i <= k ? a[k - i] : Value{}, from_b = i > 0 ? b[i - 1] : Value{};
    smallest = g.minimum(g.maximum(from_a, from_b), smallest);
  }
  return smallest;
}

}  // namespace

Sorted smallest(Graph &g, const Sorted &a, const Sorted &b, int k) {
  Sorted all;
  for (int i = 0; i < k; ++i) {
    const int j = k - 1 - i;
    const Value from_a = i < static_cast<int>(a.size()) ? a[i] : Value{};
    const Value from_b = j < static_cast<int>(b.size()) ? b[j] : Value{};
    all.push_back(g.minimum(from_a, from_b));
  }
  // i beyond a and j beyond b at once is impossible, because k is at most the sum of both.
  std::erase_if(all, [](Value v) { return v.node < 0; });
  return all;
}

void Sorter::need(const Cells &set, int first, int last) {
  if (set.size() < 2) return;
  Known &known = known_[at_origin(set)];
  if (known.first <= first && known.last >= last) return;
  known.first = std::min(known.first, first), known.last = std::max(known.last, last);
  need_halves(set, known.first, known.last);
}

void Sorter::need_halves(const Cells &set, int first, int last) {
  const auto [a, b] = halves(set);
  const int na = static_cast<int>(a.size()), nb = static_cast<int>(b.size());
  need(a, std::max(first - nb, 0), std::min(last, na - 1));
  need(b, std::max(first - na, 0), std::min(last, nb - 1));
}

Sorted Sorter::sorted(const Cells &set) {
  if (set.empty()) return {};
  if (set.size() == 1) return {g_.sample(set[0])};
  Known &known = known_.at(at_origin(set));
  if (known.sorted.empty()) {
    const auto [a, b] = halves(at_origin(set));
    const Slices slices(sorted(a), sorted(b), known.first, known.last);
    known.sorted.resize(set.size());
    if (known.first == known.last)
      known.sorted[known.first] = select(g_, slices.a, slices.b, known.first - slices.dropped);
    else
      std::ranges::copy(odd_even_merge(g_, slices.a, slices.b),
                        known.sorted.begin() + slices.dropped);
  }
  Sorted all = known.sorted;
  for (Value &v : all) v.dx += set[0].x;
  return all;
}

std::pair<Cells, Cells> Sorter::halves(const Cells &set) const {
  if (const auto part = parts_.find(at_origin(set)); part != parts_.end()) {
    const Cells a = moved(part->second, set[0].x);
    return {a, without(set, a)};
  }
  // Half of a column; of several columns, a power of two.
  std::size_t n = set.size() / 2;
  if (const int columns = set.back().x - set.front().x + 1; columns > 1) {
    int left = 1;
    while (2 * left < columns) left *= 2;
    n = std::ranges::lower_bound(set, Cell{set[0].x + left, -256}) - set.begin();
  }
  return {{set.begin(), set.begin() + n}, {set.begin() + n, set.end()}};
}

}  // namespace cudascan::swo::networks
