// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Signals that end a run: SIGINT, SIGTERM and SIGHUP. Pages in flight are finished, no new one is
/// started.
#pragma once

namespace cudascan::scan {

/// From now on these signals end the run. A second signal of the same kind ends the program at
/// once. A file that exceeds its size limit, and a pipe that nobody reads, are errors of write().
void watch_signals();
/// From now on these signals end the program at once.
void stop_watching_signals();
/// The signal that ends the run, or 0.
int received_signal();
/// Whether there was one.
bool interrupted();
/// The same for scanners, whose drivers run in this process and may have reset its handlers: those
/// are set again.
bool go_on_scanning();

}  // namespace cudascan::scan
