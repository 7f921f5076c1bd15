// SPDX-License-Identifier: LGPL-2.1-or-later
#include <libdeflate.h>

#include "image.h"
#include "inflate.h"

namespace cudascan::scan {
namespace {

struct Free {
  void operator()(libdeflate_decompressor *decompressor) const {
    libdeflate_free_decompressor(decompressor);
  }
};

}  // namespace

/// All of the stream is decompressed at first.
struct Inflate::State {
  std::unique_ptr<libdeflate_decompressor, Free> decompressor{libdeflate_alloc_decompressor()};
  Memory data, room;
  std::size_t done = 0;
  bool whole = false;
};

Inflate::Inflate() : state_(std::make_unique<State>()) {}
Inflate::~Inflate() = default;

void Inflate::start(std::span<const std::string_view> parts, std::size_t size) {
  State &state = *state_;
  state.done = 0;
  state.whole = false;
  std::size_t in = 0;
  for (const std::string_view part : parts) in += part.size();
  char *const data = static_cast<char *>(state.data.reserve(in));
  std::size_t at = 0;
  for (const std::string_view part : parts) at += part.copy(data + at, part.size());
  void *const to = state.room.reserve(size);
  std::size_t used = 0, made = 0;
  state.whole = state.decompressor &&
                libdeflate_zlib_decompress_ex(state.decompressor.get(), data, in, to, size, &used,
                                              &made) == LIBDEFLATE_SUCCESS &&
                used == in && made == size;
}

const std::uint8_t *Inflate::next(std::size_t size) {
  if (!state_->whole) return nullptr;
  const auto *const from = static_cast<const std::uint8_t *>(state_->room.data()) + state_->done;
  state_->done += size;
  return from;
}

bool Inflate::ended() {
  return state_->whole;
}

}  // namespace cudascan::scan
