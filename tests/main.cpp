// SPDX-License-Identifier: LGPL-2.1-or-later
#include "run_all.h"

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  return cudascan::test::run_all();
}
