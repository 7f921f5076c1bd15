// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Where the viewer's frames come from.
#pragma once
#include <string>

namespace cudascan::view {

/// What was asked for; at most one of these.
struct SourceOptions {
  std::string file;    ///< a picture or a video
  std::string camera;  ///< a device of Video4Linux, for instance /dev/video0; "" = the first
  bool has_camera = false;
  std::string gige;  ///< name, or address, of a GigE Vision camera; "" = the first
  bool has_gige = false;
  std::string test;    ///< pattern of videotestsrc
  std::string launch;  ///< any launch line
};

/// The part of a launch line that gives frames.
struct Source {
  std::string launch;
  /// What names the device in the one element of `launch`, and its name. An element may look for a device
  /// as soon as it has its name, which takes long where there is none.
  std::string property, device;
  bool is_live =
      false;  ///< a device: frames that nobody takes in time are gone, and it may go away
  bool is_picture = false;  ///< one frame, again and again

  /// All of it, the device named.
  std::string line() const;
};

/// @throws std::runtime_error with a sentence for the user
Source make_source(const SourceOptions &options);

/// A word as a shell, and a launch line, takes it: in quotes where that is needed.
std::string quoted(const std::string &word);

}  // namespace cudascan::view
