// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What a translated file says about itself: the lines that begin with `//@gswo `, whose grammar is
/// in gswo/emit_file.h. They tell how its filters are run: on which images, by which kernels, with
/// which arguments.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/api.h"

namespace cudascan::gswo {

/// A number that kernels take.
struct ManifestScalar {
  enum class Role { height, width, value, turn };
  std::string name;
  Role role;
  std::optional<double> otherwise;  ///< what it is if nobody says
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

/// Numbers stand for images and scalars of the function.
namespace step {

struct Argument {
  bool is_image;
  int number;
  bool is_read = false;  ///< an image, which is not written
};
/// Runs a kernel; a copy is one of two images.
struct Kernel {
  std::string name;
  std::array<int, 2> block, tile;   ///< columns and rows: threads, and pixels for them
  std::array<int, 2> origin, lead;  ///< rows and columns
  std::vector<Argument> arguments;
};
struct Clear {
  int image;
};
struct Swap {
  int first, second;
};
/// Does the steps up to `end` count + the value of a scalar times.
struct Repeat {
  int count;
  int scalar;             ///< -1 = none
  int turn;               ///< scalar that has the number of the turn, -1 = none
  int first, difference;  ///< its first value, and from turn to turn
  std::size_t end;        ///< step behind the last one
};

}  // namespace step
using Step = std::variant<step::Kernel, step::Clear, step::Swap, step::Repeat>;

/// A filter of a file.
struct ManifestFunction {
  std::string name;
  std::vector<ManifestConstant> constants;
  std::vector<ManifestScalar> scalars;
  std::vector<std::string> unused;  ///< parameters that no kernel takes
  std::vector<ManifestImage> images;
  std::vector<Step> steps;
};

/// Whether a text has been translated.
CUDASCAN_API bool has_manifest(const std::string &text);

/// @param path  of the file, for messages
/// @throws BadSetting for another version, and for lines that are none of it
CUDASCAN_API std::vector<ManifestFunction> parse_manifest(const std::string &path,
                                                          const std::string &text);

/// Bytes of an arithmetic type of C++; 0 for other types.
CUDASCAN_API int size_of_type(const std::string &type);
/// What such a type holds, as "0 to 255", if it is one of whole numbers and this one is not among
/// them; else "". For bool each number but 0 is true.
CUDASCAN_API std::string range_missed(const std::string &type, std::int64_t number);
/// A number as a value of such a type, as it lies in memory; cut off at the ends of whole numbers.
CUDASCAN_API std::array<unsigned char, 8> value_of_type(const std::string &type, double number);

}  // namespace cudascan::gswo
