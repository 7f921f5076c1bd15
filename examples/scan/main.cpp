// SPDX-License-Identifier: LGPL-2.1-or-later
// cudascan-scan makes pages from files or a scanner straight, clean and bilevel. See docs/scan.md.
#include "kept.h"
#include "run.h"
#include "serve.h"

int main(int argc, char **argv) {
  using namespace cudascan;
  const std::vector<std::string> words(argv, argv + argc);
  if (scan::is_server(words)) return scan::serve(words[0]);
  scan::Kept kept;
  return scan::run(words, kept);
}
