// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The properties that all elements have.
#pragma once
#include <gst/gst.h>

namespace cudascan::gst {

enum class Backend { automatic, cuda, cpu };

/// How reports are delivered; combined as bits.
enum class ReportTo : guint { nobody = 0, message = 1, meta = 2 };

struct Settings {
  Backend backend = Backend::automatic;
  gint device_id = -1;
  guint n_threads = 0;
  guint report = 0;  ///< bits of ReportTo
};

/// Property numbers. The last two are read-only and not part of Settings.
enum {
  PROP_BACKEND = 1,
  PROP_CUDA_DEVICE_ID,
  PROP_N_THREADS,
  PROP_REPORT,
  PROP_ACTIVE_BACKEND,
  PROP_STATS,
};

void install_settings(GObjectClass *klass);

/// @return false if the number is not that of a setting
bool set_setting(Settings &settings, guint id, const GValue *value);
bool get_setting(const Settings &settings, guint id, GValue *value);

}  // namespace cudascan::gst
