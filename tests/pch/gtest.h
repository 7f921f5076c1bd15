// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Headers that take a third of the tests' time to compile, compiled once for each program. Sources
/// include what they use all the same: -Db_pch=false compiles without this file.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>
