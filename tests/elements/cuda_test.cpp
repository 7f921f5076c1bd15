// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in GPU memory: stock elements of nvcodec around ours, and several of ours in a row.
#include "tests/elements/cuda_memory.h"

namespace cudascan::elements {
namespace {

TEST_F(CudaMemory, StockElementsShareTheFormats) {
  NEEDS_ELEMENTS("cudaupload", "cudadownload");
  const auto formats = common_formats();
  for (GstVideoFormat wanted :
       {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_P010_10LE,
        GST_VIDEO_FORMAT_P016_LE, GST_VIDEO_FORMAT_Y444, GST_VIDEO_FORMAT_Y444_16LE})
    EXPECT_TRUE(std::find(formats.begin(), formats.end(), wanted) != formats.end())
        << gst_video_format_to_string(wanted);
}

TEST_F(CudaMemory, EveryCombinationOfMemoriesGivesThePictureOfTheCpu) {
  NEEDS_ELEMENTS("cudaupload", "cudadownload");
  for (GstVideoFormat format : common_formats())
    for (const bool cuda_in : {false, true})
      for (const bool cuda_out : {false, true}) {
        const std::string launch =
            (cuda_in ? "cudaupload ! " + kInCuda + " ! " : "capsfilter caps=video/x-raw ! ") +
            kNick +
            (cuda_out ? "! " + kInCuda + " ! cudadownload ! capsfilter caps=video/x-raw"
                      : "! capsfilter caps=video/x-raw");
        SCOPED_TRACE(launch);
        Filter filter(launch);
        for (const auto &[width, height] : kSizes)
          for (unsigned seed = 0; seed < 3; ++seed) {
            const Picture in = make_picture(format, width, height, seed);
            if ((cuda_in || cuda_out) && !stock_carries(in)) {
              EXPECT_TRUE(width % 2 || height % 2) << "stock elements change a frame of even size";
              continue;
            }
            ASSERT_TRUE(same(filter.process(in), expected(in, window15())));
          }
      }
}

TEST_F(CudaMemory, ChromaIsCopiedWithAThresholdSurface) {
  NEEDS_ELEMENTS("cudaupload", "cudadownload");
  NickParams params = window15();
  params.output = NickOutput::threshold;
  for (GstVideoFormat format : common_formats()) {
    Filter filter("cudaupload ! " + kInCuda + " ! " + kNick + "output=threshold ! " + kInCuda +
                  " ! cudadownload");
    const Picture in = make_picture(format, 62, 38);
    ASSERT_TRUE(same(filter.process(in), expected(in, params)));
  }
}

TEST_F(CudaMemory, DirectionsAreColoursInBothMemories) {
  const LinearOpenParams params{
      .length = 7, .directions = 12, .output = LinearOpenOutput::orientation};
  // The element before it passes frames on in GPU memory.
  const std::string in_cuda = "cudaequalize backend=cuda amount=0 ! " + kInCuda + " ! ",
                    element =
                        "cudalinearopen backend=cuda length=7 directions=12 "
                        "output=orientation";
  for (GstVideoFormat format : template_formats("cudalinearopen", GST_PAD_SRC, kCudaMemory))
    for (const std::string &launch : {element, in_cuda + element})
      for (const std::string &sink_caps : {std::string("video/x-raw"), kInCuda}) {
        SCOPED_TRACE(launch + " ! " + sink_caps);
        Filter filter(launch, sink_caps);
        for (const auto &[width, height] : kSizes) {
          const Picture in = make_picture(format, width, height);
          ASSERT_TRUE(same(filter.process(in), expected(in, params)));
        }
      }
}

TEST_F(CudaMemory, SlidingWindowsInBothMemories) {
  using Op = SwoFilterOperator;
  const std::pair<const char *, SwoFilterParams> cases[] = {
      {"operator=median window=5", {.op = Op::median, .window = 5}},
      {"operator=open window=15 shape=ellipse", {.op = Op::open, .window = 15, .shape = "ellipse"}},
      {"operator=thin", {.op = Op::thin}},
      {"operator=reconstruct", {.op = Op::reconstruct}}};
  // The element before it passes frames on in GPU memory.
  const std::string in_cuda = "cudaequalize backend=cuda amount=0 ! " + kInCuda + " ! ";
  for (const auto &[settings, params] : cases)
    for (GstVideoFormat format : template_formats("cudaswofilter", GST_PAD_SRC, kCudaMemory))
      for (const std::string &before : {std::string(), in_cuda})
        for (const std::string &sink_caps : {std::string("video/x-raw"), kInCuda}) {
          const std::string launch = before + "cudaswofilter backend=cuda " + settings;
          SCOPED_TRACE(launch + " ! " + sink_caps);
          Filter filter(launch, sink_caps);
          for (const auto &[width, height] : kSizes) {
            const Picture in = make_picture(format, width, height);
            ASSERT_TRUE(same(filter.process(in), expected(in, params)));
          }
        }
}

TEST_F(CudaMemory, TheCpuReadsEveryFormatOfTheOutput) {
  for (GstVideoFormat format : template_formats("cudanick", GST_PAD_SRC, kCudaMemory)) {
    Filter filter(kNick, kInCuda);
    for (const auto &[width, height] : kSizes) {
      const Picture in = make_picture(format, width, height);
      ASSERT_TRUE(same(filter.process(in), expected(in, window15())));
    }
  }
}

TEST_F(CudaMemory, GrayStaysOnTheGpuBetweenOurElements) {
  for (GstVideoFormat format : template_formats("cudanick", GST_PAD_SRC, kCudaMemory)) {
    const std::string caps = kInCuda + ",format=" + gst_video_format_to_string(format);
    Filter filter(kNick + "output=threshold ! " + caps + " ! cudanick backend=cuda window=5 ! " +
                  caps + " ! cudanick backend=cuda window=31 ! capsfilter caps=video/x-raw");
    NickParams first = window15(), second, third;
    first.output = NickOutput::threshold;
    second.window = 5, third.window = 31;
    for (const auto &[width, height] : kSizes) {
      const Picture in = make_picture(format, width, height);
      ASSERT_TRUE(same(filter.process(in), expected(expected(expected(in, first), second), third)));
    }
  }
}

TEST_F(CudaMemory, DeepFramesGiveGray8OnTheGpu) {
  for (GstVideoFormat format : {GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_P010_10LE}) {
    Filter filter(kNick + "! " + kInCuda + ",format=GRAY8 ! cudanick backend=cuda window=5");
    NickParams second;
    second.window = 5;
    const Picture in = make_picture(format, 62, 38);
    EXPECT_TRUE(same(filter.process(in),
                     expected(expected(in, window15(), GST_VIDEO_FORMAT_GRAY8), second)));
  }
}

TEST_F(CudaMemory, NeighboursAgreeOnCudaMemoryUnasked) {
  Filter filter("cudanick name=a backend=cuda ! cudanick name=b backend=cuda ! cudanick name=c");
  filter.process(make_picture(GST_VIDEO_FORMAT_GRAY8, 64, 48));
  for (const char *name : {"a", "b"}) {
    Ref<GstElement> element = filter.find(name);
    Ref<GstPad> pad(gst_element_get_static_pad(element.get(), "src"));
    Ref<GstCaps> caps(gst_pad_get_current_caps(pad.get()));
    ASSERT_TRUE(caps);
    EXPECT_TRUE(gst_caps_features_contains(gst_caps_get_features(caps.get(), 0), kCudaMemory))
        << name;
  }
}

TEST_F(CudaMemory, AConsumerThatTakesAnythingGetsSystemMemory) {
  Filter filter(kNick);
  filter.process(make_picture(GST_VIDEO_FORMAT_GRAY8, 64, 48));
  Ref<GstCaps> caps = filter.output_caps();
  EXPECT_FALSE(gst_caps_features_contains(gst_caps_get_features(caps.get(), 0), kCudaMemory));
}

/// The result of `once()`, in CUDAMemory of an element that no longer exists when this returns.
Ref<GstBuffer> cuda_frame(const Picture &in, Ref<GstCaps> &caps) {
  Filter filter(kNick, kInCuda);
  EXPECT_EQ(filter.push_picture(in), GST_FLOW_OK);
  caps = filter.output_caps();
  return filter.pull();
}

TEST_F(CudaMemory, TheOfferedPoolMakesFramesThatTheElementTakes) {
  for (GstVideoFormat format : template_formats("cudanick", GST_PAD_SINK, kCudaMemory))
    for (const auto &[width, height] : kSizes) {
      const Picture in = make_picture(format, width, height);
      Ref<GstCaps> caps = make_caps(format, width, height, "memory:CUDAMemory");
      Filter filter(kNick);
      filter.set_caps(caps.get());
      Ref<GstQuery> query(gst_query_new_allocation(caps.get(), TRUE));
      ASSERT_TRUE(gst_pad_peer_query(filter.harness()->srcpad, query.get()));
      ASSERT_GE(gst_query_get_n_allocation_pools(query.get()), 1u);
      GstBufferPool *raw = nullptr;
      gst_query_parse_nth_allocation_pool(query.get(), 0, &raw, nullptr, nullptr, nullptr);
      ASSERT_TRUE(raw);
      Ref<GstBufferPool> pool(raw);
      ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
      GstBuffer *frame = nullptr;
      ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &frame, nullptr), GST_FLOW_OK);
      EXPECT_TRUE(gst_memory_is_type(gst_buffer_peek_memory(frame, 0), "gst.cuda.memory"));
      fill(frame, in);
      ASSERT_EQ(filter.push(Ref<GstBuffer>(frame)), GST_FLOW_OK);
      ASSERT_TRUE(same(to_picture(filter.pull().get(), filter.output_caps().get()), once(in)));
      gst_buffer_pool_set_active(pool.get(), FALSE);
    }
}

TEST_F(CudaMemory, FramesCanBeCopied) {
  for (GstVideoFormat format : template_formats("cudanick", GST_PAD_SRC, kCudaMemory))
    for (const auto &[width, height] : kSizes) {
      const Picture in = make_picture(format, width, height);
      Ref<GstCaps> caps;
      Ref<GstBuffer> frame = cuda_frame(in, caps);
      ASSERT_TRUE(frame);
      Ref<GstBuffer> copy(gst_buffer_copy_deep(frame.get()));
      ASSERT_TRUE(copy) << gst_video_format_to_string(format);
      frame.reset();
      ASSERT_TRUE(same(to_picture(copy.get(), caps.get()), once(in)));
    }
}

TEST_F(CudaMemory, WhatTheCpuWroteIsWhatTheGpuReads) {
  for (GstVideoFormat format : template_formats("cudanick", GST_PAD_SRC, kCudaMemory)) {
    const Picture other = make_picture(format, 62, 38, 9);
    Ref<GstCaps> caps;
    Ref<GstBuffer> frame = cuda_frame(make_picture(format, 62, 38), caps);
    ASSERT_TRUE(frame);
    frame.reset(gst_buffer_make_writable(frame.release()));
    fill(frame.get(), other);
    Filter filter(kNick);
    filter.set_caps(caps.get());
    ASSERT_EQ(filter.push(std::move(frame)), GST_FLOW_OK);
    ASSERT_TRUE(same(to_picture(filter.pull().get(), filter.output_caps().get()), once(other)));
  }
}

TEST_F(CudaMemory, AFrameOutlivesItsElement) {
  Ref<GstCaps> caps;
  std::vector<Ref<GstBuffer>> frames;
  for (unsigned seed = 0; seed < 20; ++seed)
    frames.push_back(cuda_frame(make_picture(GST_VIDEO_FORMAT_GRAY8, 62, 38, seed), caps));
  for (unsigned seed = 0; seed < 20; ++seed)
    ASSERT_TRUE(same(to_picture(frames[seed].get(), caps.get()),
                     once(make_picture(GST_VIDEO_FORMAT_GRAY8, 62, 38, seed))));
}

TEST_F(CudaMemory, AutoTakesTheGpuForFramesInEitherMemory) {
  Filter system("cudanick");
  system.process(make_picture(GST_VIDEO_FORMAT_GRAY8, 20, 10));
  EXPECT_EQ(system.get_string("active-backend"), "cuda");
  NEEDS_ELEMENTS("cudaupload");
  Filter device("cudaupload ! " + kInCuda + " ! cudanick");
  device.process(make_picture(GST_VIDEO_FORMAT_NV12, 20, 10));
  EXPECT_EQ(device.get_string("active-backend"), "cuda");
}

TEST_F(CudaMemory, TheCpuBackendWorksOnFramesOfTheGpu) {
  NEEDS_ELEMENTS("cudaupload");
  Filter filter("cudaupload ! cudanick backend=cpu window=15 ! cudanick backend=cuda window=15");
  const Picture in = make_picture(GST_VIDEO_FORMAT_NV12, 62, 38);
  EXPECT_TRUE(same(filter.process(in), twice(in)));
}

TEST_F(CudaMemory, RenegotiationBetweenMemoriesInMidStream) {
  Filter filter(kNick);
  const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY8, 62, 38);
  for (const char *caps : {"video/x-raw(memory:CUDAMemory)", "video/x-raw",
                           "video/x-raw(memory:CUDAMemory)", "video/x-raw"}) {
    gst_harness_set_sink_caps_str(filter.harness(), caps);
    gst_harness_push_upstream_event(filter.harness(), gst_event_new_reconfigure());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(same(filter.process(in), once(in))) << caps;
  }
}

TEST_F(CudaMemory, EveryMethodAndSetting) {
  NEEDS_ELEMENTS("cudaupload");
  const std::pair<const char *, NickMethod> methods[] = {
      {"nick", NickMethod::nick},       {"niblack", NickMethod::niblack},
      {"sauvola", NickMethod::sauvola}, {"wolf", NickMethod::wolf},
      {"bradley", NickMethod::bradley}, {"phansalkar", NickMethod::phansalkar}};
  for (const auto &[name, method] : methods)
    for (GstVideoFormat format : {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_P010_10LE})
      for (const int window : {3, 33, 255}) {
        Filter filter("cudaupload ! " + kInCuda +
                      " ! cudanick backend=cuda report=message method=" + name +
                      " window=" + std::to_string(window));
        NickParams params;
        params.method = method, params.window = window;
        NickReport report;
        const Picture in = make_picture(format, 200, 150);
        ASSERT_TRUE(
            same(filter.process(in), expected(in, params, GST_VIDEO_FORMAT_UNKNOWN, &report)))
            << name << " window " << window;
        Ref<GstMessage> message = filter.pop(GST_MESSAGE_ELEMENT);
        ASSERT_TRUE(message);
        double black = -1;
        gst_structure_get_double(gst_message_get_structure(message.get()), "black-ratio", &black);
        EXPECT_EQ(black, report.black_ratio);
      }
}

TEST_F(CudaMemory, OneContextServesAPipeline) {
  NEEDS_ELEMENTS("cudaupload", "cudadownload");
  Pipeline pipeline(
      "videotestsrc num-buffers=3 ! cudaupload ! cudanick ! cudanick ! cudadownload ! "
      "fakesink",
      true);
  pipeline.set_state(GST_STATE_PLAYING);
  int contexts = 0;
  for (;;) {
    Ref<GstMessage> message(gst_bus_timed_pop_filtered(
        pipeline.bus().get(), 60 * GST_SECOND,
        static_cast<GstMessageType>(GST_MESSAGE_HAVE_CONTEXT | GST_MESSAGE_EOS |
                                    GST_MESSAGE_ERROR)));
    ASSERT_TRUE(message);
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_HAVE_CONTEXT) {
      ++contexts;
      continue;
    }
    EXPECT_EQ(GST_MESSAGE_TYPE(message.get()), GST_MESSAGE_EOS);
    break;
  }
  EXPECT_EQ(contexts, 1);
}

}  // namespace
}  // namespace cudascan::elements
