// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpus_option.h"

#include <algorithm>
#include <charconv>

namespace cudascan::scan {

void take_gpus(const char *given, Options &options) {
  // The name of a scanner has the form DRIVER:NAME.
  if (const std::string &scanner = options.scanner.device;
      scanner == "all" ||
      (!scanner.empty() && scanner.find_first_not_of("0123456789,") == std::string::npos))
    throw UsageError("--device=" + scanner + ": is for the name of a scanner; GPUs are chosen by " +
                     "--cuda-device=" + scanner);
  if (!given) return;
  const std::string text = given;
  if (options.backend == Backend::cpu)
    throw UsageError("--cuda-device=" + text + ": --backend=cpu does not use a GPU");
  options.all_gpus = text == "all";
  const char *at = text.data(), *const end = at + text.size();
  for (bool more = !options.all_gpus; more;) {
    int number = -1;
    const auto [next, error] = std::from_chars(at, end, number);
    more = next != end && *next == ',';
    if (error != std::errc() || number < 0 || (next != end && !more))
      throw UsageError("--cuda-device=" + text +
                       ": must be all, a number, or numbers such as 0,2; nvidia-smi lists them");
    if (std::find(options.gpus.begin(), options.gpus.end(), number) != options.gpus.end())
      throw UsageError("--cuda-device=" + text + ": names " + std::to_string(number) + " twice");
    options.gpus.push_back(number);
    at = next + 1;
  }
}

}  // namespace cudascan::scan
