// SPDX-License-Identifier: LGPL-2.1-or-later
#include <isa-l/igzip_lib.h>

#include "image.h"
#include "inflate.h"

namespace cudascan::scan {

struct Inflate::State {
  inflate_state stream;
  Memory room;
  std::span<const std::string_view> parts;  ///< that are still to be read

  /// Decompresses until there are so many bytes, or nothing more comes.
  /// @return how many bytes were made, or -1 for damage
  std::ptrdiff_t make(std::uint8_t *to, std::size_t size) {
    stream.next_out = to;
    stream.avail_out = static_cast<std::uint32_t>(size);
    for (;;) {
      if (stream.avail_in == 0 && !parts.empty()) {
        const std::string_view part = parts.front();
        parts = parts.subspan(1);
        // It is not written to.
        stream.next_in = reinterpret_cast<std::uint8_t *>(const_cast<char *>(part.data()));
        stream.avail_in = static_cast<std::uint32_t>(part.size());
      }
      if (isal_inflate(&stream) != ISAL_DECOMP_OK) return -1;
      const bool can_go_on = stream.block_state != ISAL_BLOCK_FINISH && stream.avail_in == 0 &&
                             !parts.empty() && stream.avail_out > 0;
      if (!can_go_on) return static_cast<std::ptrdiff_t>(size - stream.avail_out);
    }
  }
};

Inflate::Inflate() : state_(std::make_unique<State>()) {}
Inflate::~Inflate() = default;

void Inflate::start(std::span<const std::string_view> parts, std::size_t) {
  isal_inflate_init(&state_->stream);
  state_->stream.crc_flag = ISAL_ZLIB;
  state_->stream.avail_in = 0;
  state_->parts = parts;
}

const std::uint8_t *Inflate::next(std::size_t size) {
  auto *const to = static_cast<std::uint8_t *>(state_->room.reserve(size));
  for (std::size_t done = 0; done < size;) {
    const std::ptrdiff_t made = state_->make(to + done, size - done);
    if (made <= 0) return nullptr;
    done += static_cast<std::size_t>(made);
  }
  return to;
}

bool Inflate::ended() {
  State &state = *state_;
  const inflate_state &stream = state.stream;
  // The end may not have been read yet. A byte more shows that the stream is too long.
  std::uint8_t more;
  if (stream.block_state != ISAL_BLOCK_FINISH && state.make(&more, 1) != 0) return false;
  const bool has_more_bytes = stream.read_in_length >= 8 || stream.avail_in > 0;
  return stream.block_state == ISAL_BLOCK_FINISH && !has_more_bytes && state.parts.empty();
}

}  // namespace cudascan::scan
