// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <gtest/gtest.h>

namespace cudascan::test {

/// The exit status if all tests were skipped. Meson shows it as SKIP.
inline constexpr int kSkipped = 77;

/// Runs the tests.
/// @return the exit status: kSkipped if all tests were skipped
inline int run_all() {
  const int status = RUN_ALL_TESTS();
  const testing::UnitTest &unit = *testing::UnitTest::GetInstance();
  const bool all_skipped =
      unit.test_to_run_count() > 0 && unit.skipped_test_count() == unit.test_to_run_count();
  return status == 0 && all_skipped ? kSkipped : status;
}

}  // namespace cudascan::test
