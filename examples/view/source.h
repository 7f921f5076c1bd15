// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Where the viewer's frames come from.
#pragma once
#include <string>

namespace cudascan::view {

/// What the user asked for; at most one of these.
struct SourceOptions {
  std::string file;    ///< a picture or a video
  std::string camera;  ///< a Video4Linux device such as /dev/video0; "" = the first
  bool has_camera = false;
  std::string gige;  ///< name, or address, of a GigE Vision camera; "" = the first
  bool has_gige = false;
  std::string test;    ///< pattern of videotestsrc
  std::string launch;  ///< any launch line
};

/// The part of a launch line that gives frames.
struct Source {
  std::string launch;
  /// Property of the element in `launch` that names the device, and the name. It is set separately,
  /// because an element may look for the device as soon as it has the name. That takes long if the
  /// device is missing.
  std::string property, device;
  std::string name{};       ///< for messages: the file, or ""
  bool is_live = false;     ///< a device: it does not wait, and it may disappear
  bool is_picture = false;  ///< one frame, repeated

  /// The complete launch line, with the device.
  std::string line() const;
};

/// A picture or a video.
/// @throws std::runtime_error with a sentence when there is no such file
Source file_source(const std::string &path);
/// A pattern of videotestsrc.
Source test_source(const std::string &pattern);
/// What the user asked for, or the first camera. Without one, a source without a launch line.
/// @throws std::runtime_error with a sentence for the user
Source make_source(const SourceOptions &options);

/// What make_source() looked for, in a sentence.
std::string no_camera_text();

/// A word for a shell or a launch line, in quotes if needed.
std::string quoted(const std::string &word);

}  // namespace cudascan::view
