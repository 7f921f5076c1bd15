// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Binarization of documents with nothing to set. All sizes and levels follow from the page.
///
/// The darkness of a pixel is how far it lies below the paper around it, relative to the paper. The
/// paper is a closing of the image, a few strokes wide, so wide dark things (stains, shadows,
/// margins) are paper, too. With g the image, g' means over 4x4 pixels at every second pixel of
/// every second row (the half), and C the closing by a square of the maxima of 2x2 of these (the
/// quarter):
///
///     darkness d = max(C - g, 0) / max(C, f)        f: half the mean of C, weighted with C
///
/// A pixel is ink where  d > T + w E / 2:  E is the least darkness of the window e x e, so that the
/// paper between strokes stays open, and T comes from Otsu's threshold t of the histogram of d and
/// from the deviation s of the darkness at or below t.
///
/// | level | what is done                                                                     |
/// |-------|----------------------------------------------------------------------------------|
/// | fast  | closing 60 pixels wide, e = 5, T = t/2 + 2 s, w = 1                              |
/// | sized | the median length r of runs of ink is measured in the result of fast; then again |
/// |       | with a closing 8 r wide, e = r, and                                              |
/// |       | T = max(min(a t, 0.35 M), 0.2 t) + b m + min(2 s, u t)                           |
/// | full  | ink without a core is dropped; dark things wider than the closing, such as       |
/// |       | headings, logos and filled boxes, become ink if their edges are sharp; dark      |
/// |       | margins at the edges of the image become paper                                   |
///
/// M is the largest mean of 2x2 darknesses in the squares of 16x16 pixels around, as many as 16 r
/// have: pale print has a lower threshold. m is the mean darkness of a square 8 r wide, of means of
/// 4x4 pixels: where there is much ink, gaps between strokes are darker. E counts up to M/2.
///
/// A core is a pixel darker than min(9/8 t, 0.55 M) whose mean over 3x3 passes with c T instead of
/// T. Of strokes of 5.25 pixels and more it is the mean of the pixel's square of 4x4.
///
/// Thin strokes are blurred, so some weights depend on r. Between two lines of this table they are
/// interpolated:
///
/// | r in pixels | a    | b    | w    | u    | c    |
/// |-------------|------|------|------|------|------|
/// | up to 3     | 0.39 | 0.38 | 1.25 | 0.59 | 0.81 |
/// | 5           | 0.43 | 0.19 | 1    | 0.39 | 1.25 |
/// | from 8 on   | 0.43 | 0.19 | 1    | 0.39 | 1.5  |
///
/// Histograms of darkness count a quarter of the pixels: of each row of 4x4 pixels the one in
/// column 0, 2, 1 or 3. A quarter of the lines is enough for r, see RunLengthParams::sparse. Runs
/// of one pixel are not measured, nor those of 255 and more.
///
/// A blank page stays white. To find out, the darkest sample of the half under each sample of the
/// quarter is compared with a closing 12 pixels wide, which follows shadows and folds. With q the
/// lower quartile of these details, relative to C, the page is blank if fewer than three of them
/// are above 0.106 + 1.5 q. Noise whose deviation is up to an eighth of the paper is blank.
///
/// A page with little ink has no threshold of its own in the histogram: if t is below 3.5 times q,
/// or below 0.05, t is chosen so that level fast begins five deviations above the mean darkness.
/// Then 0.27 t replaces 0.2 t above.
///
/// Ink lighter than the paper (white on black) is recognised by the mean distances of the means of
/// 4x4 pixels to the maxima and minima of their blocks of 32 pixels, where these differ by more
/// than a tenth of the range; then the image is inverted first.
///
/// Wide dark things are looked for in means of 4x4 pixels, against closings of the maxima of 4x4 of
/// these (the sixteenth). With D the median darkness of the ink (in every fourth row), a thing is
/// what touches, darker than 0.8 D against a closing 112 r wide. It becomes ink if it holds a
/// square 5.4 r wide that is darker than 0.8 D against a closing 28 r wide, too, and at most an
/// eighth of its edge is soft, that is, changes by less than 0.8 D.
/// Margins are what an opening by the square leaves of things that are darker than half the paper,
/// too, where it touches the edge of the image. Where these two closings are below f, they are set
/// to f.
///
/// Windows and closings are clipped at the border of the image; means repeat the edge.
///
/// The method is this project's own. Its parts: closing as paper and darkness relative to it,
/// similar to Gatos, Pratikakis, Perantonis, Pattern Recognition 39, 2006; Otsu, IEEE Trans. SMC 9,
/// 1979; reconstruction: Vincent, IEEE Trans. Image Processing 2, 1993.
///
/// Exactness: CPU and CUDA results are identical, and so are the reports.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/exec.h"
#include "kernels/histogram.h"

namespace cudascan {

enum class BinarizeLevel { fast, sized, full };

/// Whether the ink is lighter than the paper.
enum class BinarizeInvert { automatic, on, off };

enum class BinarizeOutput {
  binary,    ///< 0 for ink, Plane::maximum for paper
  darkness,  ///< 0 for paper, Plane::maximum for a black pixel on white paper
};

struct BinarizeReport;

struct BinarizeParams {
  using Report = BinarizeReport;  ///< what run() measures

  BinarizeLevel level = BinarizeLevel::full;
  BinarizeInvert invert = BinarizeInvert::automatic;
  BinarizeOutput output = BinarizeOutput::binary;
  /// Weight of the past frames in levels and stroke width, 0..0.999. They start again after a blank
  /// frame and when the ink turns from dark to light or back.
  double smoothing = 0;
  Rectangle roi = {};  ///< histograms, strokes and polarity are measured only in this part
};

/// What run() measured; valid after exec.synchronize().
struct BinarizeReport {
  bool blank = false;     ///< there is no ink
  bool inverted = false;  ///< the ink is lighter than the paper
  /// How clear the decision is whether the page is blank, 0..1: how far the third largest detail is
  /// from the limit, relative to the larger of both.
  double confidence = 0;
  double stroke_width = 0;     ///< median run of ink in pixels; 0 for level fast and blank pages
  double threshold = 0;        ///< t of the last darkness, 0..1
  double paper_deviation = 0;  ///< of the last darkness of the paper, 0..1
  double ink_darkness = 0;     ///< median darkness of ink, 0..1; 0 except for level full
  double ink_ratio = 0;        ///< share of ink in the result, 0..1
};

/// Throws BadSetting when a parameter is out of range.
CUDASCAN_API void validate(const BinarizeParams &params);
/// The settings that the result depends on with these values, by their names in messages, in the
/// order of use. The others do not count, or do not change the result.
CUDASCAN_API std::vector<const char *> settings_in_use(const BinarizeParams &params);

/// Binarizes `in`, or writes its darkness. `out` has the same size and does not overlap; its
/// `maximum` is white. Darkness needs the sample type of `in`. smoothing uses the previous frames
/// on the same executor, until its forget().
/// @throws BadSetting for parameters that validate() refuses, planes of different sizes, a roi
///         outside the plane and darkness in another depth; Error when CUDA fails
CUDASCAN_API void run(Cpu &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                      const BinarizeParams &, BinarizeReport * = nullptr);
CUDASCAN_API void run(Cpu &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
                      const BinarizeParams &, BinarizeReport * = nullptr);
CUDASCAN_API void run(Cpu &, Plane<const std::uint16_t> in, Plane<std::uint8_t> out,
                      const BinarizeParams &, BinarizeReport * = nullptr);
/// The same on the GPU, on planes in device memory. Throws Error in a build without CUDA.
CUDASCAN_API void run(Cuda &, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                      const BinarizeParams &, BinarizeReport * = nullptr);
CUDASCAN_API void run(Cuda &, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
                      const BinarizeParams &, BinarizeReport * = nullptr);
CUDASCAN_API void run(Cuda &, Plane<const std::uint16_t> in, Plane<std::uint8_t> out,
                      const BinarizeParams &, BinarizeReport * = nullptr);

}  // namespace cudascan
