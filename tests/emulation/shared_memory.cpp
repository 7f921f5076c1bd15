// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared memory: its addresses, and copies to it.
#include <algorithm>
#include <cstring>

#include "device.h"

namespace cudascan {

using emulation::device;
using emulation::fail;

namespace {

constexpr unsigned kDynamic = 0x40000000;  // the first address of dynamic shared memory
constexpr unsigned kStatic = 0x80000000;   // the first address of static shared memory
alignas(128) unsigned char anchor;

/// The content of a barrier, 8 bytes.
struct Barrier {
  std::int32_t bytes;     ///< still to arrive
  std::int16_t arrivals;  ///< still to come
  std::int16_t phase;

  void advance() {
    if (bytes != 0 || arrivals != 0) return;
    phase ^= 1;
    arrivals = 1;
    emulation::progress();
  }
};
static_assert(sizeof(Barrier) == 8);

Barrier &barrier_at(unsigned address) {
  return *reinterpret_cast<Barrier *>(shared_pointer(address));
}

void make(const emulation::PendingCopy &copy) {
  const CUtensorMap &t = copy.tensor;
  unsigned char *to = shared_pointer(copy.to);
  const auto inside = [](int i, cuuint64_t size) {
    return i >= 0 && static_cast<cuuint64_t>(i) < size;
  };
  for (cuuint32_t k = 0; k < t.box[2]; ++k)
    for (cuuint32_t j = 0; j < t.box[1]; ++j)
      for (cuuint32_t i = 0; i < t.box[0]; ++i, to += t.element) {
        const int x = copy.x + i, y = copy.y + j, z = copy.z + k;
        if (inside(x, t.size[0]) && inside(y, t.size[1]) && inside(z, t.size[2]))
          std::memcpy(to, t.data + x * t.element + y * t.stride[0] + z * t.stride[1], t.element);
        else
          std::memset(to, 0, t.element);
      }
  Barrier &barrier = barrier_at(copy.barrier);
  barrier.bytes -= static_cast<std::int32_t>(t.box[0] * t.box[1] * t.box[2] * t.element);
  barrier.advance();
}

}  // namespace

unsigned shared_address(const void *p) {
  const auto *byte = static_cast<const unsigned char *>(p);
  const unsigned char *const shared = emulation::shared_memory();
  if (byte >= shared && byte <= shared + device().shared_size)
    return kDynamic + static_cast<unsigned>(byte - shared);
  const std::ptrdiff_t from_anchor = byte - &anchor;
  if (from_anchor < -0x20000000 || from_anchor > 0x20000000)
    fail("shared_address: not in shared memory");
  return kStatic + static_cast<unsigned>(from_anchor);
}
unsigned char *shared_pointer(unsigned address) {
  if (address < kDynamic + 0x10000000) return emulation::shared_memory() + (address - kDynamic);
  return &anchor + static_cast<std::int32_t>(address - kStatic);
}

void start_copy(unsigned address, const void *global, unsigned bytes) {
  const auto refuse = [&](const char *which) {
    fail("copy_async: " + (which + (" no multiple of " + std::to_string(bytes))) + " bytes");
  };
  if (address % bytes != 0) refuse("to");
  if (reinterpret_cast<std::uintptr_t>(global) % bytes != 0) refuse("from");
  emulation::Fiber &thread = device().current();
  if (device().random() % 2 == 0)
    std::memcpy(shared_pointer(address), global, bytes);
  else
    thread.copies.push_back({address, global, bytes, thread.groups});
}
void commit_copies() {
  ++device().current().groups;
}
void wait_for_latest_copies(int n) {
  emulation::Fiber &thread = device().current();
  std::erase_if(thread.copies, [&](const emulation::StartedCopy &copy) {
    if (thread.groups - copy.group <= static_cast<unsigned>(n)) return false;
    std::memcpy(shared_pointer(copy.to), copy.from, copy.bytes);
    return true;
  });
}

void add_common_bits(int (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  struct Words {
    unsigned a[4], b[2];
  } mine;
  std::copy_n(a, 4, mine.a);
  std::copy_n(b, 2, mine.b);
  const std::uint64_t *const all =
      emulation::exchange(reinterpret_cast<std::uintptr_t>(&mine), "add_common_bits");
  // Word number `word` of a row of a, or of a column of b.
  const auto of_lane = [&](int i, int k) {
    return reinterpret_cast<const Words *>(all[4 * i + k]);
  };
  const auto a_word = [&](int row, int word) {
    return of_lane(row % 8, word % 4)->a[word / 4 * 2 + row / 8];
  };
  const auto b_word = [&](int column, int word) { return of_lane(column, word % 4)->b[word / 4]; };
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int i = 0; i < 4; ++i)
    for (int word = 0; word < 8; ++word)
      sums[i] += __popc(a_word(lane / 4 + i / 2 * 8, word) & b_word(lane % 4 * 2 + i % 2, word));
  emulation::exchange(0, "add_common_bits");  // waits until the others have read this lane's words
}

void CopyBarrier::init() const {
  if (address_ % 8 != 0) fail("a barrier is at no multiple of 8 bytes");
  barrier_at(address_) = {0, 1, 0};
}
void CopyBarrier::expect(bool mine, int bytes) const {
  if (!mine) return;
  Barrier &barrier = barrier_at(address_);
  barrier.bytes += bytes;
  --barrier.arrivals;
  barrier.advance();
}
void CopyBarrier::copy(bool mine, const CUtensorMap &tensor, unsigned to, int x, int y,
                       int z) const {
  if (!mine) return;
  if (to % 128 != 0) fail("a copy goes to no multiple of 128 bytes");
  if (x * static_cast<int>(tensor.element) % 16 != 0)
    fail("a copy begins at no multiple of 16 bytes");
  const emulation::PendingCopy copy{address_, tensor, to, x, y, z};
  if (device().random() % 2 == 0)
    make(copy);
  else
    device().block().copies.push_back(copy);
}
void CopyBarrier::wait(unsigned phase) const {
  for (;;) {
    std::erase_if(device().block().copies, [this](const emulation::PendingCopy &copy) {
      if (copy.barrier != address_) return false;
      make(copy);
      return true;
    });
    if (static_cast<unsigned>(barrier_at(address_).phase) != phase) return;
    emulation::yield();  // another thread may not have started the copy yet
  }
}

}  // namespace cudascan
