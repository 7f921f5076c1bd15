// SPDX-License-Identifier: LGPL-2.1-or-later
// The steps of cudascan-scan with Leptonica's functions, for examples/scan/compare.py.
//
//     scan-peer-leptonica OUTPUT INPUT...
//
// Each INPUT becomes OUTPUT/NAME.tif, CCITT group 4.
//
//     scan-peer-leptonica --skew INPUT...
//
// Prints angle, counter-clockwise, and confidence of pixFindSkew for each INPUT, for
// measure_pages.py.
//
//     scan-peer-leptonica --dewarp INPUT OUTPUT
//
// Makes curved lines straight by dewarpSinglePage, for measure_dewarp.py. Pages that it gives no
// model for stay as they are.
#include <leptonica/allheaders.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace {

struct Destroy {
  void operator()(Pix *pix) const { pixDestroy(&pix); }
};
using PixPtr = std::unique_ptr<Pix, Destroy>;

/// Prints what pixFindSkew finds; its documentation trusts confidences from 3 on.
bool print_skew(const char *input) {
  PixPtr page(pixRead(input));
  if (page) page.reset(pixConvertTo8(page.get(), 0));
  const PixPtr even(page ? pixBackgroundNormSimple(page.get(), nullptr, nullptr) : nullptr);
  const PixPtr black(page ? pixConvertTo1(even ? even.get() : page.get(), 130) : nullptr);
  l_float32 angle = 0, confidence = 0;
  if (!black) return false;
  if (pixFindSkew(black.get(), &angle, &confidence) != 0) angle = confidence = 0;
  std::printf("%.4f %.4f\n", angle, confidence);
  return true;
}

/// pixFindSkew needs a bilevel copy to measure the angle.
PixPtr straight(PixPtr page) {
  constexpr int kFixedThreshold = 130;
  constexpr float kLeastConfidence = 3;
  const PixPtr black(pixConvertTo1(page.get(), kFixedThreshold));
  l_float32 angle = 0, confidence = 0;
  if (!black || pixFindSkew(black.get(), &angle, &confidence) != 0) return page;
  if (confidence < kLeastConfidence || std::fabs(angle) < 0.01F) return page;
  return PixPtr(pixRotate(page.get(), angle * static_cast<float>(M_PI) / 180, L_ROTATE_AREA_MAP,
                          L_BRING_IN_WHITE, 0, 0));
}

/// Evens out the light on the paper with the defaults of pixBackgroundNormSimple.
PixPtr evenly_lit(PixPtr page) {
  PixPtr even(pixBackgroundNormSimple(page.get(), nullptr, nullptr));
  return even ? std::move(even) : std::move(page);
}

/// Sauvola's threshold: Leptonica's closest method to NICK.
PixPtr bilevel(const PixPtr &page) {
  constexpr int kHalfWindow = 33, kTiles = 4;
  constexpr float kWeight = 0.34F;
  Pix *black = nullptr;
  pixSauvolaBinarizeTiled(page.get(), kHalfWindow, kWeight, kTiles, kTiles, nullptr, &black);
  return PixPtr(black);
}

/// Removes specks of less than 3 pixels in both directions.
PixPtr clean(const PixPtr &page) {
  return PixPtr(pixSelectBySize(page.get(), 3, 3, 8, L_SELECT_IF_EITHER, L_SELECT_IF_GTE, nullptr));
}

bool make(const std::filesystem::path &input, const std::filesystem::path &folder) {
  PixPtr page(pixRead(input.c_str()));
  if (!page) return false;
  page.reset(pixConvertTo8(page.get(), 0));
  page = evenly_lit(std::move(page));
  page = straight(std::move(page));
  page = bilevel(page);
  if (page) page = clean(page);
  const auto output = folder / (input.stem().string() + ".tif");
  return page && pixWrite(output.c_str(), page.get(), IFF_TIFF_G4) == 0;
}

bool dewarp(const char *input, const char *output) {
  PixPtr page(pixRead(input));
  if (!page) return false;
  page.reset(pixConvertTo8(page.get(), 0));
  constexpr int kAdaptive = 1, kBoth = 1, kWithoutColumns = 0;
  Pix *flat = nullptr;
  L_DEWARPA *models = nullptr;
  dewarpSinglePage(page.get(), 0, kAdaptive, kBoth, kWithoutColumns, &flat, &models, 0);
  dewarpaDestroy(&models);
  const PixPtr made(flat);
  return pixWrite(output, made ? made.get() : page.get(), IFF_PNG) == 0;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc == 4 && std::string(argv[1]) == "--dewarp") return dewarp(argv[2], argv[3]) ? 0 : 1;
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s OUTPUT INPUT...\n", argv[0]);
    return 2;
  }
  int failed = 0;
  for (int i = 2; i < argc; ++i) {
    const bool only_skew = std::string(argv[1]) == "--skew";
    if (only_skew ? print_skew(argv[i]) : make(argv[i], argv[1])) continue;
    std::fprintf(stderr, "%s: failed\n", argv[i]);
    failed = 1;
  }
  return failed;
}
