// SPDX-License-Identifier: LGPL-2.1-or-later
#include "page_outputs.h"

#include "common/error.h"
#include "crop.h"
#include "enlarge.h"
#include "layers.h"
#include "luma.h"
#include "orientation.h"

namespace cudascan::scan {
namespace {

void check_same_size(const PageLevels &levels, const Image &bw) {
  if (levels.width() != bw.width || levels.height() != bw.height)
    throw Error("the page in gray or colour has another size than in black and white");
}

}  // namespace

std::shared_ptr<PageLevels> colours_for(const Outputs &outputs, bool pinned) {
  if (!outputs.need_levels()) return nullptr;
  auto levels = std::make_shared<PageLevels>(pinned);
  levels->wants_colour = outputs.need_colour();
  return levels;
}

PageOutputs::PageOutputs(const Outputs &outputs, bool pinned)
    : outputs_(outputs),
      gray_(pinned),
      straight_gray_(pinned),
      straight_colour_(pinned),
      space_(pinned),
      bordered_(pinned) {}

void PageOutputs::keep(const Image &page) {
  if (!outputs_.need_levels()) return;
  follows_ = false;
  straight_gray_.samples = straight_colour_.samples = 0;
  gray_.samples = 1;
  gray_.profile.clear();
  copy_plane(page, gray_.planes[0]);
  content_ = page.content;
  colour_ = nullptr;
  if (!page.colour) return;
  if (page.colour->samples == 3) {
    colour_ = page.colour;
    for (Image &plane : colour_->planes) plane.resolution = page.resolution;
  } else {
    keep_profile(gray_, page.colour->profile.data(), page.colour->profile.size(), 1);
  }
}

/// Does to the planes what the cleaner did to the page before it was made straight: enlarges them,
/// turns them by quarters and straightens curved lines. Gives them its resolution.
void PageOutputs::follow(const Image &bw, const Findings &found, Cleaner &cleaner) {
  if (follows_) return;
  follows_ = true;
  const auto change = [&](Image &plane) {
    if (found.enlarged != 1) {
      enlarge(plane, found.enlarged, space_);
      copy_plane(space_, plane);
    }
    if (found.orientation != 0) turn_by_quarters(plane, found.orientation, space_);
    if (found.dewarped) cleaner.flatten(plane);
    plane.resolution = bw.resolution;
  };
  change(gray_.planes[0]);
  if (colour_)
    for (Image &plane : colour_->planes) change(plane);
}

void PageOutputs::straighten(const PageLevels &from, const Steps &steps, Findings &found,
                             Cleaner &cleaner, PageLevels &to) {
  to.samples = from.samples;
  to.profile = from.profile;
  for (int i = 0; i < from.samples; ++i) {
    const Image *plane = &from.planes[i];
    if (found.turned) {
      cleaner.turn(*plane, found.angle, space_);
      plane = &space_;
    }
    cut_levels(*plane, found.box, steps.paper, to.planes[i]);
  }
}

const PageLevels &PageOutputs::straight(bool colour, const Image &bw, const Steps &steps,
                                        Findings &found, Cleaner &cleaner) {
  follow(bw, found, cleaner);
  const bool has_colour = colour && colour_;
  PageLevels &levels = has_colour ? straight_colour_ : straight_gray_;
  if (levels.samples == 0) straighten(has_colour ? *colour_ : gray_, steps, found, cleaner, levels);
  check_same_size(levels, bw);
  return levels;
}

/// The levels of the page, straight and without its border.
void PageOutputs::make_levels(const Image &bw, const Steps &steps, Findings &found,
                              Cleaner &cleaner) {
  const bool colour = outputs_.mode != Mode::gray && colour_;
  follow(bw, found, cleaner);
  const PageLevels *straight_levels = nullptr;
  if (found.border > 0) {
    const PageLevels &from = colour ? *colour_ : gray_;
    bordered_.samples = from.samples;
    bordered_.profile = from.profile;
    for (int i = 0; i < from.samples; ++i) copy_plane(from.planes[i], bordered_.planes[i]);
    tone_.whiten_border(bordered_, cleaner.border());
    PageLevels &to = bordered_.depth() == 8 ? levels_ : wide_;
    straighten(bordered_, steps, found, cleaner, to);
    if (bordered_.depth() == 8) return;
    straight_levels = &wide_;
  } else {
    straight_levels = &straight(colour, bw, steps, found, cleaner);
  }
  if (straight_levels->depth() != 8) {
    to_8_bits(*straight_levels, levels_);
    return;
  }
  levels_.samples = straight_levels->samples;
  levels_.profile = straight_levels->profile;
  for (int i = 0; i < levels_.samples; ++i)
    copy_plane(straight_levels->planes[i], levels_.planes[i]);
}

/// Keeps only the luma, and the profile only if it is one of gray.
void PageOutputs::to_gray() {
  if (levels_.samples == 1) return;
  Image &first = levels_.planes[0];
  std::vector<std::uint8_t> row(std::size_t{3} * first.width);
  for (int y = 0; y < first.height; ++y) {
    interleave(levels_, y, row.data());
    luma_row(row.data(), 3, first.width, first.plane<std::uint8_t>().row(y));
  }
  levels_.samples = 1;
  levels_.profile.clear();
}

/// What the page is written as.
Mode PageOutputs::choose(const KeptParts &parts) const {
  constexpr double kMostly = 0.5;  // of the page
  if (outputs_.mode == Mode::gray || outputs_.mode == Mode::color) return outputs_.mode;
  if (!parts.any()) return Mode::bw;
  if (outputs_.mode == Mode::mixed || parts.pictures < kMostly) return Mode::mixed;
  return parts.colour > 0 ? Mode::color : Mode::gray;
}

std::string PageOutputs::encode_levels(Format format) const {
  if (outputs_.in_pdf) return encode_jpeg_layer(levels_, outputs_.jpeg_quality);
  return format == Format::png ? encode_png(levels_) : encode_deflate_tiff(levels_);
}

std::string PageOutputs::page(const Image &bw, Format format, const Steps &steps, Findings &found,
                              Cleaner &cleaner) {
  if (outputs_.mode == Mode::bw) return encode(bw, format);
  const bool bilevel = content_ != Content::gray;
  found.mode = name_of(Mode::bw);
  if (bilevel && outputs_.mode != Mode::gray && outputs_.mode != Mode::color)
    return encode(bw, format);
  make_levels(bw, steps, found, cleaner);
  check_same_size(levels_, bw);
  const KeptParts &parts = pictures_.find(levels_);
  found.pictures = parts.pictures;
  found.colour = parts.colour;
  found.picture_boxes = parts.boxes;
  const Mode mode = choose(parts);
  found.mode = name_of(mode);
  if (mode == Mode::bw) return encode(bw, format);
  if (steps.even_light && !bilevel) tone_.even_light(levels_, parts);
  if (mode == Mode::gray || (outputs_.mode != Mode::color && parts.colour == 0)) to_gray();
  if (mode != Mode::mixed) return encode_levels(format);
  clean_around_ink(bw, parts, levels_);
  if (outputs_.in_pdf) return encode_layers(bw, levels_, parts, outputs_.jpeg_quality);
  put_text(bw, parts, levels_);
  return encode_levels(format);
}

std::vector<AlsoFile> PageOutputs::also(const Image &bw, const Steps &steps, Findings &found,
                                        Cleaner &cleaner, const FileTags &tags) {
  std::vector<AlsoFile> files;
  for (const Also &kind : outputs_.also) {
    const PageLevels *levels = &straight(kind.colour, bw, steps, found, cleaner);
    AlsoFile file{'.' + kind.name(), ""};
    if (kind.kind == FileKind::tiff) {
      file.bytes = encode_plain_tiff(*levels, tags);
    } else if (kind.kind == FileKind::png) {
      file.bytes = encode_png(*levels);
    } else if (kind.kind == FileKind::jp2) {
      file.bytes = encode_jp2(*levels);
    } else {
      PageLevels narrow;
      if (levels->depth() != 8) levels = &to_8_bits(*levels, narrow);
      file.bytes = encode_jpeg(*levels, outputs_.jpeg_quality);
    }
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace cudascan::scan
