// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/windowsums/row_stage.cuh"

#include <algorithm>
#include <bit>

#include "kernels/base/driver.cuh"

namespace cudascan::windowsums {
namespace {

constexpr int kUnits = -1, kRefused = -2;

/// Describes a plane to the engine for boxes of `columns` columns and `rows` rows. Its elements are
/// the smallest for which 256 of them cover a row of the box; wider boxes use units of 16 bytes.
/// @return log2 of the samples of an element, kUnits, or kRefused if the engine does not support
///         the plane
template <typename T>
int describe(CUtensorMap &map, const Plane<const T> &plane, int columns, int rows) {
  static const auto encode =
      driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  if (!encode) return kRefused;
  const int bytes = columns * static_cast<int>(sizeof(T));
  int element = sizeof(T);  // bytes
  while (element < 16 && bytes / element > 256) element *= 2;
  const bool units = element == 16;
  if (units) element = 8;
  const auto per_row = [&](int size) {
    return static_cast<cuuint64_t>((plane.width * static_cast<int>(sizeof(T)) + size - 1) / size);
  };
  const cuuint64_t size[] = {units ? 2 : per_row(element), units ? per_row(16) : 1,
                             static_cast<cuuint64_t>(plane.height)};
  const cuuint64_t stride[] = {16, static_cast<cuuint64_t>(plane.stride)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(units ? 2 : bytes / element),
                            static_cast<cuuint32_t>(units ? bytes / 16 : 1),
                            static_cast<cuuint32_t>(rows)};
  const cuuint32_t step[] = {1, 1, 1};
  const CUtensorMapDataType type = element == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : element == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                   : element == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                                  : CU_TENSOR_MAP_DATA_TYPE_UINT64;
  const CUresult result =
      encode(&map, type, 3, const_cast<T *>(plane.data), size, stride, box, step,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) return kRefused;
  return units ? kUnits : std::countr_zero(element / sizeof(T));
}

}  // namespace

template <typename T>
StagedPlane<T>::StagedPlane(const Plane<const T> &plane, int reach, bool engine, Staging staging)
    : plane(plane) {
  const bool tile = staging == Staging::tile || staging == Staging::tight_tile;
  const int rows = tile ? kTilePart : kStageRows<T>;
  const int begin_step = (staging == Staging::tight_tile ? 16 : 32) / static_cast<int>(sizeof(T));
  const int step = std::max(16, 128 / rows) / static_cast<int>(sizeof(T));
  const int lead = (begin_step - (reach + 1) % begin_step) % begin_step;
  const bool sides = staging == Staging::sides;
  const int columns =
      sides ? kSideColumns<T> : (lead + kStageColumns + 2 * reach + 1 + step - 1) / step * step;
  begin = sides ? 0 : -(reach + 1) - lead;
  pitch = columns * static_cast<int>(sizeof(T));
  by_engine = false;
  element_shift = garbage = 0;
  if (!engine || (reinterpret_cast<std::uintptr_t>(plane.data) | plane.stride) % 16 != 0) return;
  element_shift = describe(wide, plane, columns, rows);
  by_engine = element_shift != kRefused &&
              (tile || describe(narrow, plane, kStageColumns, kStageRows<T>) == 0);
  if (!by_engine) return;
  const int samples = element_shift == kUnits ? kStageAlignment<T> : 1 << element_shift;
  garbage = (samples - plane.width % samples) % samples;
}

template struct StagedPlane<std::uint8_t>;
template struct StagedPlane<std::uint16_t>;

}  // namespace cudascan::windowsums
