// SPDX-License-Identifier: LGPL-2.1-or-later
// Host code shared by the CPU and CUDA implementations of equalization.
#include <cstdint>
#include <limits>

#include "kernels/base/refuse.h"
#include "kernels/equalize/mapping.h"

namespace cudascan {
namespace {

void check_tiles(const char *name, int n) {
  if (n < 1 || n > 64) refuse(name, " = ", n, ": must be a number of tiles from 1 to 64");
}

bool whole(const Rectangle &roi) {
  return roi.width == 0 || roi.height == 0;
}

void check_clahe(const EqualizeParams &p) {
  constexpr const char *kRemedy = "; do not set it, or choose method = global";
  if (p.formula != EqualizeFormula::opencv)
    refuse("formula = cdf with method = clahe: clahe has its own formula", kRemedy);
  if (!whole(p.roi)) refuse("roi with method = clahe: clahe uses statistics of each tile", kRemedy);
  if (p.smoothing > 0)
    refuse("smoothing = ", p.smoothing, " with method = clahe: clahe does not support ",
           "smoothing", kRemedy);
}

const char *name_of(EqualizeAlgorithm algorithm) {
  return algorithm == EqualizeAlgorithm::naive ? "naive" : "shared";
}

constexpr const char *kOrAutomatic = " or algorithm = auto";

void check_baseline(const EqualizeParams &p) {
  const auto refuse_with = [&](const auto &...what) {
    refuse("algorithm = ", name_of(p.algorithm), " with ", what..., kOrAutomatic);
  };
  if (p.method != EqualizeMethod::global)
    refuse_with("method = clahe: this algorithm supports only method = global; choose that");
  if (p.formula != EqualizeFormula::cdf)
    refuse_with("formula = opencv: this algorithm supports only formula = cdf; choose that");
  if (!whole(p.roi)) refuse_with("roi: this algorithm supports no roi; do not set one");
  if (p.smoothing > 0)
    refuse_with("smoothing = ", p.smoothing,
                ": this algorithm does not support smoothing; choose smoothing = 0");
  if (p.amount != 1)
    refuse_with("amount = ", p.amount, ": this algorithm supports only amount = 1; choose that");
}

}  // namespace

void validate(const EqualizeParams &p) {
  if (p.method != EqualizeMethod::global && p.method != EqualizeMethod::clahe)
    refuse("method = ", static_cast<int>(p.method), ": no such method");
  if (p.formula != EqualizeFormula::opencv && p.formula != EqualizeFormula::cdf)
    refuse("formula = ", static_cast<int>(p.formula), ": no such formula");
  if (p.algorithm != EqualizeAlgorithm::automatic && p.algorithm != EqualizeAlgorithm::naive &&
      p.algorithm != EqualizeAlgorithm::shared)
    refuse("algorithm = ", static_cast<int>(p.algorithm), ": no such algorithm");
  if (!(p.clip_limit >= 0 && p.clip_limit <= 1e6))
    refuse("clip-limit = ", p.clip_limit, ": must be a number from 0 to 1000000; 0 means no limit");
  check_tiles("tiles-x", p.tiles_x);
  check_tiles("tiles-y", p.tiles_y);
  if (!(p.amount >= 0 && p.amount <= 1))
    refuse("amount = ", p.amount, ": must be a number from 0 to 1");
  if (!(p.smoothing >= 0 && p.smoothing <= 0.999))
    refuse("smoothing = ", p.smoothing, ": must be a number from 0 to 0.999");
  constexpr int kAnySize = std::numeric_limits<int>::max();
  check_roi(p.roi, kAnySize, kAnySize);
  if (p.algorithm != EqualizeAlgorithm::automatic) check_baseline(p);
  if (p.method == EqualizeMethod::clahe) check_clahe(p);
}

std::vector<const char *> settings_in_use(const EqualizeParams &p) {
  if (p.method == EqualizeMethod::clahe)
    return {"method", "clip-limit", "tiles-x", "tiles-y", "amount"};
  return {"method", "formula", "amount", "smoothing", "roi"};
}

namespace equalize {

template <typename T>
void check_call(const EqualizeParams &p, Plane<const T> in, Plane<T> out) {
  validate(p);
  check_planes(in, out);
  check_roi(p.roi, in.width, in.height);
  if (in.black > in.white || in.white > in.maximum)
    refuse("nominal black and white of the input are ", +in.black, " and ", +in.white,
           ": black must not be above white, nor white above the largest sample, ", +in.maximum);
  if (p.algorithm == EqualizeAlgorithm::automatic) return;
  if (sizeof(T) > 1 || in.maximum != 255 || in.black != 0 || in.white != 255)
    refuse("algorithm = ", name_of(p.algorithm), " with samples from ", +in.black, " to ",
           +in.white,
           ": it supports only 8-bit samples of full range, 0 to 255; choose such a format",
           kOrAutomatic);
}

template void check_call(const EqualizeParams &, Plane<const std::uint8_t>, Plane<std::uint8_t>);
template void check_call(const EqualizeParams &, Plane<const std::uint16_t>, Plane<std::uint16_t>);

}  // namespace equalize

}  // namespace cudascan
