// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The description in a translated file: the lines that begin with `//@gswo `, whose grammar is in
/// gswo/emit_file.h. They say how to run its filters: with which images, kernels and arguments.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/api.h"

namespace cudascan::gswo {

/// A number as kernel argument.
struct ManifestScalar {
  enum class Role { height, width, value, turn };
  std::string name;
  Role role;
  std::optional<double> otherwise;  ///< default value
  std::string type;                 ///< of C++
};

/// A parameter that is a constant in the code.
struct ManifestConstant {
  std::string name;
  double value;
};

/// An image that kernels read or write, of the size of the frame.
struct ManifestImage {
  enum class Place { source, destination, scratch };
  std::string name;
  Place place;
  std::string type;  ///< of C++; of the pixels of a scratch image
};

/// Numbers are indices of the function's images and scalars.
namespace step {

struct Argument {
  bool is_image;
  int number;
  bool is_read = false;  ///< an image that is only read
};
/// Runs a kernel; a copy is a kernel with two images.
struct Kernel {
  std::string name;
  std::array<int, 2> block, tile;   ///< columns and rows: threads, and their pixels
  std::array<int, 2> origin, lead;  ///< rows and columns
  std::vector<Argument> arguments;
};
struct Clear {
  int image;
};
struct Swap {
  int first, second;
};
/// Repeats the steps up to `end` count + the value of a scalar times.
struct Repeat {
  int count;
  int scalar;             ///< -1 = none
  int turn;               ///< scalar with the number of the repetition, -1 = none
  int first, difference;  ///< its first value and its increment
  std::size_t end;        ///< the step after the last one
};

}  // namespace step
using Step = std::variant<step::Kernel, step::Clear, step::Swap, step::Repeat>;

/// A filter of a file.
struct ManifestFunction {
  std::string name;
  std::vector<ManifestConstant> constants;
  std::vector<ManifestScalar> scalars;
  std::vector<std::string> unused;  ///< parameters that no kernel uses
  std::vector<ManifestImage> images;
  std::vector<Step> steps;
};

/// Whether a text has been translated.
CUDASCAN_API bool has_manifest(const std::string &text);

/// @param path  of the file, for messages
/// @throws BadSetting for another version and for wrong lines
CUDASCAN_API std::vector<ManifestFunction> parse_manifest(const std::string &path,
                                                          const std::string &text);

/// Bytes of an arithmetic type of C++; 0 for other types.
CUDASCAN_API int size_of_type(const std::string &type);
/// The range of such a type, such as "0 to 255", if it is an integer type and does not hold this
/// value; else "". For bool every number except 0 is true.
CUDASCAN_API std::string range_missed(const std::string &type, std::int64_t number);
/// A number as the bytes of such a type; integers are clamped to the range.
CUDASCAN_API std::array<unsigned char, 8> value_of_type(const std::string &type, double number);

}  // namespace cudascan::gswo
