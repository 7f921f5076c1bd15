// SPDX-License-Identifier: LGPL-2.1-or-later
// The emulated devices of the plugin are those of the emulated driver: its current context decides.
#include "tests/elements/emulated/driver.h"

namespace {

[[maybe_unused]] const bool told = [] {
  emulation::use_driver({cudascan_current_device, cudascan_device_of_context, cudascan_device_of,
                         cudascan_hide_memory_from, cudascan_show_memory});
  return true;
}();

}  // namespace
