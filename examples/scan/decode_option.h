// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <glib.h>

#include <functional>
#include <string>

#include "decode.h"
#include "gpus.h"
#include "options.h"

namespace cudascan::scan {

/// --decode.
class DecodeOption {
 public:
  DecodeOption() = default;
  DecodeOption(const DecodeOption &) = delete;
  DecodeOption &operator=(const DecodeOption &) = delete;
  ~DecodeOption() { g_free(by_); }
  void add_to(GOptionContext *context);
  /// After the backend is known.
  /// @throws UsageError for values that are not allowed, and without a GPU
  void take(Options &options) const;

 private:
  char *by_ = nullptr;
};

/// "cpu" and so on.
const char *name_of(DecodeBy by);

/// What reading must leave to the cleaner, and loads what decodes on GPUs if it is asked for.
/// @param gpus  of the run, or nullptr
/// @param say   prints a line
void prepare_reading(const Options &options, Gpus *gpus,
                     const std::function<void(const std::string &)> &say, HowToRead &how);

}  // namespace cudascan::scan
