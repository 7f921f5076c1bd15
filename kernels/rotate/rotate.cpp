// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/rotate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/base/refuse.h"
#include "kernels/rotate/rows.h"

namespace cudascan {
namespace rotation {
namespace {

template <RotateInterpolation kInterpolation>
PhaseWeights all_weights() {
  PhaseWeights weights{};
  for (int phase = 0; phase < kPhases; ++phase) {
    int w[4];
    make_weights<kInterpolation>(phase, w);
    std::copy_n(w, 4, weights.of[phase]);
  }
  return weights;
}

PhaseWeights all_weights(RotateInterpolation interpolation) {
  switch (interpolation) {
    case RotateInterpolation::nearest:
      return all_weights<RotateInterpolation::nearest>();
    case RotateInterpolation::linear:
      return all_weights<RotateInterpolation::linear>();
    case RotateInterpolation::cubic:
      break;
  }
  return all_weights<RotateInterpolation::cubic>();
}

std::int64_t fixed_point(double v) {
  return std::llround(std::ldexp(v, 32));
}

}  // namespace

template <typename T>
RotateJob<T> make_job(const RotateParams &params, Plane<const T> in, Plane<T> out) {
  validate(params);
  check_planes(in, out);
  if (params.border_value > in.maximum)
    refuse("border-value ", params.border_value, " is above the largest level of the format, ",
           +in.maximum, "; use -1 for that");
  RotateJob<T> job{};
  job.in = in;
  job.out = out;
  const double radians = params.angle * std::numbers::pi / 180;
  job.cosine = fixed_point(std::cos(radians));
  job.sine = fixed_point(std::sin(radians));
  // The centre is half the last column and row; it stays in place.
  const std::int64_t right = in.width - 1, bottom = in.height - 1;
  const std::int64_t half_phase = std::int64_t{1} << (31 - kPhaseBits);
  job.first.x = (((right << 32) - right * job.cosine + bottom * job.sine) >> 1) + half_phase;
  job.first.y = (((bottom << 32) - right * job.sine - bottom * job.cosine) >> 1) + half_phase;
  job.constant = params.border == RotateBorder::constant;
  job.low_bits = unused_low_bits(in.maximum);
  const int level = params.border_value < 0 ? in.maximum : params.border_value;
  job.outside = static_cast<T>(level >> job.low_bits << job.low_bits);
  job.interpolation = params.interpolation;
  job.weights = all_weights(params.interpolation);
  return job;
}

template RotateJob<std::uint8_t> make_job(const RotateParams &, Plane<const std::uint8_t>,
                                          Plane<std::uint8_t>);
template RotateJob<std::uint16_t> make_job(const RotateParams &, Plane<const std::uint16_t>,
                                           Plane<std::uint16_t>);

}  // namespace rotation

namespace {

constexpr int kMinRows = 16;  // fewer rows do not justify a thread

template <typename T>
void run_any(Cpu &cpu, Plane<const T> in, Plane<T> out, const RotateParams &params) {
  const rotation::RotateJob<T> job = rotation::make_job(params, in, out);
  cpu.for_bands(out.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) rotation::loops<T>().row(job, y);
  });
}

}  // namespace

void validate(const RotateParams &params) {
  if (!(params.angle >= -360 && params.angle <= 360))
    refuse("angle ", params.angle, ": must be from -360 to 360 degrees");
  if (params.border_value < -1 || params.border_value > 65535)
    refuse("border-value ", params.border_value,
           ": must be a level of the image, or -1 for the largest");
}

void run(Cpu &cpu, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
         const RotateParams &params) {
  run_any(cpu, in, out, params);
}
void run(Cpu &cpu, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
         const RotateParams &params) {
  run_any(cpu, in, out, params);
}

}  // namespace cudascan
