// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames with unusual memory layouts, described by a GstVideoMeta, on both sides of an element.
#include "tests/elements/support.h"

namespace cudascan::elements {
namespace {

class Layouts : public BackendTest {};
INSTANTIATE_BACKENDS(Layouts);

constexpr GstVideoFormat kFormats[] = {GST_VIDEO_FORMAT_GRAY8,     GST_VIDEO_FORMAT_NV12,
                                       GST_VIDEO_FORMAT_I420,      GST_VIDEO_FORMAT_GRAY16_LE,
                                       GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_I420_10LE};
constexpr Layout kLayouts[] = {{.plane_padding = 1},
                               {.row_bytes = 1},
                               {.plane_padding = 3, .row_bytes = 5},
                               {.upwards = true},
                               {.plane_padding = 1, .row_bytes = 3, .upwards = true},
                               {.split = true, .upwards = true},
                               {.pieces = 2},
                               {.pieces = 7},
                               {.row_padding = 3, .pieces = 5},
                               {.plane_padding = 1, .row_bytes = 1, .upwards = true, .pieces = 3}};

TEST_P(Layouts, FramesMayLieAnywhere) {
  for (const GstVideoFormat format : kFormats) {
    Filter binary(nick()), gray(launch("cudaswofilter", "operator=max window=5"));
    LinearOpenParams hues;
    hues.directions = 3, hues.output = LinearOpenOutput::orientation;
    Filter coloured(launch("cudalinearopen", "directions=3 output=orientation"));
    SwoFilterParams dilation;
    dilation.op = SwoFilterOperator::maximum, dilation.window = 5;
    for (std::size_t i = 0; i < std::size(kLayouts); ++i) {
      SCOPED_TRACE(testing::Message() << "layout " << i);
      const Picture in = make_picture(format, 61, 37, i);
      ASSERT_TRUE(same(binary.process(in, kLayouts[i]), expected(in, NickParams{})));
      ASSERT_TRUE(same(gray.process(in, kLayouts[i]), expected(in, dilation)));
      ASSERT_TRUE(same(coloured.process(in, kLayouts[i]), expected(in, hues)));
    }
  }
}

TEST_P(Layouts, TheFrameMayBePartOfALargerOne) {
  for (const GstVideoFormat format : kFormats) {
    const Picture in = make_picture(format, 60, 36);
    Filter filter(nick());
    Ref<GstBuffer> buffer = to_buffer(in, {.row_padding = 4});
    GstVideoMeta *meta = gst_buffer_get_video_meta(buffer.get());
    meta->width = 64, meta->height = 48;
    filter.set_caps(make_caps(in).get());
    ASSERT_EQ(filter.push(std::move(buffer)), GST_FLOW_OK);
    Ref<GstBuffer> out = filter.pull();
    ASSERT_TRUE(
        same(to_picture(out.get(), filter.output_caps().get()), expected(in, NickParams{})));
  }
}

/// A mistake in a GstVideoMeta.
struct Wrong {
  const char *what;
  void (*set)(GstVideoMeta *);
};
constexpr Wrong kWrong[] = {
    {"offset after the memory", [](GstVideoMeta *m) { m->offset[0] = 1 << 20; }},
    {"offset after the memory, chroma", [](GstVideoMeta *m) { m->offset[1] = G_MAXSIZE - 3; }},
    {"the last row reaches beyond the memory", [](GstVideoMeta *m) { m->offset[1] += 64; }},
    {"rows reach beyond the memory", [](GstVideoMeta *m) { m->stride[0] = 1 << 20; }},
    {"the first row goes up", [](GstVideoMeta *m) { m->stride[0] = -m->stride[0]; }},
    {"rows far before the memory", [](GstVideoMeta *m) { m->stride[1] = G_MININT; }},
    {"rows overlap", [](GstVideoMeta *m) { m->stride[0] = 7; }},
    {"one row", [](GstVideoMeta *m) { m->stride[1] = 0; }},
    {"less width", [](GstVideoMeta *m) { m->width = 62; }},
    {"less height", [](GstVideoMeta *m) { m->height = 0; }},
    {"another format", [](GstVideoMeta *m) { m->format = GST_VIDEO_FORMAT_NV21; }},
    {"fewer planes", [](GstVideoMeta *m) { m->n_planes = 1; }},
};

TEST_P(Layouts, AWrongMetaIsAnErrorAndNoCrash) {
  const Picture in = make_picture(GST_VIDEO_FORMAT_NV12, 64, 48);
  for (const Wrong &wrong : kWrong) {
    for (const int pieces : {1, 3}) {
      SCOPED_TRACE(wrong.what);
      Filter filter(launch("cudaequalize"));
      EXPECT_TRUE(same(filter.process(in), expected(in, EqualizeParams{})));
      Ref<GstBuffer> buffer = to_buffer(in, {.row_bytes = 2, .pieces = pieces});
      wrong.set(gst_buffer_get_video_meta(buffer.get()));
      EXPECT_EQ(filter.push(std::move(buffer)), GST_FLOW_ERROR);
      Ref<GstMessage> message = filter.pop(GST_MESSAGE_ERROR);
      ASSERT_TRUE(message);
      EXPECT_NE(error_text(message.get()).message.find("a frame"), std::string::npos)
          << error_text(message.get()).all();
      EXPECT_TRUE(same(filter.process(in), expected(in, EqualizeParams{}))) << "the next frame";
    }
  }
}

/// A pool of a consumer, whose frames have the given layout.
struct OddPool {
  GstBufferPool parent;
  GstVideoFormat format;
  int width, height;
  Layout layout;

  static GType type() {
    static const GType type = g_type_register_static_simple(
        GST_TYPE_BUFFER_POOL, "TestOddPool", sizeof(GstBufferPoolClass),
        [](gpointer klass, gpointer) {
          GST_BUFFER_POOL_CLASS(klass)->alloc_buffer = [](GstBufferPool *pool, GstBuffer **buffer,
                                                          GstBufferPoolAcquireParams *) {
            const auto self = reinterpret_cast<OddPool *>(pool);
            const Picture blank = make_picture(self->format, self->width, self->height, 99);
            *buffer = to_buffer(blank, self->layout).release();
            return GST_FLOW_OK;
          };
        },
        sizeof(OddPool), nullptr, static_cast<GTypeFlags>(0));
    return type;
  }
};

struct Offer {
  const Picture *picture;
  Layout layout;
};

/// Answers allocation queries with this pool.
GstPadProbeReturn offer_pool(GstPad *, GstPadProbeInfo *info, gpointer data) {
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return GST_PAD_PROBE_OK;
  const auto &[picture, layout] = *static_cast<Offer *>(data);
  Ref<GstBufferPool> pool(GST_BUFFER_POOL(g_object_new(OddPool::type(), nullptr)));
  gst_object_ref_sink(pool.get());
  auto odd = reinterpret_cast<OddPool *>(pool.get());
  odd->format = picture->format, odd->width = picture->width, odd->height = picture->height;
  odd->layout = layout;
  Ref<GstBuffer> sample = to_buffer(*picture, layout);
  const auto size = static_cast<guint>(gst_buffer_get_size(sample.get()));
  GstCaps *caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstStructure *config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, caps, size, 0, 0);
  gst_buffer_pool_set_config(pool.get(), config);
  gst_query_add_allocation_pool(query, pool.get(), size, 0, 0);
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  return GST_PAD_PROBE_HANDLED;
}

TEST_P(Layouts, ResultsMayBeWantedAnywhere) {
  for (const GstVideoFormat format : kFormats)
    for (std::size_t i = 0; i < std::size(kLayouts); ++i) {
      SCOPED_TRACE(testing::Message() << "layout " << i);
      const Picture in = make_picture(format, 61, 37, i);
      for (const bool binary : {true, false}) {
        Filter filter(binary ? nick() : launch("cudaequalize"));
        Offer offer{&in, kLayouts[i]};
        gst_pad_add_probe(filter.harness()->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
                          offer_pool, &offer, nullptr);
        const Picture wanted = binary ? expected(in, NickParams{}) : expected(in, EqualizeParams{});
        for (int frame = 0; frame < 3; ++frame) {
          ASSERT_EQ(filter.push_picture(in), GST_FLOW_OK);
          Ref<GstBuffer> out = filter.pull();
          ASSERT_TRUE(same(to_picture(out.get(), filter.output_caps().get()), wanted));
          const GstVideoMeta *meta = gst_buffer_get_video_meta(out.get());
          // With CUDA, results are downloaded into the element's own memory.
          if (!cuda() && kLayouts[i].upwards) {
            ASSERT_TRUE(meta);
            EXPECT_LT(meta->stride[0], 0) << "the consumer's pool was not used";
          }
        }
      }
    }
}

}  // namespace
}  // namespace cudascan::elements
