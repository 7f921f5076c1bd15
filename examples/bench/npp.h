// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// NVIDIA Performance Primitives, loaded at run time if they are installed. The build does not need
/// them.
#pragma once
#include <cuda_runtime.h>

#include <memory>
#include <string>

#include "bench/bench.h"
#include "bench/line_mask.h"

namespace cudascan::bench {

class Npp {
 public:
  /// nullptr if the libraries are not found; `why` then names what is missing.
  static std::unique_ptr<Npp> load(cudaStream_t stream, std::string &why);
  ~Npp();

  const std::string &origin() const { return origin_; }  ///< the library file that was loaded

  /// White above the mean of the window (a square of `window` pixels), border replicated: NPP's
  /// closest equivalent of a local threshold. 8 bits.
  void adaptive_threshold(AnyPlane in, AnyPlane out, int window) const;
  bool has_histogram() const;
  /// 256 numbers at the start of `counts`; 8 bits. The first call for a size allocates memory.
  void histogram(AnyPlane in, AnyPlane counts) const;
  bool has_morphology() const;
  /// Erosion and dilation by the mask, border replicated; 8 bits. The first call for a size or mask
  /// allocates memory.
  void open(AnyPlane in, AnyPlane out, const LineMask &mask);
  /// NPP supports planes of this depth.
  bool has(const NppWindow &work, int depth) const;
  /// Border replicated; medians only where the window lies in the image. The first call for a size
  /// or window allocates memory.
  void filter(AnyPlane in, AnyPlane out, const NppWindow &work);
  bool has_box() const;
  void box(AnyPlane in, AnyPlane out, int window) const;
  bool has_compare() const;
  void compare(AnyPlane in, AnyPlane out, int level) const;
  bool has(const NppLuma &work) const;
  /// @param in  packed RGB; the width counts samples
  void luma(AnyPlane in, AnyPlane out, const NppLuma &work) const;

 private:
  struct Impl;
  explicit Npp(std::unique_ptr<Impl> impl, std::string origin);
  std::unique_ptr<Impl> impl_;
  std::string origin_;
};

}  // namespace cudascan::bench
