// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The folder of the documents that tests read. They are not part of the project.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace cudascan::test {

inline std::filesystem::path data_folder() {
  const char *const folder = std::getenv("CUDASCAN_TEST_DATA");
  return folder ? folder : CUDASCAN_DEFAULT_TEST_DATA;
}

}  // namespace cudascan::test

/// Skips a test if a file is missing.
#define NEED_DATA(file)                                                   \
  if (!std::filesystem::exists(::cudascan::test::data_folder() / (file))) \
  GTEST_SKIP() << "missing: " << ::cudascan::test::data_folder() / (file) \
               << "; CUDASCAN_TEST_DATA names the folder"
