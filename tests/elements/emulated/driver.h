// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What the emulated driver tells the emulated runtime; see emulation::Driver.
#pragma once
#include "tests/emulation/machine.h"

extern "C" {
int cudascan_current_device();
int cudascan_device_of_context(CUctx_st *context);
int cudascan_device_of(const void *p);
void cudascan_hide_memory_from(int device);
void cudascan_show_memory();
}
