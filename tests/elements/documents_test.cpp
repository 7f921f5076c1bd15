// SPDX-License-Identifier: LGPL-2.1-or-later
// Real scans and clips through whole pipelines, if the shared images are present.
#include <filesystem>

#include "tests/elements/support.h"

namespace cudascan::elements {
namespace {

#define NEEDS_FILE(variable, name)              \
  const std::string variable = data_file(name); \
  if (variable.empty()) GTEST_SKIP() << "no " << name << " (CUDASCAN_TEST_DATA names the folder)"

class Documents : public BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    g_autofree char *folder = g_dir_make_tmp("cudascan-XXXXXX", nullptr);
    folder_ = folder;
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::string temporary(const char *name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};
INSTANTIATE_BACKENDS(Documents);

Picture decode(const std::string &file, const std::string &decoder, const char *format) {
  Pipeline pipeline("filesrc location=\"" + file + "\" ! " + decoder +
                    " ! videoconvert ! video/x-raw,format=" + format +
                    " ! appsink name=sink sync=false");
  pipeline.set_state(GST_STATE_PLAYING);
  Ref<GstSample> sample = pull_sample(pipeline.find("sink").get());
  if (!sample) {
    ADD_FAILURE() << file << " cannot be decoded";
    return {};
  }
  return to_picture(sample.get());
}

TEST_P(Documents, AScanBecomesACleanPageInAFile) {
  NEEDS_ELEMENTS("filesrc", "pngdec", "pngenc", "videoconvert", "filesink");
  NEEDS_FILE(scan, "dibco/dibco2009_H03.png");
  const std::string page = temporary("page.png");
  Pipeline pipeline("filesrc location=\"" + scan + "\" ! pngdec ! videoconvert ! " +
                    "video/x-raw,format=GRAY8 ! " + nick() + "! pngenc ! filesink location=\"" +
                    page + "\"");
  ASSERT_EQ(pipeline.play(), "");
  pipeline.set_state(GST_STATE_NULL);
  const Picture in = decode(scan, "pngdec", "GRAY8"), out = decode(page, "pngdec", "GRAY8");
  ASSERT_TRUE(same(out, expected(in, NickParams{})));
  EXPECT_GT(out.black_ratio(), 0.01);
  EXPECT_LT(out.black_ratio(), 0.5);
}

TEST_P(Documents, AScanBecomesACleanPageWithNothingSet) {
  NEEDS_ELEMENTS("filesrc", "pngdec", "pngenc", "videoconvert", "filesink");
  NEEDS_FILE(scan, "dibco/dibco2016_10.png");
  const std::string page = temporary("page.png");
  Pipeline pipeline("filesrc location=\"" + scan + "\" ! pngdec ! videoconvert ! " +
                    "video/x-raw,format=GRAY8 ! " + launch("cudabinarize") +
                    "! pngenc ! filesink location=\"" + page + "\"");
  ASSERT_EQ(pipeline.play(), "");
  pipeline.set_state(GST_STATE_NULL);
  const Picture in = decode(scan, "pngdec", "GRAY8"), out = decode(page, "pngdec", "GRAY8");
  ASSERT_TRUE(same(out, expected(in, BinarizeParams{})));
  EXPECT_GT(out.black_ratio(), 0.01);
  EXPECT_LT(out.black_ratio(), 0.5);
}

TEST_P(Documents, AColourScanWithoutAnyCapsNamed) {
  NEEDS_ELEMENTS("filesrc", "pngdec", "pngenc", "videoconvert", "filesink");
  NEEDS_FILE(scan, "dibco/dibco2016_10.png");
  const std::string page = temporary("page.png");
  Pipeline pipeline("filesrc location=\"" + scan + "\" ! pngdec ! videoconvert ! " + nick() +
                    "! videoconvert ! pngenc ! filesink location=\"" + page + "\"");
  ASSERT_EQ(pipeline.play(), "");
  pipeline.set_state(GST_STATE_NULL);
  const Picture out = decode(page, "pngdec", "GRAY8");
  for (auto p : out.components[0]) ASSERT_TRUE(p == 0 || p == 255) << p;
}

TEST_P(Documents, APhotographedPage) {
  NEEDS_ELEMENTS("filesrc", "jpegdec", "videoconvert");
  NEEDS_FILE(scan, "pages/w91frag.jpg");
  Pipeline pipeline("filesrc location=\"" + scan + "\" ! jpegdec ! " +
                    nick("method=sauvola k=0.2") + "! appsink name=sink sync=false");
  pipeline.set_state(GST_STATE_PLAYING);
  Ref<GstSample> sample = pull_sample(pipeline.find("sink").get());
  ASSERT_TRUE(sample);
  const Picture out = to_picture(sample.get());
  NickParams params;
  params.method = NickMethod::sauvola, params.k = 0.2;
  EXPECT_TRUE(
      same(out, expected(decode(scan, "jpegdec", gst_video_format_to_string(out.format)), params)));
}

TEST(CudaDocuments, AJpegDecodedOnTheGpu) {
  NEEDS_GPU();
  if (first_missing({"jpegparse", "nvjpegdec"})) GTEST_SKIP() << "no jpegparse or no nvjpegdec";
  NEEDS_ELEMENTS("filesrc", "cudadownload");
  NEEDS_FILE(scan, "pages/notesA1.jpg");
  Pipeline pipeline("filesrc location=\"" + scan +
                    "\" ! jpegparse ! nvjpegdec ! video/x-raw(memory:CUDAMemory) ! tee name=t  "
                    "t. ! queue ! cudanick backend=cuda ! video/x-raw ! appsink name=result  "
                    "t. ! queue ! cudadownload ! video/x-raw ! appsink name=raw");
  pipeline.set_state(GST_STATE_PLAYING);
  Ref<GstSample> raw = pull_sample(pipeline.find("raw").get()),
                 result = pull_sample(pipeline.find("result").get());
  ASSERT_TRUE(raw && result);
  EXPECT_TRUE(same(to_picture(result.get()), expected(to_picture(raw.get()), NickParams{})));
}

/// A clip decoded on the GPU: its frames, and the results of the element under test.
class CudaClips : public testing::TestWithParam<const char *> {
 protected:
  void SetUp() override { NEEDS_GPU(); }
};
INSTANTIATE_TEST_SUITE_P(Of, CudaClips,
                         testing::Values("video/blocks_720p.mp4",
                                         "video/bottle-detection_360p.mp4"),
                         [](const auto &info) { return "Clip" + std::to_string(info.index); });

int count_frames(const std::string &launch) {
  Pipeline pipeline(launch + " ! fakesink name=sink sync=false signal-handoffs=true");
  int frames = 0;
  g_signal_connect(pipeline.find("sink").get(), "handoff",
                   G_CALLBACK(+[](GstElement *, GstBuffer *, GstPad *, gpointer count) {
                     ++*static_cast<int *>(count);
                   }),
                   &frames);
  EXPECT_EQ(pipeline.play(), "");
  pipeline.set_state(GST_STATE_NULL);
  return frames;
}

TEST_P(CudaClips, EveryDecodedFrameIsTheCpusFrame) {
  NEEDS_ELEMENTS("filesrc", "qtdemux", "h264parse", "nvh264dec", "cudadownload");
  NEEDS_FILE(clip, GetParam());
  const std::string parse = "filesrc location=\"" + clip + "\" ! qtdemux ! h264parse";
  const int coded = count_frames(parse);
  ASSERT_GT(coded, 0);
  Pipeline pipeline(parse +
                    " ! nvh264dec ! video/x-raw(memory:CUDAMemory) ! tee name=t  "
                    "t. ! queue ! cudanick name=n backend=cuda window=33 ! video/x-raw ! "
                    "appsink name=result sync=false max-buffers=4  "
                    "t. ! queue ! cudadownload ! appsink name=raw sync=false max-buffers=4");
  Ref<GstElement> raw = pipeline.find("raw"), result = pipeline.find("result");
  NickParams params;
  params.window = 33;
  pipeline.set_state(GST_STATE_PLAYING);
  int frames = 0;
  for (;; ++frames) {
    Ref<GstSample> in = pull_sample(raw.get()), out = pull_sample(result.get());
    ASSERT_EQ(in != nullptr, out != nullptr) << "after " << frames << " frames";
    if (!in) break;
    EXPECT_EQ(GST_BUFFER_PTS(gst_sample_get_buffer(in.get())),
              GST_BUFFER_PTS(gst_sample_get_buffer(out.get())));
    ASSERT_TRUE(same(to_picture(out.get()), expected(to_picture(in.get()), params)))
        << "frame " << frames;
  }
  EXPECT_EQ(pipeline.wait(), "");
  EXPECT_EQ(frames, coded);
  EXPECT_EQ(stat(pipeline.find("n").get(), "frames"), static_cast<guint64>(coded));
  EXPECT_EQ(stat(pipeline.find("n").get(), "dropped"), 0u);
}

TEST_P(CudaClips, NoFrameIsLostWithQueuesAndTwoElements) {
  NEEDS_ELEMENTS("filesrc", "qtdemux", "h264parse", "nvh264dec");
  NEEDS_FILE(clip, GetParam());
  const std::string parse = "filesrc location=\"" + clip + "\" ! qtdemux ! h264parse";
  EXPECT_EQ(count_frames(parse + " ! nvh264dec ! queue ! cudanick output=threshold ! queue ! "
                                 "cudanick ! queue ! video/x-raw"),
            count_frames(parse));
}

TEST_P(CudaClips, WithoutAnyCapsNamed) {
  NEEDS_ELEMENTS("filesrc", "qtdemux", "h264parse", "nvh264dec", "videoconvert");
  NEEDS_FILE(clip, GetParam());
  const std::string parse = "filesrc location=\"" + clip + "\" ! qtdemux ! h264parse";
  EXPECT_EQ(count_frames(parse + " ! nvh264dec ! cudanick ! videoconvert"), count_frames(parse));
}

}  // namespace
}  // namespace cudascan::elements
