// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/programs.h"

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

using Code = std::shared_future<std::shared_ptr<const Built>>;

bool is_done(const Code &code) {
  return code.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

/// Its destructor stops programs that are still being made.
struct Interest {
  std::stop_source stop;
  Code code;
  ~Interest() {
    if (!is_done(code)) stop.request_stop();
  }
};

struct Known {
  std::string key;
  Code code;
  std::stop_source stop;
  std::weak_ptr<Interest> interest;

  Compiled share() {
    auto shared = interest.lock();
    if (!shared) interest = shared = std::make_shared<Interest>(stop, code);
    return {code, shared};
  }
};

struct AllKnown {
  std::mutex mutex;
  std::list<Known> latest_first;
  ~AllKnown() {
    for (Known &known : latest_first) known.stop.request_stop();  // then wait for them
  }
};

/// The key with everything else that decides whether and how code is compiled.
std::string key_of(const Program &program) {
  std::string key = program.key;
  for (const char *variable : {"CUDASCAN_CXX", "CUDASCAN_GSWO_CC", "CUDASCAN_NO_USER_CODE"})
    if (const char *value = std::getenv(variable))
      key += std::string("\n") + variable + "=" + value;
  return key;
}

std::shared_ptr<const Built> make_now(const Program &program, const std::stop_token &stop) {
  try {
    return std::make_shared<const Built>(program.make(stop));
  } catch (const Error &) {
    throw;
  } catch (const std::exception &e) {
    throw Error(std::string("the filter could not be compiled: ") + e.what() +
                "; free some memory or space for temporary files");
  }
}

}  // namespace

Compiled compile(const Program &program) {
  static AllKnown all;
  std::list<Known> given_up;  // waited for without the lock
  const std::string key = key_of(program);
  const std::lock_guard lock(all.mutex);
  std::list<Known> &latest_first = all.latest_first;
  for (auto known = latest_first.begin(); known != latest_first.end();) {
    const auto next = std::next(known);
    if (known->stop.stop_requested()) given_up.splice(given_up.end(), latest_first, known);
    known = next;
  }
  const auto known = std::find_if(latest_first.begin(), latest_first.end(),
                                  [&](const Known &k) { return k.key == key; });
  if (known != latest_first.end()) {
    latest_first.splice(latest_first.begin(), latest_first, known);
    return known->share();
  }
  std::stop_source stop;
  Code code = std::async(std::launch::async, make_now, program, stop.get_token());
  latest_first.push_front({key, std::move(code), stop, {}});
  const Compiled compiled = latest_first.front().share();
  // A program that is still being made would have to be waited for.
  for (auto last = latest_first.end(); latest_first.size() > kMostPrograms;) {
    if (last == latest_first.begin()) break;
    if (is_done((--last)->code)) last = latest_first.erase(last);
  }
  return compiled;
}

namespace {

/// The place at the start of a message, "file:line", or nothing.
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
    return compiled.code.get();
  } catch (const BadSetting &e) {
    throw BadSetting(about_users_text(e.what()));
  }
}

bool is_ready(const Compiled &compiled) {
  return is_done(compiled.code);
}

}  // namespace cudascan::gswo
