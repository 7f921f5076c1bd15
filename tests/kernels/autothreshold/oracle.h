// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The threshold methods computed directly from their definitions, in long double. All sums are
/// computed again for every threshold.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

namespace cudascan::oracle {

using Counts = std::vector<std::uint32_t>;
using Real = long double;

inline Real pixels(const Counts &h, int first, int last) {
  Real n = 0;
  for (int i = first; i <= last; ++i) n += h[i];
  return n;
}
inline Real power_sum(const Counts &h, int first, int last, int power) {
  Real s = 0;
  for (int i = first; i <= last; ++i) s += h[i] * std::pow(Real(i), power);
  return s;
}
inline Real mean(const Counts &h, int first, int last) {
  return power_sum(h, first, last, 1) / pixels(h, first, last);
}
inline int top(const Counts &h) {
  return static_cast<int>(h.size()) - 1;
}
inline int lowest(const Counts &h) {
  int i = 0;
  while (i < top(h) && h[i] == 0) ++i;
  return i;
}
inline int highest(const Counts &h) {
  int i = top(h);
  while (i > 0 && h[i] == 0) --i;
  return i;
}

/// How good a threshold is; larger is better.
using Score = std::function<Real(const Counts &, int)>;

inline Real otsu(const Counts &h, int t) {
  const Real n = pixels(h, 0, top(h)), w = pixels(h, 0, t) / n;
  const Real apart = mean(h, 0, t) - mean(h, t + 1, top(h));
  return w * (1 - w) * apart * apart;
}

inline Real mcet(const Counts &h, int t) {
  const Real below = mean(h, 0, t), above = mean(h, t + 1, top(h));
  Real entropy = 0;
  for (int i = 1; i <= top(h); ++i)
    if (h[i]) entropy += Real(h[i]) * i * std::log(i / (i <= t ? below : above));
  return -entropy / pixels(h, 0, top(h));
}

/// The Renyi entropy of the levels first..last, of order 1/2, 1 (Shannon's entropy) or 2.
inline Real entropy(const Counts &h, int first, int last, Real order) {
  const Real n = pixels(h, first, last);
  Real sum = 0;
  for (int i = first; i <= last; ++i) {
    if (h[i] == 0) continue;
    const Real p = h[i] / n;
    sum += order == 1 ? -p * std::log(p) : order == 2 ? p * p : std::sqrt(p);
  }
  return order == 1 ? sum : std::log(sum) / (1 - order);
}
inline Score entropies(Real order) {
  return [order](const Counts &h, int t) {
    return entropy(h, 0, t, order) + entropy(h, t + 1, top(h), order);
  };
}

inline Real yen(const Counts &h, int t) {
  const Real n = pixels(h, 0, top(h)), p = pixels(h, 0, t) / n;
  Real below = 0, above = 0;
  for (int i = 0; i <= top(h); ++i) (i <= t ? below : above) += h[i] / n * (h[i] / n);
  return -std::log(below * above) + 2 * std::log(p * (1 - p));
}

inline Real percentile(const Counts &h, int t) {
  return -std::abs(pixels(h, 0, t) / pixels(h, 0, top(h)) - Real(0.5));
}

inline Real huang(const Counts &h, int t) {
  const Real range = highest(h) - lowest(h);
  const Real means[2] = {mean(h, 0, t), mean(h, t + 1, top(h))};
  Real sum = 0;
  for (int i = 0; i <= top(h); ++i) {
    const Real mu = 1 / (1 + std::abs(i - means[i > t]) / range);
    if (mu < 1) sum += h[i] * (-mu * std::log(mu) - (1 - mu) * std::log(1 - mu));
  }
  return -sum / pixels(h, 0, top(h));
}

inline Real shanbhag(const Counts &h, int t) {
  const Real n = pixels(h, 0, top(h)), below = pixels(h, 0, t) / n;
  Real back = 0, object = 0, sum = 0;
  for (int i = 0; i <= t; ++i) {
    back -= h[i] / n * std::log(1 - sum / (2 * below));
    sum += h[i] / n;
  }
  sum = 0;
  for (int i = top(h); i > t; --i) {
    object -= h[i] / n * std::log(1 - sum / (2 * (1 - below)));
    sum += h[i] / n;
  }
  return -std::abs(back / (2 * below) - object / (2 * (1 - below)));
}

/// The lowest of the best thresholds. A threshold must be a level that occurs, below the highest
/// one.
inline int best(const Counts &h, const Score &score) {
  int found = highest(h);
  Real most = -HUGE_VALL;
  for (int t = 0; t < highest(h); ++t) {
    if (h[t] == 0) continue;
    const Real here = score(h, t);
    if (here > most) {
      most = here;
      found = t;
    }
  }
  return found;
}

inline int isodata(const Counts &h) {
  using Integer = unsigned __int128;
  const auto step = [&](int t) {
    Integer n[2] = {}, s[2] = {};
    for (int i = 0; i <= top(h); ++i) {
      n[i > t] += h[i];
      s[i > t] += Integer(h[i]) * i;
    }
    return static_cast<int>((s[0] * n[1] + s[1] * n[0]) / (2 * n[0] * n[1]));
  };
  if (lowest(h) == highest(h)) return lowest(h);
  int t = static_cast<int>(mean(h, 0, top(h)));
  for (int next = step(t); next != t; next = step(t)) t = next;
  return t;
}

inline int li(const Counts &h) {
  const int first = lowest(h);
  Real t = mean(h, 0, top(h)) - first, before = -1;
  while (std::abs(t - before) > Real(0.5)) {
    const int k = static_cast<int>(t) + first;
    const Real below = mean(h, 0, k) - first;
    if (below == 0) break;
    const Real above = mean(h, k + 1, top(h)) - first;
    before = t;
    t = (below - above) / (std::log(below) - std::log(above));
  }
  return static_cast<int>(t) + first;
}

/// Uses the distances from the line through (peak, height) and (end, 0).
inline int triangle(const Counts &h) {
  int peak = 0;
  for (int i = 0; i <= top(h); ++i)
    if (h[i] > h[peak]) peak = i;
  const int left = std::max(lowest(h) - 1, 0), right = std::min(highest(h) + 1, top(h));
  if (lowest(h) == highest(h)) return peak;
  const int direction = peak - left < right - peak ? -1 : 1;
  const int end = direction > 0 ? left : right;
  const Real dx = peak - end, dy = h[peak];
  int found = end;
  Real most = 0;
  for (int i = end + direction; i * direction <= peak * direction; i += direction) {
    const Real distance = std::abs(dy) * std::abs(Real(i - end)) - std::abs(dx) * h[i];
    if (i == end + direction || distance > most) {
      most = distance;
      found = i;
    }
  }
  return std::min(std::max(found - direction, 0), top(h));
}

/// Uses the levels z0, z1 and the share p0 as in the paper.
inline int moments(const Counts &h) {
  const Real n = pixels(h, 0, top(h));
  // The share is the same for any origin; an origin near the mean is more precise.
  const Real origin = mean(h, 0, top(h));
  Real m[4] = {};
  for (int i = 0; i <= top(h); ++i)
    for (int k = 0; k < 4; ++k) m[k] += h[i] / n * std::pow(i - origin, k);
  const Real cd = m[2] - m[1] * m[1];
  const Real c0 = (m[1] * m[3] - m[2] * m[2]) / cd, c1 = (m[1] * m[2] - m[3]) / cd;
  const Real root = std::sqrt(c1 * c1 - 4 * c0);
  const Real z0 = (-c1 - root) / 2, z1 = (-c1 + root) / 2;
  const Real share = std::floor(n * (z1 - m[1]) / (z1 - z0) + Real(0.5));
  int t = lowest(h);
  while (t < highest(h) && pixels(h, 0, t) < share) ++t;
  return t;
}

inline int renyi_entropy(const Counts &h) {
  Real t[3] = {Real(best(h, entropies(0.5L))), Real(best(h, entropies(1))),
               Real(best(h, entropies(2)))};
  for (int i : {0, 1, 0})
    if (t[i + 1] < t[i]) std::swap(t[i], t[i + 1]);
  const Real near = Real(5) * h.size() / 256, n = pixels(h, 0, top(h));
  const bool low = t[1] - t[0] <= near, high = t[2] - t[1] <= near;
  const Real b1 = low == high ? 1 : low ? 0 : 3, b2 = low == high ? 2 : 1;
  const Real b3 = low == high ? 1 : low ? 3 : 0;
  const Real p1 = pixels(h, 0, static_cast<int>(t[0])) / n;
  const Real p3 = pixels(h, 0, static_cast<int>(t[2])) / n, omega = p3 - p1;
  return static_cast<int>(t[0] * (p1 + omega * b1 / 4) + t[1] * omega * b2 / 4 +
                          t[2] * (1 - p3 + omega * b3 / 4) + 1e-9L);
}

/// The two modes and the lowest level between them; -1 if smoothing never leaves two modes.
struct Modes {
  int first = -1, second = -1, lowest = -1;

  explicit Modes(const Counts &h) {
    std::vector<Real> y(h.begin(), h.end());
    for (int time = 0; time <= 10000; ++time) {
      std::vector<int> modes;
      for (int i = 1; i < top(h); ++i)
        if (y[i] > y[i - 1] && y[i] > y[i + 1]) modes.push_back(i);
      if (modes.size() == 2) {
        first = modes[0];
        second = modes[1];
        lowest = first + 1;
        for (int i = lowest; i < second; ++i)
          if (y[i] < y[lowest]) lowest = i;
        return;
      }
      std::vector<Real> smooth(y.size());
      for (int i = 0; i <= top(h); ++i)
        smooth[i] = (i ? y[i - 1] : 0) + y[i] + (i < top(h) ? y[i + 1] : 0);
      // Scaling does not move the modes. The factor is a power of two, so that equal values stay
      // equal.
      const Real most = *std::max_element(smooth.begin(), smooth.end());
      for (Real &x : smooth) x = std::ldexp(x, 32 - std::ilogb(most));
      y = smooth;
    }
  }
};

/// The variance between the classes of several thresholds, divided by the number of pixels.
inline Real variance_between(const Counts &h, const std::vector<int> &thresholds) {
  const Real n = pixels(h, 0, top(h)), all = mean(h, 0, top(h));
  Real sum = 0;
  int first = 0;
  for (std::size_t c = 0; c <= thresholds.size(); ++c) {
    const int last = c < thresholds.size() ? thresholds[c] : top(h);
    const Real w = pixels(h, first, last) / n;
    if (w > 0) sum += w * std::pow(mean(h, first, last) - all, 2);
    first = last + 1;
  }
  return sum;
}

/// The largest variance with `more` thresholds above the given ones.
inline Real most_variance_between(const Counts &h, int more, std::vector<int> thresholds = {}) {
  if (more == 0) return variance_between(h, thresholds);
  Real most = 0;
  const int first = thresholds.empty() ? 0 : thresholds.back() + 1;
  thresholds.push_back(first);
  for (int t = first; t < top(h); ++t) {
    thresholds.back() = t;
    most = std::max(most, most_variance_between(h, more - 1, thresholds));
  }
  return most;
}

}  // namespace cudascan::oracle
