// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/nick.h"

#include "nick_oracle.h"
#include "operator_test.h"

namespace cudascan {
namespace {

CHECK_OPERATOR(Nick, NickParams, {}, {.window = 3}, {.window = 31, .k = -0.2});

}  // namespace
}  // namespace cudascan
