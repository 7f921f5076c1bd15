// SPDX-License-Identifier: LGPL-2.1-or-later
// roi-from: regions of interest that come as metas of the frames.
#include "tests/elements/operators.h"

namespace cudascan::elements {
namespace {

using Regions = std::vector<Rectangle>;

class RoiFrom : public BackendTest {};
INSTANTIATE_BACKENDS(RoiFrom);

Picture frame() {
  // Each part has other statistics.
  Picture p = make_picture(GST_VIDEO_FORMAT_GRAY8, 90, 60);
  for (std::size_t i = 0; i < p.components[0].size(); ++i)
    p.components[0][i] = static_cast<std::uint16_t>(p.components[0][i] * (20 + i % 90) / 110);
  return p;
}

/// Numbers of a meta; negative ones become large.
void add_regions(GstBuffer *buffer, const Regions &regions) {
  const auto number = [](int n) { return static_cast<guint>(n); };
  for (const Rectangle &r : regions)
    gst_buffer_add_video_region_of_interest_meta(buffer, "part", number(r.x), number(r.y),
                                                 number(r.width), number(r.height));
}
void add_crop(GstBuffer *buffer, const Rectangle &r) {
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(buffer);
  crop->x = static_cast<guint>(r.x), crop->y = static_cast<guint>(r.y);
  crop->width = static_cast<guint>(r.width), crop->height = static_cast<guint>(r.height);
}

Picture process(Filter &filter, const Picture &in, const Regions &regions,
                const Regions &crop = {}) {
  filter.set_caps(make_caps(in).get());
  Ref<GstBuffer> buffer = to_buffer(in);
  add_regions(buffer.get(), regions);
  if (!crop.empty()) add_crop(buffer.get(), crop[0]);
  EXPECT_EQ(filter.push(std::move(buffer)), GST_FLOW_OK);
  Ref<GstBuffer> out = filter.pull();
  EXPECT_TRUE(out) << "no frame came out";
  return out ? to_picture(out.get(), filter.output_caps().get()) : Picture{};
}

Picture with_roi(const Picture &in, const Rectangle &roi) {
  return expected(in, AutothresholdParams{.roi = roi});
}

TEST(RoiFromProperty, GoesWithRoi) {
  int n = 0;
  for (const std::string &name : all_elements()) {
    Filter filter(name + " backend=cpu");
    GObjectClass *klass = G_OBJECT_GET_CLASS(filter.element());
    const bool has_roi = g_object_class_find_property(klass, "roi");
    EXPECT_EQ(g_object_class_find_property(klass, "roi-from") != nullptr, has_roi) << name;
    if (has_roi) {
      EXPECT_EQ(filter.get_string("roi-from"), "none");
    }
    n += has_roi;
  }
  EXPECT_GE(n, 3);
}

TEST_P(RoiFrom, RegionsReplaceRoi) {
  const Picture in = frame();
  const Rectangle roi{50, 30, 30, 20};
  Filter filter(launch("cudaautothreshold", "roi-from=meta roi=<50,30,30,20>"));
  const std::pair<Regions, Rectangle> cases[] = {
      {{}, roi},
      {{{10, 20, 30, 15}}, {10, 20, 30, 15}},
      {{{10, 20, 5, 5}, {40, 4, 20, 9}, {12, 21, 1, 1}}, {10, 4, 50, 21}},
      {{{80, 50, 300, 300}}, {80, 50, 10, 10}},
      {{{3, 3, -1, -1}}, {3, 3, 87, 57}},  // the largest numbers
      // outside, or empty
      {{{90, 0, 5, 5}}, roi},
      {{{0, 60, 5, 5}}, roi},
      {{{-5, -5, 30, 30}}, roi},
      {{{4, 4, 0, 9}}, roi},
      {{{90, 0, 5, 5}, {4, 4, 9, 0}, {0, 0, 20, 20}}, {0, 0, 20, 20}}};
  for (const auto &[regions, used] : cases) {
    SCOPED_TRACE(testing::Message() << regions.size() << " regions, the result is for " << used.x
                                    << ", " << used.y << ", " << used.width << ", " << used.height);
    EXPECT_TRUE(same(process(filter, in, regions, {{1, 1, 4, 4}}), with_roi(in, used)));
  }
  ASSERT_FALSE(same(with_roi(in, roi), with_roi(in, {10, 20, 30, 15})));
}

TEST_P(RoiFrom, CropsReplaceRoi) {
  const Picture in = frame();
  Filter filter(launch("cudaautothreshold", "roi-from=crop"));
  EXPECT_TRUE(same(process(filter, in, {}), with_roi(in, {})));
  EXPECT_TRUE(same(process(filter, in, {{1, 1, 4, 4}}), with_roi(in, {})));
  const Rectangle crop{10, 20, 30, 15};
  EXPECT_TRUE(same(process(filter, in, {{1, 1, 4, 4}}, {crop}), with_roi(in, crop)));
  EXPECT_TRUE(same(process(filter, in, {}, {{100, 20, 30, 15}}), with_roi(in, {})));
}

TEST_P(RoiFrom, NoneAndChangesWhilePlaying) {
  const Picture in = frame();
  const Rectangle roi{50, 30, 30, 20}, region{10, 20, 30, 15}, crop{0, 0, 25, 30};
  Filter filter(launch("cudaautothreshold", "roi=<50,30,30,20>"));
  for (const auto &[from, used] : {std::pair{"none", roi}, std::pair{"meta", region},
                                   std::pair{"crop", crop}, std::pair{"none", roi}}) {
    gst_util_set_object_arg(G_OBJECT(filter.element()), "roi-from", from);
    EXPECT_TRUE(same(process(filter, in, {region}, {crop}), with_roi(in, used))) << from;
  }
}

TEST_P(RoiFrom, EveryElementThatHasRoi) {
  const Picture in = frame();
  const Rectangle roi{10, 20, 30, 15};
  Filter equalize(launch("cudaequalize", "roi-from=meta"));
  EXPECT_TRUE(same(process(equalize, in, {roi}), expected(in, EqualizeParams{.roi = roi})));
  Filter binarize(launch("cudabinarize", "roi-from=meta"));
  EXPECT_TRUE(same(process(binarize, in, {roi}), expected(in, BinarizeParams{.roi = roi})));
}

TEST_P(RoiFrom, ABadRoiIsRefusedOnlyWhereItIsUsed) {
  Filter filter(launch("cudaautothreshold", "roi=<90,0,5,5> roi-from=meta"));
  const Picture in = frame();
  EXPECT_TRUE(same(process(filter, in, {{1, 2, 30, 40}}), with_roi(in, {1, 2, 30, 40})));
  EXPECT_NE(error_of_next_frame(filter, in).find("<90, 0, 5, 5>"), std::string::npos);
}

TEST_P(RoiFrom, MetasReachTheNextElement) {
  if (!cuda()) GTEST_SKIP() << "the next element is in CUDAMemory";
  const Picture in = frame();
  const Rectangle roi{10, 20, 30, 15};
  Filter filter(launch("cudaswofilter", "operator=median") + "! " +
                launch("cudaautothreshold", "roi-from=meta"));
  const Picture median = expected(in, SwoFilterParams{.op = SwoFilterOperator::median});
  EXPECT_TRUE(same(process(filter, in, {roi}), with_roi(median, roi)));
}

}  // namespace
}  // namespace cudascan::elements
