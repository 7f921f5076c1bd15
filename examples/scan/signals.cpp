// SPDX-License-Identifier: LGPL-2.1-or-later
#include "signals.h"

#include <signal.h>

#include <atomic>

namespace cudascan::scan {
namespace {

std::atomic<int> received{0};

constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP};

void on_signal(int number) {
  received = number;
}

}  // namespace

void watch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  for (const int number : kEnding) sigaction(number, &action, nullptr);
  // Then the file size limit is an error of write(), like a full disk.
  for (const int number : {SIGXFSZ, SIGPIPE}) signal(number, SIG_IGN);
}

void stop_watching_signals() {
  for (const int number : kEnding) signal(number, SIG_DFL);
}

int received_signal() {
  return received;
}

bool interrupted() {
  return received != 0;
}

bool go_on_scanning() {
  if (!interrupted()) watch_signals();
  return !interrupted();
}

}  // namespace cudascan::scan
