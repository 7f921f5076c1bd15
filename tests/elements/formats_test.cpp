// SPDX-License-Identifier: LGPL-2.1-or-later
// The result for every format, size and layout in system memory equals the kernel library's.
#include <algorithm>

#include "tests/elements/support.h"

namespace cudascan::elements {
namespace {

const std::vector<GstVideoFormat> kPromised = {
    GST_VIDEO_FORMAT_GRAY8,      GST_VIDEO_FORMAT_GRAY16_LE,  GST_VIDEO_FORMAT_NV12,
    GST_VIDEO_FORMAT_NV21,       GST_VIDEO_FORMAT_I420,       GST_VIDEO_FORMAT_YV12,
    GST_VIDEO_FORMAT_Y42B,       GST_VIDEO_FORMAT_Y444,       GST_VIDEO_FORMAT_P010_10LE,
    GST_VIDEO_FORMAT_P012_LE,    GST_VIDEO_FORMAT_P016_LE,    GST_VIDEO_FORMAT_I420_10LE,
    GST_VIDEO_FORMAT_I420_12LE,  GST_VIDEO_FORMAT_Y444_16LE,  GST_VIDEO_FORMAT_YUY2,
    GST_VIDEO_FORMAT_UYVY,       GST_VIDEO_FORMAT_VYUY,       GST_VIDEO_FORMAT_AYUV,
    GST_VIDEO_FORMAT_RGB,        GST_VIDEO_FORMAT_BGR,        GST_VIDEO_FORMAT_RGBx,
    GST_VIDEO_FORMAT_BGRx,       GST_VIDEO_FORMAT_RGBA,       GST_VIDEO_FORMAT_BGRA,
    GST_VIDEO_FORMAT_ARGB,       GST_VIDEO_FORMAT_ABGR,       GST_VIDEO_FORMAT_GBR,
    GST_VIDEO_FORMAT_RGBP,       GST_VIDEO_FORMAT_GBR_10LE,   GST_VIDEO_FORMAT_GBR_12LE,
    GST_VIDEO_FORMAT_v210,       GST_VIDEO_FORMAT_v216,       GST_VIDEO_FORMAT_Y410,
    GST_VIDEO_FORMAT_AYUV64,     GST_VIDEO_FORMAT_ARGB64,     GST_VIDEO_FORMAT_RGB10A2_LE,
    GST_VIDEO_FORMAT_BGR10A2_LE, GST_VIDEO_FORMAT_GRAY10_LE32};

const std::vector<std::pair<int, int>> kSizes = {{64, 48}, {61, 37}, {1, 1},    {2, 2},  {1, 19},
                                                 {23, 1},  {3, 5},   {100, 33}, {257, 9}};

bool deep(GstVideoFormat format) {
  return Picture{format, 1, 1, {}}.maximum() > 255;
}

std::vector<GstVideoFormat> formats() {
  return template_formats("cudanick", GST_PAD_SINK);
}

std::string gray8() {
  return "video/x-raw, format=GRAY8";
}

TEST(FormatTemplates, TheTemplatesOfferWhatIsPromised) {
  std::vector<const char *> memories = {nullptr};
#ifdef HAVE_CUDA
  memories.push_back(kCudaMemory);
#endif
  for (const char *feature : memories)
    for (GstPadDirection direction : {GST_PAD_SINK, GST_PAD_SRC}) {
      const auto offered = template_formats("cudanick", direction, feature);
      for (GstVideoFormat format : kPromised)
        EXPECT_TRUE(std::find(offered.begin(), offered.end(), format) != offered.end())
            << gst_video_format_to_string(format) << " is missing on the "
            << (direction == GST_PAD_SINK ? "sink" : "source") << " pad, "
            << (feature ? feature : "system memory");
    }
}

TEST(FormatTemplates, OnlyPlanesOfWholeSamplesAreOffered) {
  for (GstVideoFormat format : formats()) {
    const GstVideoFormatInfo *info = gst_video_format_get_info(format);
    SCOPED_TRACE(info->name);
    EXPECT_FALSE(GST_VIDEO_FORMAT_INFO_HAS_PALETTE(info));
    EXPECT_FALSE(g_str_has_suffix(info->name, "BE"));
    EXPECT_FALSE(GST_VIDEO_FORMAT_INFO_IS_TILED(info));
    for (guint c = 0; c < info->n_components; ++c) {
      const int sample = info->depth[c] + info->shift[c] > 8 ? 2 : 1;
      EXPECT_EQ(info->pixel_stride[c] % sample, 0);
    }
  }
}

class Formats : public BackendTest {};
INSTANTIATE_BACKENDS(Formats);

TEST_P(Formats, BinaryResultsAreTheKernelsWithNeutralChroma) {
  NickParams params;
  params.window = 15;
  for (GstVideoFormat format : formats()) {
    Filter filter(nick("window=15"));
    for (const auto &[width, height] : kSizes) {
      const Picture in = make_picture(format, width, height, width + height);
      ASSERT_TRUE(same(filter.process(in), expected(in, params)));
    }
  }
}

TEST_P(Formats, ThresholdSurfacesAreTheKernelsWithTheChromaOfTheInput) {
  NickParams params;
  params.window = 15;
  params.output = NickOutput::threshold;
  for (GstVideoFormat format : formats()) {
    Filter filter(nick("window=15 output=threshold"));
    for (const auto &[width, height] : kSizes) {
      const Picture in = make_picture(format, width, height, width * height);
      ASSERT_TRUE(same(filter.process(in), expected(in, params)));
    }
  }
}

TEST_P(Formats, BlackAndWhiteIsGray8WhereItIsAskedFor) {
  NickParams params;
  params.window = 15;
  for (GstVideoFormat format : formats()) {
    Filter filter(nick("window=15"), gray8());
    for (const auto &[width, height] : kSizes) {
      const Picture in = make_picture(format, width, height, 7);
      const Picture result = filter.process(in);
      ASSERT_TRUE(same(result, expected(in, params, GST_VIDEO_FORMAT_GRAY8)));
      EXPECT_EQ(*std::max_element(result.components[0].begin(), result.components[0].end()) % 255,
                0);
    }
  }
}

TEST_P(Formats, MapsOf8BitsAreGray8WhereItIsAskedFor) {
  NickParams thresholds;
  thresholds.window = 15;
  thresholds.output = NickOutput::threshold;
  BinarizeParams darkness;
  darkness.output = BinarizeOutput::darkness;
  LinearOpenParams angles;
  angles.directions = 4;
  angles.output = LinearOpenOutput::orientation;
  AutothresholdParams classes;
  classes.classes = 3;
  for (GstVideoFormat format : formats()) {
    if (deep(format)) continue;
    const Picture in = make_picture(format, 61, 37);
    const auto check = [&](const std::string &line, const auto &params) {
      Filter filter(line, gray8());
      EXPECT_TRUE(same(filter.process(in), expected(in, params, GST_VIDEO_FORMAT_GRAY8))) << line;
    };
    check(nick("window=15 output=threshold"), thresholds);
    check(launch("cudabinarize", "output=darkness"), darkness);
    check(launch("cudalinearopen", "directions=4 output=orientation"), angles);
    check(launch("cudaautothreshold", "classes=3"), classes);
  }
}

TEST_P(Formats, FilteredImagesKeepTheirChroma) {
  for (const char *name : {"cudaequalize", "cudalinearopen", "cudaswofilter"}) {
    Filter filter(launch(name), gray8());
    EXPECT_NE(filter.push_picture(make_picture(GST_VIDEO_FORMAT_NV12, 20, 10)), GST_FLOW_OK)
        << name;
  }
}

TEST_P(Formats, TheFormatOfTheInputIsKeptWhereNothingElseIsAskedFor) {
  for (GstVideoFormat format :
       {GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_NV12}) {
    Filter filter(nick());
    EXPECT_EQ(filter.process(make_picture(format, 20, 10)).format, format);
  }
}

TEST_P(Formats, AThresholdSurfaceIsNotCutDownToGray8) {
  Filter filter(nick("output=threshold"), gray8());
  EXPECT_NE(filter.push_picture(make_picture(GST_VIDEO_FORMAT_GRAY16_LE, 20, 10)), GST_FLOW_OK);
}

TEST_P(Formats, EveryMethodOnEightAndSixteenBits) {
  struct Case {
    const char *settings;
    NickParams params;
  };
  const auto with = [](NickMethod method, int window, std::optional<double> k = {}, double r = 128,
                       bool invert = false) {
    NickParams p;
    p.method = method, p.window = window, p.k = k, p.r = r, p.invert = invert;
    return p;
  };
  NickParams rectangle = with(NickMethod::sauvola, 5);
  rectangle.window_width = 31, rectangle.window_height = 7;
  NickParams baseline = with(NickMethod::nick, 9);
  const Case cases[] = {
      {"", NickParams{}},
      {"method=nick window=33 k=-0.2", with(NickMethod::nick, 33, -0.2)},
      {"method=niblack window=21", with(NickMethod::niblack, 21)},
      {"method=sauvola window=21 k=0.3 r=100", with(NickMethod::sauvola, 21, 0.3, 100)},
      {"method=wolf window=21", with(NickMethod::wolf, 21)},
      {"method=bradley window=21 invert=true", with(NickMethod::bradley, 21, {}, 128, true)},
      {"method=phansalkar window=21", with(NickMethod::phansalkar, 21)},
      {"method=sauvola window=5 window-width=31 window-height=7", rectangle},
      {"window=9 algorithm=global", baseline},
      {"window=9 algorithm=global-shared", baseline},
      {"window=9 algorithm=shared", baseline},
      {"window=9 n-threads=1", baseline},
      {"window=9 n-threads=3", baseline},
      {"window=1023", with(NickMethod::nick, 1023)}};
  for (const Case &c : cases)
    for (GstVideoFormat format : {GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE,
                                  GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_I420_12LE}) {
      SCOPED_TRACE(c.settings);
      Filter filter(nick(c.settings));
      const Picture in = make_picture(format, 93, 71);
      EXPECT_TRUE(same(filter.process(in), expected(in, c.params)));
    }
}

TEST_P(Formats, PaddedRowsAndPlanes) {
  NickParams params;
  params.window = 15;
  for (GstVideoFormat format : formats())
    for (const Layout &layout : {Layout{13, 0, false}, Layout{0, 38, false}, Layout{7, 6, true}}) {
      Filter filter(nick("window=15"));
      for (const auto &[width, height] : {std::pair{61, 37}, std::pair{1, 1}}) {
        const Picture in = make_picture(format, width, height, 3);
        ASSERT_TRUE(same(filter.process(in, layout), expected(in, params)))
            << "rows padded by " << layout.row_padding << ", planes by " << layout.plane_padding;
        ASSERT_TRUE(same(filter.process(in), expected(in, params)))
            << "packed rows after padded ones";
      }
    }
}

TEST_P(Formats, APlaneAtAnyAddress) {
  for (int offset : {1, 2, 3, 5}) {
    Filter filter(nick("window=15"));
    NickParams params;
    params.window = 15;
    const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY8, 97, 40);
    EXPECT_TRUE(same(filter.process(in, Layout{offset, offset, false}), expected(in, params)));
  }
}

TEST_P(Formats, TheInputIsNotWritten) {
  Filter filter(nick());
  const Picture in = make_picture(GST_VIDEO_FORMAT_I420, 50, 40);
  Ref<GstCaps> caps = make_caps(in);
  filter.set_caps(caps.get());
  Ref<GstBuffer> buffer = to_buffer(in);
  GST_MINI_OBJECT_FLAG_SET(gst_buffer_peek_memory(buffer.get(), 0), GST_MEMORY_FLAG_READONLY);
  ASSERT_EQ(filter.push(Ref<GstBuffer>(gst_buffer_ref(buffer.get()))), GST_FLOW_OK);
  EXPECT_TRUE(same(to_picture(filter.pull().get(), filter.output_caps().get()),
                   expected(in, NickParams{})));
  EXPECT_TRUE(same(to_picture(buffer.get(), caps.get()), in));
}

TEST_P(Formats, TheConsumersAllocationParametersAreRespected) {
  Filter filter(nick());
  GstAllocationParams wanted;
  gst_allocation_params_init(&wanted);
  wanted.align = 127, wanted.prefix = 64, wanted.padding = 32;
  gst_harness_set_propose_allocator(filter.harness(), nullptr, &wanted);
  gst_harness_add_propose_allocation_meta(filter.harness(), GST_VIDEO_META_API_TYPE, nullptr);
  const Picture in = make_picture(GST_VIDEO_FORMAT_NV12, 50, 40);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(same(filter.process(in), expected(in, NickParams{})));
}

TEST_P(Formats, AConsumerWithoutVideoMetaGetsTheDefaultLayout) {
  for (GstVideoFormat format : formats()) {
    Filter filter(nick());
    const Picture in = make_picture(format, 61, 37);
    ASSERT_EQ(filter.push_picture(in), GST_FLOW_OK);
    Ref<GstBuffer> buffer = filter.pull();
    GstVideoInfo info;
    gst_video_info_set_format(&info, format, 61, 37);
    EXPECT_EQ(gst_buffer_get_size(buffer.get()), info.size);
    if (const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer.get()))
      for (guint plane = 0; plane < meta->n_planes; ++plane) {
        EXPECT_EQ(meta->stride[plane], GST_VIDEO_INFO_PLANE_STRIDE(&info, plane));
        EXPECT_EQ(meta->offset[plane], GST_VIDEO_INFO_PLANE_OFFSET(&info, plane));
      }
  }
}

TEST_P(Formats, OneRowOneColumnAndAWholePage) {
  NickParams params;
  params.window = 5;
  Filter filter(nick("window=5"));
  for (const auto &[width, height] :
       {std::pair{32768, 1}, std::pair{1, 32768}, std::pair{7016, 9921}}) {
    const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY8, width, height);
    ASSERT_TRUE(same(filter.process(in), expected(in, params)));
  }
}

TEST_P(Formats, LargerThanTheLimitIsNotNegotiated) {
  Filter filter(nick());
  EXPECT_NE(filter.push_picture(make_picture(GST_VIDEO_FORMAT_GRAY8, 32769, 1)), GST_FLOW_OK);
}

TEST_P(Formats, OtherFieldsOfTheCapsAreKept) {
  Filter filter(nick());
  Ref<GstCaps> caps(gst_caps_from_string(
      "video/x-raw, format=NV12, width=64, height=48, framerate=30000/1001, "
      "pixel-aspect-ratio=4/3, interlace-mode=interleaved, field-order=top-field-first, "
      "colorimetry=bt709, chroma-site=mpeg2"));
  filter.set_caps(caps.get());
  ASSERT_EQ(filter.push(to_buffer(make_picture(GST_VIDEO_FORMAT_NV12, 64, 48))), GST_FLOW_OK);
  Ref<GstCaps> out = filter.output_caps();
  g_autofree char *text = gst_caps_to_string(out.get());
  EXPECT_TRUE(gst_caps_can_intersect(out.get(), caps.get())) << text;
  for (const char *field : {"framerate", "pixel-aspect-ratio", "interlace-mode", "field-order",
                            "colorimetry", "chroma-site"})
    EXPECT_TRUE(gst_structure_has_field(gst_caps_get_structure(out.get(), 0), field)) << field;
}

TEST_P(Formats, InterlacedFieldPairsAreProcessedAsTheirFrame) {
  Filter filter(nick());
  Ref<GstCaps> caps = make_caps(GST_VIDEO_FORMAT_GRAY8, 64, 48);
  gst_caps_set_simple(caps.get(), "interlace-mode", G_TYPE_STRING, "mixed", nullptr);
  filter.set_caps(caps.get());
  const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY8, 64, 48);
  Ref<GstBuffer> buffer = to_buffer(in);
  GST_BUFFER_FLAG_SET(buffer.get(), GST_VIDEO_BUFFER_FLAG_INTERLACED | GST_VIDEO_BUFFER_FLAG_TFF);
  ASSERT_EQ(filter.push(std::move(buffer)), GST_FLOW_OK);
  Ref<GstBuffer> out = filter.pull();
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_VIDEO_BUFFER_FLAG_INTERLACED));
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_VIDEO_BUFFER_FLAG_TFF));
  EXPECT_TRUE(same(to_picture(out.get(), filter.output_caps().get()), expected(in, NickParams{})));
}

}  // namespace
}  // namespace cudascan::elements
