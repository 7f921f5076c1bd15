// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace cudascan::scan {

/// Decompresses zlib streams (RFC 1950) from the front to the end. ISA-L does it in pieces, which
/// are still in the cache when they are used, or libdeflate does it at once. Both accept streams
/// with some Huffman codes that zlib refuses because codes are missing that no byte has. The check
/// sum shows that the bytes are right. The memory is kept for the next stream. For one thread.
class Inflate {
 public:
  Inflate();
  ~Inflate();

  /// Begins a stream.
  /// @param parts  its bytes, each part below 4 GiB; they must stay until ended()
  /// @param size   how many bytes it has when it is decompressed
  void start(std::span<const std::string_view> parts, std::size_t size);
  /// The next bytes, until the next call.
  /// @param size  of all calls together at most that of start()
  /// @return nullptr if they are damaged or missing
  const std::uint8_t *next(std::size_t size);
  /// Whether the stream ends after these bytes, its check sum is right, and nothing follows.
  bool ended();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cudascan::scan
