// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <glib.h>

#include "options.h"

namespace cudascan::scan {

/// The options for PDFs.
class PdfOption {
 public:
  PdfOption() = default;
  PdfOption(const PdfOption &) = delete;
  PdfOption &operator=(const PdfOption &) = delete;
  ~PdfOption();
  void add_to(GOptionContext *context);
  /// After the output is known.
  /// @throws UsageError for values that are not allowed, and for outputs that are no PDF
  void take(Options &options) const;

 private:
  char *title_ = nullptr, *author_ = nullptr, *subject_ = nullptr, *keywords_ = nullptr,
       *language_ = nullptr, *ocr_ = nullptr, *compression_ = nullptr;
};

}  // namespace cudascan::scan
