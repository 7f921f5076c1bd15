// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Runs the kernel output of gswo-cc as its manifest says (gswo/emit_file.h), on the CPU and as
/// emulated CUDA.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tool.h"

namespace cudascan::gswo::test {

/// Pixels of any type, with gaps between the rows.
class Picture {
 public:
  Picture() = default;
  Picture(int width, int height, std::size_t pixel_size)
      : width_(width),
        height_(height),
        pitch_((width * pixel_size + 15 + 16) / 16 * 16),
        bytes_(pitch_ * height, 0xa5) {}

  int width() const { return width_; }
  int height() const { return height_; }
  std::size_t pitch() const { return pitch_; }
  unsigned char *data() { return bytes_.data(); }
  template <typename T>
  T &at(int x, int y) {
    return reinterpret_cast<T *>(bytes_.data() + y * pitch_)[x];
  }
  std::vector<unsigned char> &bytes() { return bytes_; }

 private:
  int width_ = 0, height_ = 0;
  std::size_t pitch_ = 0;
  std::vector<unsigned char> bytes_;
};

class Filter {
 public:
  struct Setup {
    std::string source;                ///< name of a file in tests/gswo/sources
    std::vector<std::string> options;  ///< of gswo-cc
    std::string pixel = "unsigned char";
    int border = 0;
    bool optimised = false;
  };
  explicit Filter(const Setup &);

  /// @param values  values of the scalars that have no default
  Picture run(Picture source, const std::map<std::string, double> &values, bool emulated) const;

  const std::string &text() const { return text_; }

 private:
  struct Image {
    std::string place, type;
  };
  struct Scalar {
    std::string role, type, value;
  };
  using Words = std::vector<std::string>;

  void read_manifest();
  Picture blank(const std::string &image, const Picture &like) const;

  Folder folder_;
  std::string text_, pixel_;
  std::unique_ptr<Library> cpu_, emulated_;
  std::map<std::string, Image> images_;
  std::map<std::string, Scalar> scalars_;
  std::vector<Words> steps_;
};

}  // namespace cudascan::gswo::test
