// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Local thresholds: NICK and its relatives. A pixel is white when it is above a threshold T that
/// is computed from the window around it, black when it is at or below T.
///
/// N is the number of the window's pixels inside the image (the window is clipped at the border), m
/// is their mean, s their standard deviation (divided by N) and sum p^2 the sum of their squares:
///
/// | method     | T                                      | source                              |
/// |------------|----------------------------------------|-------------------------------------|
/// | nick       | m + k sqrt((sum p^2 - m^2) / N)        | Khurshid, Siddiqi, Faure, Vincent 1 |
/// | niblack    | m + k s                                | Niblack 2                           |
/// | sauvola    | m (1 + k (s/r - 1))                    | Sauvola, Pietikainen 3              |
/// | wolf       | m - k (1 - s/max s) (m - min p)        | Wolf, Jolion 4                      |
/// | bradley    | m (1 - k)                              | Bradley, Roth 5                     |
/// | phansalkar | m (1 + 2 exp(-10 m/max) + k (s/r - 1)) | Phansalkar, More, Sabale, Joshi 6   |
///
/// 1: SPIE 7247, 2009. 2: An Introduction to Digital Image Processing, 1985. 3: Pattern
/// Recognition 33, 2000. 4: Pattern Analysis and Applications 6, 2003. 5: Journal of Graphics
/// Tools 12, 2007. 6: ICCSP 2011.
///
/// max s and min p are taken over the whole image; max is the largest sample of the format.
///
/// Exactness: k and r are decimal numbers with six and three digits after the point (other values
/// are rounded to these), and everything else is an integer. The comparison of p with T uses only
/// integers, without a rounded square root or division. So CPU and CUDA results are identical, and
/// ties are decided exactly. The only exception is the exponential of phansalkar, which is rounded
/// to six digits in the same way on both backends.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/exec.h"

namespace cudascan {

enum class NickMethod { nick, niblack, sauvola, wolf, bradley, phansalkar };

enum class NickOutput {
  binary,     ///< 0 for black, Plane::maximum for white
  threshold,  ///< T, rounded to the nearest integer (halves up) and limited to 0..Plane::maximum
};

/// How the result is computed; all give the same picture. All but `automatic` add up every window
/// by itself. They load pixels as the kernels of Najafi et al., 2015, do.
enum class NickAlgorithm {
  automatic,      ///< the fastest: the cost per pixel hardly depends on the window
  global,         ///< one thread per pixel reads its window from device memory
  global_shared,  ///< the same, with pixels of the block's tile in shared memory
  shared,         ///< all pixels from shared memory; windows up to 15
};

struct NickReport;

struct NickParams {
  using Report = NickReport;  ///< what run() measures

  NickMethod method = NickMethod::nick;
  /// Side of the square window in pixels, odd, 3..1023. The defaults of window and of nick's k have
  /// the best mean F-measure over scanned documents: docs/nick-defaults.md.
  int window = 67;
  /// Width and height of a rectangular window in pixels, odd, 3..1023; 0 = window.
  int window_width = 0;
  int window_height = 0;
  /// Weight of the deviation, -2..2; unset = nick_default_k() of the method.
  std::optional<double> k{};
  /// Dynamic range of the standard deviation in 8-bit levels (deeper samples scale it by
  /// 2^(bits - 8)), 1..1024; sauvola and phansalkar.
  double r = 128;
  /// Swaps black and white; no effect on NickOutput::threshold.
  bool invert = false;
  NickOutput output = NickOutput::binary;
  NickAlgorithm algorithm = NickAlgorithm::automatic;
};

/// What run() measured; valid after exec.synchronize().
struct NickReport {
  double black_ratio = 0;  ///< share of black pixels in the result, 0..1; 0 for a threshold surface
};

/// The default weight of a method. nick: -0.19, measured (docs/nick-defaults.md); its authors
/// recommend -0.2 (removes more noise) to -0.1 (keeps thin strokes). The others are as published:
/// niblack -0.2, sauvola 0.5, wolf 0.5, bradley 0.15, phansalkar 0.25.
CUDASCAN_API double nick_default_k(NickMethod method);

/// The weight that run() uses.
inline double k_in_use(const NickParams &params) {
  return params.k.value_or(nick_default_k(params.method));
}

/// Throws BadSetting when a parameter is out of range or the algorithm does not support the window.
CUDASCAN_API void validate(const NickParams &params);
/// The settings that the result depends on with these values, by their names in messages, in the
/// order of use. The others do not count, or do not change the result.
CUDASCAN_API std::vector<const char *> settings_in_use(const NickParams &params);

/// Binarizes `in`, or writes its threshold surface. `out` has the same size and does not overlap;
/// its `maximum` is white. A surface has the levels of `in` and needs the same sample type.
/// @throws BadSetting for parameters that validate() refuses, for planes of different sizes and for
///         a surface in another depth; Error when CUDA fails
CUDASCAN_API void run(Cpu &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                      const NickParams &, NickReport * = nullptr);
CUDASCAN_API void run(Cpu &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
                      const NickParams &, NickReport * = nullptr);
CUDASCAN_API void run(Cpu &, Plane<const std::uint16_t> in, Plane<std::uint8_t> out,
                      const NickParams &, NickReport * = nullptr);
/// The same on the GPU, on planes in device memory. Throws Error in a build without CUDA.
CUDASCAN_API void run(Cuda &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                      const NickParams &, NickReport * = nullptr);
CUDASCAN_API void run(Cuda &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
                      const NickParams &, NickReport * = nullptr);
CUDASCAN_API void run(Cuda &, Plane<const std::uint16_t> in, Plane<std::uint8_t> out,
                      const NickParams &, NickReport * = nullptr);

}  // namespace cudascan
