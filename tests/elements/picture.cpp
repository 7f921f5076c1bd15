// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures: creates, writes, reads and compares them, and computes the expected result of an
// element.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "kernels/luma.h"
#include "tests/elements/component.h"
#include "tests/elements/expectations.h"  // the files of operators; from meson.build
#include "tests/elements/support.h"

namespace cudascan::elements {
namespace {

bool is_rgb(const Picture &p) {
  return GST_VIDEO_FORMAT_INFO_IS_RGB(p.format_info());
}

template <typename T>
Plane<T> luma_plane(const Picture &p, std::vector<std::remove_const_t<T>> &samples) {
  using Sample = std::remove_const_t<T>;
  Plane<T> plane{samples.data(), p.width, p.height,
                 static_cast<std::ptrdiff_t>(p.width * sizeof(T)),
                 static_cast<Sample>(p.maximum())};
  if (GST_VIDEO_FORMAT_INFO_IS_YUV(p.format_info()) && !p.full_range) {
    const int shift = p.format_info()->depth[0] - 8 + p.format_info()->shift[0];
    plane.black = static_cast<Sample>(16 << shift);
    plane.white = static_cast<Sample>(235 << shift);
  }
  return plane;
}

/// Red, green and blue as planes, and how their luma is made: RGB has the primaries of BT.709.
class Colours {
 public:
  explicit Colours(const Picture &p) : colours_(3) {
    for (int i = 0; i < 3; ++i) colours_[i] = p.components[i];
    rgb_ = {plane(p, 0), plane(p, 1), plane(p, 2)};
  }
  std::vector<std::uint16_t> luma(const Picture &p) {
    std::vector<std::uint16_t> luma(colours_[0].size());
    Cpu cpu;
    get_luma(cpu, as_input(), kWeights, luma_plane<std::uint16_t>(p, luma));
    return luma;
  }
  /// Gives them another luma.
  void set(const Picture &p, std::vector<std::uint16_t> luma, Colors colors) {
    const Colours before = *this;
    Cpu cpu;
    set_luma(cpu, before.as_input(), kWeights, luma_plane<const std::uint16_t>(p, luma), colors,
             rgb_);
  }
  const std::vector<std::uint16_t> &operator[](int i) const { return colours_[i]; }

 private:
  Plane<std::uint16_t> plane(const Picture &p, int i) {
    return luma_plane<std::uint16_t>(p, colours_[i]);
  }
  RgbPlanes<const std::uint16_t> as_input() const { return {rgb_.red, rgb_.green, rgb_.blue}; }

  static inline const LumaWeights kWeights = luma_weights(0.2126, 0.0722);
  std::vector<std::vector<std::uint16_t>> colours_;
  RgbPlanes<std::uint16_t> rgb_;
};

/// Runs an operator on the luma of a picture, with the sample types of the formats.
template <typename In, typename Out, typename Params, typename Report>
std::vector<std::uint16_t> run_luma(Cpu &cpu, const Picture &in, const Picture &out,
                                    const Params &params, Report *report) {
  const auto luma = is_rgb(in) ? Colours(in).luma(in) : in.components[0];
  std::vector<In> source(luma.begin(), luma.end());
  std::vector<Out> result(source.size());
  if constexpr (requires(Plane<const In> i, Plane<Out> o) { run(cpu, i, o, params, report); })
    run(cpu, luma_plane<const In>(in, source), luma_plane<Out>(out, result), params, report);
  else
    ADD_FAILURE() << "the operator does not support these depths";
  return {result.begin(), result.end()};
}

/// U (component 1) or V of the colour that shows a direction. It is on a circle around the neutral
/// value, at twice the angle. The direction is that of the top left pixel that the sample covers.
std::vector<std::uint16_t> hues(const Picture &p, unsigned c) {
  const GstVideoFormatInfo *info = p.format_info();
  const int level = 1 << (info->depth[c] - 8 + info->shift[c]);
  std::vector<std::uint16_t> samples;
  for (int y = 0; y < p.component_height(c); ++y)
    for (int x = 0; x < p.component_width(c); ++x) {
      const int at = (y << info->h_sub[c]) * p.width + (x << info->w_sub[c]);
      const double angle = 2 * (p.components[0][at] >> info->shift[0]) * std::numbers::pi / 180;
      const long hue = std::lround(112 * (c == 1 ? std::cos(angle) : std::sin(angle)));
      samples.push_back(static_cast<std::uint16_t>(p.neutral() + hue * level));
    }
  return samples;
}

}  // namespace

std::uint16_t Picture::maximum() const {
  return static_cast<std::uint16_t>(((1u << format_info()->depth[0]) - 1)
                                    << format_info()->shift[0]);
}

std::uint16_t Picture::neutral() const {
  return static_cast<std::uint16_t>((1u << (format_info()->depth[0] - 1))
                                    << format_info()->shift[0]);
}

double Picture::black_ratio() const {
  const auto &luma = components[0];
  return static_cast<double>(std::count(luma.begin(), luma.end(), 0)) /
         static_cast<double>(luma.size());
}

Picture make_picture(GstVideoFormat format, int width, int height, unsigned seed) {
  Picture p{format, width, height, {}};
  const GstVideoFormatInfo *info = p.format_info();
  std::uint32_t state = seed * 2654435761u + 12345u;
  const auto noise = [&state] { return state = state * 1664525u + 1013904223u, state >> 16; };
  for (unsigned c = 0; c < info->n_components; ++c) {
    const int w = p.component_width(c), h = p.component_height(c), top = (1 << info->depth[c]) - 1;
    auto &samples = p.components.emplace_back(static_cast<std::size_t>(w) * h);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const auto paper = static_cast<std::int64_t>(top) * (2 * w + x + y) / (3 * w + h + 1);
        const bool stroke =
            (x + 3 * y + static_cast<int>(seed)) % 11 < 3 && (y / 9 + seed) % 2 == 0;
        auto value = stroke ? paper / 3 : paper;
        value += static_cast<std::int64_t>(noise() % (top / 8 + 1)) - top / 16;
        if ((x / 8 + y / 8 + seed) % 9 == 0) value = top / 2;  // the deviation is 0
        if (noise() % 97 == 0) value = noise() % 2 ? top : 0;
        samples[static_cast<std::size_t>(y) * w + x] =
            static_cast<std::uint16_t>(std::clamp<std::int64_t>(value, 0, top) << info->shift[c]);
      }
  }
  return p;
}

template <typename Params>
Picture expected(const Picture &in, const Params &params, GstVideoFormat out_format,
                 typename Params::Report *report, Cpu *cpu) {
  Cpu own;
  if (!cpu) cpu = &own;
  Picture out{out_format == GST_VIDEO_FORMAT_UNKNOWN ? in.format : out_format,
              in.width,
              in.height,
              {},
              in.full_range};
  const bool deep_in = in.maximum() > 255, deep_out = out.maximum() > 255;
  if (deep_in && deep_out)
    out.components.push_back(run_luma<std::uint16_t, std::uint16_t>(*cpu, in, out, params, report));
  else if (deep_in)
    out.components.push_back(run_luma<std::uint16_t, std::uint8_t>(*cpu, in, out, params, report));
  else
    out.components.push_back(run_luma<std::uint8_t, std::uint8_t>(*cpu, in, out, params, report));
  if (is_rgb(out)) {
    Colours colours(in);
    colours.set(out, std::exchange(out.components[0], {}),
                colour_of(params) == Colour::of_input ? Colors::kept : Colors::none);
    out.components = {colours[0], colours[1], colours[2]};
  }
  for (unsigned c = static_cast<unsigned>(out.components.size());
       c < out.format_info()->n_components; ++c) {
    if (c == 3) {  // alpha
      out.components.push_back(in.components[c]);
      continue;
    }
    Colour colour = colour_of(params);
    if (colour == Colour::of_directions && in_words(out.format)) colour = Colour::none;
    switch (colour) {
      case Colour::none:
        out.components.emplace_back(
            static_cast<std::size_t>(out.component_width(c)) * out.component_height(c),
            out.neutral());
        break;
      case Colour::of_directions:
        out.components.push_back(hues(out, c));
        break;
      case Colour::of_input:
        out.components.push_back(in.components[c]);
        break;
    }
  }
  return out;
}
#define EXPECTED(op, Name)                                                                         \
  template Picture expected(const Picture &, const Name##Params &, GstVideoFormat, Name##Report *, \
                            Cpu *);
CUDASCAN_OPERATORS(EXPECTED)

testing::AssertionResult same(const Picture &a, const Picture &b) {
  if (a.format != b.format || a.width != b.width || a.height != b.height)
    return testing::AssertionFailure()
           << "the result is " << gst_video_format_to_string(a.format) << " " << a.width << "x"
           << a.height << ", expected " << gst_video_format_to_string(b.format) << " " << b.width
           << "x" << b.height;
  for (unsigned c = 0; c < b.components.size(); ++c) {
    const auto &x = a.components[c], &y = b.components[c];
    if (x == y) continue;
    std::size_t different = 0;
    for (std::size_t i = 0; i < x.size(); ++i) different += x[i] != y[i];
    const auto at =
        static_cast<std::size_t>(std::mismatch(x.begin(), x.end(), y.begin()).first - x.begin());
    const std::size_t w = a.component_width(c);
    return testing::AssertionFailure()
           << gst_video_format_to_string(a.format) << " " << a.width << "x" << a.height
           << ": component " << c << " at (" << at % w << ", " << at / w << ") is " << x[at]
           << ", expected " << y[at] << "; " << different << " of " << x.size() << " differ";
  }
  return testing::AssertionSuccess();
}

/// A buffer with the same bytes and GstVideoMeta, divided into several memories.
static Ref<GstBuffer> cut(GstBuffer *buffer, int pieces) {
  Ref<GstBuffer> result(gst_buffer_new());
  const gsize size = gst_buffer_get_size(buffer);
  for (int i = 0; i < pieces; ++i) {
    const gsize begin = size * i / pieces, end = size * (i + 1) / pieces;
    if (begin == end) continue;
    GstMemory *piece = gst_allocator_alloc(nullptr, end - begin, nullptr);
    GstMapInfo map;
    gst_memory_map(piece, &map, GST_MAP_WRITE);
    gst_buffer_extract(buffer, begin, map.data, end - begin);
    gst_memory_unmap(piece, &map);
    gst_buffer_append_memory(result.get(), piece);
  }
  if (GstVideoMeta *meta = gst_buffer_get_video_meta(buffer))
    gst_buffer_add_video_meta_full(result.get(), meta->flags, meta->format, meta->width,
                                   meta->height, meta->n_planes, meta->offset, meta->stride);
  return result;
}

Ref<GstBuffer> to_buffer(const Picture &picture, const Layout &layout) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, picture.format, picture.width, picture.height);
  const bool custom = layout.row_padding || layout.plane_padding || layout.split ||
                      layout.row_bytes || layout.upwards;
  Ref<GstBuffer> buffer;
  if (!custom) {
    buffer.reset(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  } else {
    buffer.reset(gst_buffer_new());
    const int bytes = picture.maximum() > 255 ? 2 : 1;
    gsize offset = layout.plane_padding, offsets[GST_VIDEO_MAX_PLANES] = {};
    gint strides[GST_VIDEO_MAX_PLANES] = {};
    for (unsigned plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane) {
      gint components[GST_VIDEO_MAX_COMPONENTS];
      gst_video_format_info_component(info.finfo, plane, components);
      const int c = components[0];
      strides[plane] =
          row_bytes(picture, info, plane) + layout.row_padding * bytes + layout.row_bytes;
      const gsize size = static_cast<gsize>(strides[plane]) * picture.component_height(c);
      offsets[plane] = offset;
      if (layout.upwards) {
        offsets[plane] += size - strides[plane];
        strides[plane] = -strides[plane];
      }
      offset += size + layout.plane_padding;
      if (layout.split) {
        gst_buffer_append_memory(
            buffer.get(),
            gst_allocator_alloc(nullptr, offset - gst_buffer_get_size(buffer.get()), nullptr));
      }
    }
    if (!layout.split)
      gst_buffer_append_memory(buffer.get(), gst_allocator_alloc(nullptr, offset, nullptr));
    gst_buffer_memset(buffer.get(), 0, 0xa5, offset);
    gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, picture.format,
                                   picture.width, picture.height, GST_VIDEO_INFO_N_PLANES(&info),
                                   offsets, strides);
  }
  fill(buffer.get(), picture);
  return layout.pieces > 1 ? cut(buffer.get(), layout.pieces) : std::move(buffer);
}

void fill(GstBuffer *buffer, const Picture &picture) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, picture.format, picture.width, picture.height);
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE)) {
    ADD_FAILURE() << "the buffer cannot be mapped for writing";
    return;
  }
  for (unsigned c = 0; c < picture.components.size(); ++c) {
    Component component(frame, c);
    component.each(
        [&](std::uint16_t &sample, std::size_t i) { sample = picture.components[c][i]; });
  }
  gst_video_frame_unmap(&frame);
}

Picture to_picture(GstBuffer *buffer, const GstCaps *caps) {
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!caps || !gst_video_info_from_caps(&info, caps)) {
    ADD_FAILURE() << "the caps do not describe a video";
    return {};
  }
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) {
    ADD_FAILURE() << "the frame cannot be mapped for reading";
    return {};
  }
  Picture picture{
      GST_VIDEO_INFO_FORMAT(&info), GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info), {}};
  picture.full_range =
      GST_VIDEO_INFO_IS_YUV(&info) && info.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  for (unsigned c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c) {
    Component component(frame, c);
    auto &samples = picture.components.emplace_back(static_cast<std::size_t>(component.width) *
                                                    component.height);
    component.each([&](std::uint16_t &sample, std::size_t i) { samples[i] = sample; });
  }
  gst_video_frame_unmap(&frame);
  return picture;
}

Picture to_picture(GstSample *sample) {
  return to_picture(gst_sample_get_buffer(sample), gst_sample_get_caps(sample));
}

}  // namespace cudascan::elements
