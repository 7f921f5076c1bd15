// SPDX-License-Identifier: LGPL-2.1-or-later
// Streams of frames in GPU memory: no element waits without need, and none reads unfinished frames.
#include "tests/elements/cuda_memory.h"

namespace cudascan::elements {
namespace {

TEST_F(CudaMemory, BetweenOurElementsTheHostDoesNotWait) {
  for (const std::string between : {"! ", "! queue ! "}) {
    Pipeline pipeline("appsrc name=src ! cudanick name=a backend=cuda " + between +
                      "cudanick name=b backend=cuda " + between +
                      "cudanick name=c backend=cuda ! video/x-raw ! appsink name=sink sync=false");
    const auto picture = [](int i) { return make_picture(GST_VIDEO_FORMAT_GRAY8, 320, 240, i); };
    Ref<GstElement> sink = pipeline.find("sink");
    Feeder feeder(pipeline.find("src").get(), 50, picture);
    pipeline.set_state(GST_STATE_PLAYING);
    for (int i = 0; i < 50; ++i) {
      Ref<GstSample> sample = pull_sample(sink.get());
      ASSERT_TRUE(sample);
      NickParams params;
      ASSERT_TRUE(same(to_picture(sample.get()),
                       expected(expected(expected(picture(i), params), params), params)));
    }
    EXPECT_EQ(stat(pipeline.find("b").get(), "host-synchronisations"), 0u);
    EXPECT_EQ(stat(pipeline.find("a").get(), "host-synchronisations"), 0u);
    EXPECT_LE(stat(pipeline.find("c").get(), "host-synchronisations"), 50u);
  }
}

TEST_F(CudaMemory, AChainFromUploadToDownloadDoesNotWaitInTheMiddle) {
  NEEDS_ELEMENTS("cudaupload", "cudadownload");
  Filter filter("cudaupload ! " + kInCuda + " ! cudanick name=a backend=cuda ! " + kInCuda +
                " ! cudanick name=b backend=cuda ! " + kInCuda +
                " ! cudanick name=c backend=cuda ! " + kInCuda + " ! cudadownload");
  NickParams params;
  for (int i = 0; i < 30; ++i) {
    const Picture in = make_picture(GST_VIDEO_FORMAT_NV12, 320, 240, i);
    ASSERT_TRUE(same(filter.process(in), expected(expected(expected(in, params), params), params)));
  }
  EXPECT_EQ(stat(filter.find("a").get(), "host-synchronisations"), 0u);
  EXPECT_EQ(stat(filter.find("b").get(), "host-synchronisations"), 0u);
  EXPECT_LE(stat(filter.find("c").get(), "host-synchronisations"), 30u);
}

/// 300 frames that differ, compared one by one at the end of a pipeline.
void compare_stream(const std::string &launch, GstVideoFormat format,
                    const std::function<Picture(const Picture &)> &wanted, bool hold) {
  SCOPED_TRACE(launch);
  const auto picture = [format](int i) { return make_picture(format, 160, 120, i); };
  Pipeline pipeline(launch);
  Ref<GstElement> sink = pipeline.find("sink");
  Feeder feeder(pipeline.find("src").get(), 300, picture);
  pipeline.set_state(GST_STATE_PLAYING);
  std::vector<Ref<GstSample>> held;
  for (int i = 0; i < 300; ++i) {
    Ref<GstSample> sample = pull_sample(sink.get());
    ASSERT_TRUE(sample) << "frame " << i << " is missing";
    if (hold)
      held.push_back(std::move(sample));
    else
      ASSERT_TRUE(same(to_picture(sample.get()), wanted(picture(i)))) << "frame " << i;
  }
  for (std::size_t i = 0; i < held.size(); ++i)
    ASSERT_TRUE(same(to_picture(held[i].get()), wanted(picture(static_cast<int>(i)))))
        << "frame " << i << ", held until now";
  EXPECT_FALSE(pull_sample(sink.get()));
}

TEST_F(CudaMemory, ThreeHundredFramesInTheirOrder) {
  const std::string sink = " ! appsink name=sink sync=false";
  const std::string in = "appsrc name=src ! queue ! ";
  for (const bool hold : {false, true}) {
    compare_stream(in + kNick + "! queue" + sink, GST_VIDEO_FORMAT_GRAY8, once, hold);
    compare_stream(in + kNick + "! queue ! " + kNick + "! queue" + sink, GST_VIDEO_FORMAT_NV12,
                   twice, hold);
    compare_stream(in + kNick + "! queue ! " + kNick + "! " + kInCuda + " ! queue" + sink,
                   GST_VIDEO_FORMAT_GRAY8, twice, hold);
    compare_stream(in + kNick + "! tee name=t  t. ! queue ! " + kNick + "! queue" + sink +
                       "  t. ! queue ! " + kNick + "! queue ! fakesink sync=false",
                   GST_VIDEO_FORMAT_GRAY16_LE, twice, hold);
  }
}

TEST_F(CudaMemory, ThreeHundredFramesBetweenStockElements) {
  NEEDS_ELEMENTS("cudaupload", "cudadownload");
  const std::string sink = " ! appsink name=sink sync=false";
  for (GstVideoFormat format :
       {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_P010_10LE}) {
    compare_stream("appsrc name=src ! cudaupload ! queue ! " + kInCuda + " ! " + kNick + "! " +
                       kInCuda + " ! queue ! cudadownload ! queue" + sink,
                   format, once, false);
    compare_stream("appsrc name=src ! cudaupload ! " + kInCuda + " ! " + kNick +
                       "! video/x-raw ! queue ! cudaupload ! " + kInCuda + " ! " + kNick +
                       "! video/x-raw" + sink,
                   format, twice, false);
  }
}

TEST_F(CudaMemory, AForeignConsumerOfEveryKindGetsFinishedFrames) {
  NEEDS_ELEMENTS("cudaupload", "cudadownload");
  if (first_missing({"cudaconvert"})) GTEST_SKIP() << "cudaconvert needs NVRTC";
  Filter filter("cudaupload ! " + kInCuda + " ! " + kNick + "! " + kInCuda +
                ",format=NV12 ! cudaconvert ! " + kInCuda + ",format=I420 ! cudadownload");
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Picture in = make_picture(GST_VIDEO_FORMAT_NV12, 320, 240, seed);
    const Picture out = filter.process(in), wanted = once(in);
    ASSERT_EQ(out.format, GST_VIDEO_FORMAT_I420);
    ASSERT_TRUE(out.components == wanted.components) << "frame " << seed;
  }
}

}  // namespace
}  // namespace cudascan::elements
