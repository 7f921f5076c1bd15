// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sheets_option.h"

#include "paper_option.h"

namespace cudascan::scan {

void take_sheets(const SheetsGiven &given, Options &options) {
  ScannerSettings &scanner = options.scanner;
  if (!options.scan && !options.list_devices &&
      (given.duplex || !given.backs.empty() || !given.paper.empty()))
    throw UsageError(
        "--duplex, --backs and --paper are for scanners; add --scan. The size of the paper of the "
        "output is --page-size");
  scanner.duplex = given.duplex;
  if (!given.backs.empty()) {
    if (given.backs != "upright" && given.backs != "upside-down")
      throw UsageError("--backs=" + given.backs + ": must be upright or upside-down");
    if (!given.duplex) throw UsageError("--backs is for --duplex; add it");
    scanner.backs_upside_down = given.backs == "upside-down";
  }
  if (given.paper.empty()) return;
  if (!find_paper(given.paper, scanner.paper))
    throw UsageError("--paper=" + given.paper +
                     ": must be A3, A4, A5, letter, legal, or WIDTHxHEIGHT in millimetres, 10 to "
                     "2000");
  scanner.paper_name = given.paper;
}

}  // namespace cudascan::scan
