// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The processing of a page between reading and writing, and what it measures.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "box.h"
#include "image.h"
#include "kernels/autothreshold.h"
#include "kernels/binarize.h"
#include "kernels/nick.h"

namespace cudascan::scan {

/// What is done with blank pages.
enum class Blank {
  keep,   ///< they are like others
  drop,   ///< they are not written
  aside,  ///< they are put into a folder, or after the others
};

/// What is left of a page.
enum class Crop {
  no,       ///< all of it
  page,     ///< the sheet in its surround
  content,  ///< what is printed or written on it
};

/// "no" and so on.
inline const char *name_of(Crop crop) {
  return crop == Crop::no ? "no" : crop == Crop::page ? "page" : "content";
}

/// Millimetres; 0 = as large as the page.
struct Paper {
  double width = 0, height = 0;
};

/// "keep" and so on.
inline const char *name_of(Blank blank) {
  return blank == Blank::keep ? "keep" : blank == Blank::drop ? "drop" : "aside";
}

enum class Backend { automatic, cuda, cpu };

struct Steps {
  bool straighten = true;
  double resolution = 300;        ///< of pages that state none and whose letters do not tell it
  bool resolution_given = false;  ///< it is used without looking at the page
  bool enlarge = true;            ///< pages of low resolution
  double max_angle = 10;          ///< degrees, 0.1..10; pages rotated by more stay unchanged
  double min_confidence = 0;      ///< 0..1; 0 = kTrusted in straighten.h
  bool upright = false;           ///< turn pages that lie on their side or upside down
  bool dewarp = false;            ///< straighten curved lines of text
  bool whiten_border = true;      ///< of the scanner, where it touches the edge of the image
  Blank blank = Blank::keep;
  Crop crop = Crop::no;
  double margin = 6.35;  ///< mm around what is left, as far as there is a page
  Paper paper;           ///< on which it is put
  bool even_light = true;
  /// Pages that are already black and white are thresholded in the middle instead.
  std::variant<BinarizeParams, NickParams, AutothresholdParams> binarize;
  bool scale_window = false;  ///< that of NickParams follows the resolution
  /// Pixels in a row that ink must have in some direction, 0..64; 0 and 1 = keep all, kByResolution
  /// = 3 at 300 dpi.
  int despeckle = kByResolution;
  static constexpr int kByResolution = -1;
  /// The result is only wanted in CCITT group 4.
  bool only_group4 = false;
  /// The page is looked at after the steps, so what they have changed in it is copied from the GPU.
  bool keep_page = false;
};

/// Instead of the number of a GPU: the CPU, or nothing was to be computed.
inline constexpr int kCpu = -1, kNowhere = -2;

/// What was measured on a page.
struct Findings {
  Resolution resolution;        ///< of the page as it was read
  std::string resolution_from;  ///< how it is known
  /// By how much the page was enlarged before all other steps, which use the larger page.
  double enlarged = 1;
  double angle = 0;        ///< degrees counter-clockwise by which the page is rotated
  double confidence = 0;   ///< in the angle, 0..1
  bool turned = false;     ///< whether the page was rotated back by it
  std::string not_turned;  ///< why not, a few words
  /// Degrees counter-clockwise by which the page lay, 0, 90, 180 or 270, and was turned back; the
  /// angle is that of the page after that.
  int orientation = 0;
  double orientation_confidence = 0;  ///< 0..1
  std::string not_upright;            ///< why the orientation is not known
  bool dewarped = false;              ///< whether curved lines were made straight
  double bend = 0;                    ///< by how many pixels at most
  std::string not_dewarped;           ///< why not, if it was asked for
  bool cropped = false;               ///< whether it was asked for
  Box box;                            ///< what is left of the straightened page, in pixels
  bool blank = false;                 ///< whether there is nothing on it; see Steps::blank
  double border = 0;                  ///< share of the page that was whitened, 0..1
  std::string mode;                   ///< what it was written as, if it could be something else
  double pictures = 0;                ///< share of the page, 0..1
  std::vector<Box> picture_boxes;     ///< in pixels of the page as it is written
  double colour = 0;                  ///< share of the page that is coloured, 0..1
  int threshold = -1;                 ///< of methods with one threshold for the page, else -1
  /// Milliseconds in which a worker read and decoded, measured, computed or waited for the GPU, and
  /// compressed and wrote.
  double read_ms = 0, straighten_ms = 0, clean_ms = 0, write_ms = 0;
  double encode_ms = 0;   ///< the part of write_ms that compressed
  int device = kNowhere;  ///< GPU that made the page, kCpu or kNowhere
  /// What decoded the page, if a GPU was asked to: "gpu-engines", "gpu-kernels",
  /// "gpu-nvimagecodec" or "cpu".
  std::string decoder;
  std::string not_on_gpu;  ///< why the CPU did
};

class Border;

/// Cleans pages, one at a time; it keeps its memory for the next page.
class Cleaner {
 public:
  virtual ~Cleaner() = default;
  /// @param page   some steps change it
  /// @param clean  the result: 8 bits, 0 and 255; not set for blank pages that are not written, and
  ///               only shaped if group4() has the result
  /// @throws Error when memory or the GPU fails
  virtual void clean(Image &page, const Steps &steps, Image &clean, Findings &found) = 0;
  /// The result of the last page in CCITT group 4, if Steps asked for that and it is not empty.
  virtual const std::string &group4() const = 0;
  /// Turns a plane of the same page as clean() turns it, when it found that angle.
  virtual void turn(const Image &plane, double angle, Image &to) = 0;
  /// Straightens the lines of a plane of the same page, when clean() did that to the page.
  virtual void flatten(Image &plane) = 0;
  /// The border of the last page, if clean() found one; in pixels of the page before it was turned.
  virtual const Border &border() const = 0;
};

class Gpus;

/// On one thread of the CPU, or on a stream of one of the GPUs; then images should be pinned. If
/// that GPU fails, the page is finished on another one. Made, used and destroyed by one thread.
/// @param gpus  nullptr = the CPU
/// @throws NoGpu, as do its functions
std::unique_ptr<Cleaner> make_cleaner(Gpus *gpus);

}  // namespace cudascan::scan
