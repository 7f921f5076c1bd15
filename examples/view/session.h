// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// One run of the program: what is to be done at which time, and when it is over.
#pragma once
#include <glib.h>

#include <functional>
#include <string>
#include <vector>

#include "options.h"
#include "player.h"

namespace cudascan::view {

class Session {
 public:
  /// Both must outlive it. SIGINT and SIGTERM end the session.
  /// @param set_divider  called for actions that move the divider
  Session(const Options &options, Player &player, std::function<void(double)> set_divider);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  /// Runs the actions that are due.
  void act();
  bool over() const;
  bool stopped() const { return stopped_; }  ///< by a signal

  void print_stats(double divider) const;

 private:
  void run(const Action &action);
  double seconds() const { return (g_get_monotonic_time() - begin_) / 1e6; }

  const Options &options_;
  Player &player_;
  const std::function<void(double)> set_divider_;
  const gint64 begin_ = g_get_monotonic_time();
  std::size_t next_ = 0;
  bool stopped_ = false;
  std::vector<guint> signals_;
};

}  // namespace cudascan::view
