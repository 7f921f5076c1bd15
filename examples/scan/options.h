// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>
#include <vector>

#include "common/error.h"
#include "encode.h"
#include "nvjpeg.h"
#include "outputs.h"
#include "pdf_facts.h"
#include "place.h"
#include "progress.h"
#include "scanner.h"
#include "split.h"
#include "steps.h"

namespace cudascan::scan {

/// Exit status.
enum ExitStatus {
  kAllDone = 0,
  kSomeLeftOut = 1,
  kWrongUsage = 2,
  kNothingDone = 3,
  kDiskFull = 4,
  kSignal = 128,  ///< plus the number of the signal
};

/// A command line that makes no sense.
class UsageError : public Error {
 public:
  using Error::Error;
};

struct Options {
  std::vector<std::string> inputs;
  std::string output;
  OutputKind kind = OutputKind::folder;
  bool scan = false, list_devices = false, version = false;
  ScannerSettings scanner;
  double resolution = 300;  ///< of scanners, and of files that do not state theirs
  Steps steps;
  Split split = Split::no;
  std::string method;  ///< its name
  Format format = Format::tiff;
  Outputs outputs;
  Backend backend = Backend::automatic;
  std::vector<int> gpus;  ///< numbers of the devices; empty = the first one
  bool all_gpus = false;  ///< all instead
  DecodeBy decode = DecodeBy::cpu;
  int jobs = 0;  ///< 0 = as jobs_of() says
  bool recursive = false, dry_run = false, resume = false, salvage = false;
  Talk talk = Talk::normal;
  std::string stats;
  std::string files_from;  ///< a file of names, "-" = standard input, "" = none
  bool null = false;       ///< names in it end with NUL, not with a newline
  PdfFacts pdf;            ///< for a PDF
  std::string ocr;         ///< languages of its text, "" = no text
};

/// @param words      the name of the program and its arguments
/// @param is_served  the words came on standard input; then --help is not known
/// @throws UsageError with a sentence: option, value and what is allowed
Options parse_options(const std::vector<std::string> &words, bool is_served);

}  // namespace cudascan::scan
