// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/gswo/programs.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <list>
#include <mutex>
#include <set>
#include <sstream>

#include "common/error.h"

namespace cudascan::gswo {
namespace {

constexpr std::size_t kMostPrograms = 64;

struct Known {
  std::string key;
  Compiled code;
};

/// With what else decides how code is compiled, and whether.
std::string key_of(const Program &program) {
  std::string key = program.key;
  for (const char *variable : {"CUDASCAN_CXX", "CUDASCAN_GSWO_CC", "CUDASCAN_NO_USER_CODE"})
    if (const char *value = std::getenv(variable))
      key += std::string("\n") + variable + "=" + value;
  return key;
}

std::shared_ptr<const Built> make_now(const Program &program) {
  try {
    return std::make_shared<const Built>(program.make());
  } catch (const Error &) {
    throw;
  } catch (const std::exception &e) {
    throw Error(std::string("the filter could not be compiled: ") + e.what() +
                "; free some memory and space for temporary files");
  }
}

}  // namespace

Compiled compile(const Program &program) {
  static std::mutex mutex;
  static std::list<Known> latest_first;
  std::string key = key_of(program);
  std::lock_guard lock(mutex);
  const auto known = std::find_if(latest_first.begin(), latest_first.end(),
                                  [&](const Known &k) { return k.key == key; });
  if (known != latest_first.end()) {
    latest_first.splice(latest_first.begin(), latest_first, known);
    return known->code;
  }
  latest_first.push_front({std::move(key), std::async(std::launch::async, make_now, program)});
  const Compiled code = latest_first.front().code;
  // One that is still under way would have to be waited for.
  for (auto last = latest_first.end(); latest_first.size() > kMostPrograms;) {
    if (last == latest_first.begin()) break;
    if (is_ready((--last)->code)) last = latest_first.erase(last);
  }
  return code;
}

namespace {

/// The place that a message begins with, "file:line", or nothing.
std::string place_of(const std::string &message) {
  const auto file = message.find(':');
  const auto line = file == std::string::npos ? file : message.find(':', file + 1);
  return line == std::string::npos ? "" : message.substr(0, line);
}

std::string about_users_text(const std::string &messages) {
  std::istringstream lines(messages);
  std::string kept;
  std::set<std::string> places;
  for (std::string line; std::getline(lines, line);) {
    const bool of_header = line.rfind("gswo/", 0) == 0;
    if (of_header || line.find("error:") == std::string::npos ||
        !places.insert(place_of(line)).second)
      continue;
    kept += (kept.empty() ? "" : "\n") + line;
  }
  return kept.empty() ? messages : kept;
}

}  // namespace

std::shared_ptr<const Built> built(const Compiled &compiled) {
  try {
    return compiled.get();
  } catch (const BadSetting &e) {
    throw BadSetting(about_users_text(e.what()));
  }
}

bool is_ready(const Compiled &code) {
  return code.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace cudascan::gswo
