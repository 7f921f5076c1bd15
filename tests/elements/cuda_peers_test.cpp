// SPDX-License-Identifier: LGPL-2.1-or-later
// Elements on several GPUs in one process: frames in the memory of another GPU are copied from
// there, without the host, and in the right order.
#include "kernels/devices.h"
#include "tests/elements/cuda_memory.h"

namespace cudascan::elements {
namespace {

class CudaPeers : public CudaMemory {
 protected:
  void SetUp() override {
    NEEDS_GPU();
    if (Devices::all().size() < 2) GTEST_SKIP() << "there is only one CUDA device";
    // The context that tests share stays that of the first device.
    Filter(nick_on(0, "first")).process(make_picture(GST_VIDEO_FORMAT_GRAY8, 16, 16));
  }

  /// cudanick on a GPU, with its threshold surface, so that chroma is copied.
  static std::string nick_on(int device, const std::string &name) {
    return "cudanick name=" + name +
           " backend=cuda window=15 output=threshold cuda-device-id=" + std::to_string(device) +
           " ";
  }
  static Picture surface(const Picture &in) {
    NickParams params = window15();
    params.output = NickOutput::threshold;
    return expected(in, params);
  }

  /// Sends frames through a pipeline of `src` and `sink` and compares the results.
  static void compare(Pipeline &pipeline, int n, const std::function<Picture(int)> &picture,
                      const std::function<Picture(int)> &wanted) {
    Ref<GstElement> sink = pipeline.find("sink");
    Feeder feeder(pipeline.find("src").get(), n, picture);
    pipeline.set_state(GST_STATE_PLAYING);
    for (int i = 0; i < n; ++i) {
      Ref<GstSample> sample = pull_sample(sink.get());
      ASSERT_TRUE(sample) << "frame " << i << " is missing";
      ASSERT_TRUE(same(to_picture(sample.get()), wanted(i))) << "frame " << i;
    }
  }
};

TEST_F(CudaPeers, AChainAcrossTwoGpusCopiesFromGpuToGpu) {
  constexpr int kFrames = 20;
  for (const GstVideoFormat format :
       {GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_GRAY16_LE})
    for (const std::string between : {"! ", "! queue ! "}) {
      SCOPED_TRACE(gst_video_format_to_string(format) + between);
      const auto picture = [=](int i) { return make_picture(format, 62, 38, i); };
      Pipeline pipeline("appsrc name=src ! " + nick_on(0, "a") + between + nick_on(1, "b") +
                            between + nick_on(0, "c") +
                            "! video/x-raw ! appsink name=sink sync=false",
                        true);
      compare(pipeline, kFrames, picture,
              [&](int i) { return surface(surface(surface(picture(i)))); });
      for (const auto &[name, copies] :
           {std::pair{"a", 0}, std::pair{"b", kFrames}, std::pair{"c", kFrames}})
        EXPECT_EQ(stat(pipeline.find(name).get(), "peer-copies"), guint64(copies)) << name;
      for (const char *name : {"a", "b"})
        EXPECT_EQ(stat(pipeline.find(name).get(), "host-synchronisations"), 0u) << name;
    }
}

TEST_F(CudaPeers, PinnedMemoryOfAnotherGpuIsReadWithoutWaiting) {
  constexpr int kFrames = 20;
  const auto picture = [](int i) { return make_picture(GST_VIDEO_FORMAT_NV12, 62, 38, i); };
  Pipeline pipeline("appsrc name=src ! " + nick_on(0, "a") + "! video/x-raw ! " + nick_on(1, "b") +
                        "! video/x-raw ! appsink name=sink sync=false",
                    true);
  compare(pipeline, kFrames, picture, [&](int i) { return surface(surface(picture(i))); });
  EXPECT_EQ(stat(pipeline.find("a").get(), "host-synchronisations"), 0u);
  EXPECT_EQ(stat(pipeline.find("b").get(), "peer-copies"), 0u);
}

TEST_F(CudaPeers, AnElementFollowsFramesToTheirGpuUnlessItIsBoundToAnother) {
  for (const auto &[width, height] : kSizes) {
    const Picture in = make_picture(GST_VIDEO_FORMAT_NV12, width, height);
    Ref<GstCaps> caps;
    Ref<GstBuffer> frame;
    {  // the element does not outlive its frame
      Filter first(nick_on(1, "first"), kInCuda);
      ASSERT_EQ(first.push_picture(in), GST_FLOW_OK);
      caps = first.output_caps();
      frame = first.pull();
    }
    ASSERT_TRUE(frame);
    for (const auto &[device, copies] : {std::pair{-1, 0u}, std::pair{1, 0u}, std::pair{0, 1u}}) {
      Filter filter(nick_on(device, "b"));
      filter.set_caps(caps.get());
      ASSERT_EQ(filter.push(Ref<GstBuffer>(gst_buffer_ref(frame.get()))), GST_FLOW_OK);
      ASSERT_TRUE(
          same(to_picture(filter.pull().get(), filter.output_caps().get()), surface(surface(in))))
          << "on device " << device;
      EXPECT_EQ(stat(filter.find("b").get(), "peer-copies"), copies) << "on device " << device;
    }
  }
}

/// An element on the same GPU follows without an event. The event for another GPU is then made
/// after the fact, in the context of the writer.
TEST_F(CudaPeers, AnotherGpuReadsFramesThatUsuallyStay) {
  Filter first(nick_on(0, "first"), kInCuda), neighbour(nick_on(0, "neighbour"), kInCuda),
      other(nick_on(1, "other"));
  for (int i = 0; i < 40; ++i) {
    const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY8, 62, 38, i);
    ASSERT_EQ(first.push_picture(in), GST_FLOW_OK);
    Ref<GstBuffer> frame = first.pull();
    Filter &next = i % 10 == 9 ? other : neighbour;
    if (i == 0 || i == 9) next.set_caps(first.output_caps().get());
    ASSERT_EQ(next.push(std::move(frame)), GST_FLOW_OK) << "frame " << i;
    Ref<GstBuffer> out = next.pull();
    if (&next == &neighbour) continue;  // nobody waits for its result
    ASSERT_TRUE(same(to_picture(out.get(), next.output_caps().get()), surface(surface(in))));
  }
}

TEST_F(CudaPeers, FramesOfStockElementsComeFromTheirGpu) {
  NEEDS_ELEMENTS("cudaupload", "cudadownload");
  constexpr int kFrames = 20;
  const auto picture = [](int i) { return make_picture(GST_VIDEO_FORMAT_NV12, 62, 38, i); };
  Pipeline pipeline("appsrc name=src ! cudaupload cuda-device-id=0 ! " + kInCuda + " ! " +
                        nick_on(1, "b") + "! " + kInCuda +
                        " ! cudadownload cuda-device-id=1 ! appsink name=sink sync=false",
                    true);
  compare(pipeline, kFrames, picture, [&](int i) { return surface(picture(i)); });
  EXPECT_EQ(stat(pipeline.find("b").get(), "peer-copies"), guint64{kFrames});
}

TEST_F(CudaPeers, FiveElementsOnEachOfTwoGpusAtOnce) {
  constexpr int kFrames = 6;
  const auto chain = [](const std::string &settings) {
    std::string text = "appsrc name=src ! ";
    for (const char *element :
         {"cudaequalize", "cudalinearopen length=5", "cudaswofilter operator=median window=3",
          "cudanick window=15 output=threshold", "cudaautothreshold"})
      text += element + settings + " ! queue ! ";
    return text + "video/x-raw ! appsink name=sink sync=false";
  };
  const auto picture = [](int i) { return make_picture(GST_VIDEO_FORMAT_GRAY8, 62, 38, i); };
  std::vector<Picture> wanted;
  {
    Pipeline cpu(chain(" backend=cpu"));
    Ref<GstElement> sink = cpu.find("sink");
    Feeder feeder(cpu.find("src").get(), kFrames, picture);
    cpu.set_state(GST_STATE_PLAYING);
    while (Ref<GstSample> sample = pull_sample(sink.get()))
      wanted.push_back(to_picture(sample.get()));
  }
  ASSERT_EQ(wanted.size(), std::size_t{kFrames});
  Pipeline zero(chain(" backend=cuda cuda-device-id=0"), true),
      one(chain(" backend=cuda cuda-device-id=1"), true);
  Feeder other(one.find("src").get(), kFrames, picture);
  one.set_state(GST_STATE_PLAYING);
  compare(zero, kFrames, picture, [&](int i) { return wanted[i]; });
  Ref<GstElement> sink = one.find("sink");
  for (int i = 0; i < kFrames; ++i) {
    Ref<GstSample> sample = pull_sample(sink.get());
    ASSERT_TRUE(sample) << "frame " << i << " is missing";
    ASSERT_TRUE(same(to_picture(sample.get()), wanted[i])) << "frame " << i;
  }
}

}  // namespace
}  // namespace cudascan::elements
