// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Whether the Huffman code of a baseline JPEG (ITU-T T.81) is whole. Decoders in hardware do not
/// tell: they make a picture of anything. libjpeg warns when a code does not exist, when the data
/// end before the picture does, and when a byte or more is left; and that is what is looked for
/// here, on the GPU.
///
/// Threads begin in the middle of the code, everywhere at once. They do not know the state of the
/// decoder there, but decoders that begin in a wrong state soon fall into step (T. J. Ferguson and
/// J. H. Rabinowitz, "Self-synchronizing Huffman codes", IEEE IT-30, 1984). So each thread begins
/// again with the state in which the one before it has ended, until no state changes; after A.
/// Weissenberger and B. Schmidt, "Massively parallel Huffman decoding on GPUs", ICPP 2018. Where
/// that takes too long, the answer is no.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "kernels/exec.h"

namespace cudascan::pages {

/// As a DHT segment has it.
struct HuffmanTable {
  bool operator==(const HuffmanTable &) const = default;
  std::array<std::uint8_t, 16> counts{};  ///< codes of 1 to 16 bits
  std::array<std::uint8_t, 256> symbols{};
};

/// Whether libjpeg accepts the table: no code is all ones, and DC values have at most 15 bits.
inline bool is_valid(const HuffmanTable &table, bool dc) {
  int code = 0, symbols = 0;
  for (int length = 1; length <= 16; ++length, code <<= 1) {
    const int count = table.counts[length - 1];
    code += count;
    symbols += count;
    if (count > 0 && code >= 1 << length) return false;
  }
  for (int i = 0; dc && i < symbols && i < 256; ++i)
    if (table.symbols[i] > 15) return false;
  return symbols > 0 && symbols <= 256;
}

/// The code between two restarts.
struct CodeSegment {
  std::uint32_t begin, end;  ///< bytes
  std::uint32_t blocks;      ///< of 8x8 samples
};

/// The code of a picture.
struct JpegCode {
  /// Without the zeros that are stuffed in after 0xff, and without markers, in pinned memory;
  /// followed by kAfter bytes that mean nothing.
  const std::uint8_t *bytes = nullptr;
  std::uint32_t size = 0;
  static constexpr int kAfter = 16;
  std::vector<CodeSegment> segments;
  /// Which tables the blocks of a unit (MCU) use, 0 or 1; at most kMostBlocks.
  std::vector<std::uint8_t> dc, ac;
  static constexpr int kMostBlocks = 10;
  std::array<HuffmanTable, 2> dc_tables, ac_tables;
};

/// Queues the check.
/// @param code  lives until the work is done; its tables are valid
/// @return in host memory: 0 if the code is whole, once the work is done and until the next run()
CUDASCAN_API const std::uint32_t *queue_check(Cuda &, const JpegCode &code);

}  // namespace cudascan::pages
