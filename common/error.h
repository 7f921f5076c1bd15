// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <stdexcept>

namespace cudascan {

/// Thrown by everything that cannot do its work. what() is a sentence for the user: it names the
/// setting, its value and what would be right. The GStreamer layer turns it into an element error.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A setting of the caller makes no sense; the message names it, its value and the remedy.
struct BadSetting : Error {
  using Error::Error;
};

}  // namespace cudascan
