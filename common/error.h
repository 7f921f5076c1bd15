// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <stdexcept>

namespace cudascan {

/// Thrown by everything that cannot do its work. what() is a sentence for the user: it names the
/// setting, its value and what is allowed. The GStreamer layer turns it into an element error.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A wrong setting of the caller; the message names the setting, its value and the remedy.
struct BadSetting : Error {
  using Error::Error;
};

}  // namespace cudascan
