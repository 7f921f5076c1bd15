// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The properties that all elements have.
#pragma once
#include <gst/gst.h>

#include "kernels/used_bits.h"

namespace cudascan::gst {

enum class Backend { automatic, cuda, cpu };

/// How reports are delivered; combined as bits.
enum class ReportTo : guint { nobody = 0, message = 1, meta = 2, analytics = 4 };

struct Settings {
  Backend backend = Backend::automatic;
  gint device_id = -1;
  guint n_threads = 0;
  guint report = 0;  ///< bits of ReportTo
  SignificantBits bits;
};

/// Property numbers. Those from PROP_ACTIVE_BACKEND on are read-only and not part of Settings.
enum {
  PROP_BACKEND = 1,
  PROP_CUDA_DEVICE_ID,
  PROP_N_THREADS,
  PROP_REPORT,
  PROP_SIGNIFICANT_BITS,
  PROP_BIT_ALIGNMENT,
  PROP_ACTIVE_BACKEND,
  PROP_STATS,
  PROP_ACTIVE_SIGNIFICANT_BITS,
  PROP_ACTIVE_BIT_ALIGNMENT,
  PROP_SETTINGS_IN_USE,
};

void install_settings(GObjectClass *klass);

/// @return false if the number is not that of a setting
bool set_setting(Settings &settings, guint id, const GValue *value);
bool get_setting(const Settings &settings, guint id, GValue *value);

}  // namespace cudascan::gst
