// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/scratch.h"

#include <gtest/gtest.h>

#include <cstring>

namespace cudascan::swo {
namespace {

TEST(SwoFilterScratch, IsEmptyAfterItCouldNotGrow) {
  constexpr std::size_t kTooMuch = std::size_t{1} << 60;  // exceeds the address space
  ThreadScratch::of_thread().take<char>(4096);
  EXPECT_THROW(ThreadScratch::of_thread().take<char>(kTooMuch), std::bad_alloc);
  char *memory = ThreadScratch::of_thread().take<char>(16);
  ASSERT_NE(memory, nullptr);
  std::memset(memory, 1, 16);
}

}  // namespace
}  // namespace cudascan::swo
