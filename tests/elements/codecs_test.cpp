// SPDX-License-Identifier: LGPL-2.1-or-later
// Encoders after the elements, and cameras that send JPEG before them, without videoconvert.
#include <algorithm>
#include <cstdlib>

#include "tests/elements/operators.h"

namespace cudascan::elements {
namespace {

class Codecs : public BackendTest {};
INSTANTIATE_BACKENDS(Codecs);

bool contains(const std::vector<GstVideoFormat> &formats, GstVideoFormat format) {
  return std::find(formats.begin(), formats.end(), format) != formats.end();
}

struct Codec {
  const char *name;               ///< of the encoder
  const char *encoder, *decoder;  ///< launch lines
  int tolerance = 0;              ///< of a sample that is read back
  const char *feature = nullptr;  ///< the kind of memory that the encoder reads
};
// By default jpegdec calculates less exactly.
const char *const kExactJpegdec = "jpegdec idct-method=islow";
const Codec kPng{"pngenc", "pngenc", "pngdec"},
    kJpeg{"jpegenc", "jpegenc quality=100 idct-method=islow", kExactJpegdec, 2},
    kH264{"x264enc", "x264enc pass=quant quantizer=0 speed-preset=ultrafast", "avdec_h264"},
    kGpuJpeg{"nvjpegenc", "nvjpegenc quality=100", kExactJpegdec, 4},
    kGpuJpegInCuda{"nvjpegenc", "nvjpegenc quality=100", kExactJpegdec, 4, kCudaMemory};

/// The encoder takes the result of the element, in the format of the input if it knows that one and
/// in GRAY8 otherwise, and the result is what a decoder reads back.
/// @param deep_too  also for samples of more than 8 bits, which in GRAY8 are black or white
template <typename Params>
void expect_read_back(const std::string &element, const Params &params, const Codec &codec,
                      bool deep_too = true) {
  const auto taken = template_formats(codec.name, GST_PAD_SINK, codec.feature);
  int formats = 0;
  for (const GstVideoFormat format : kKindsOfFormats) {
    const Picture in = make_picture(format, 40, 30);
    const bool own = contains(taken, format);
    if (!own && !contains(taken, GST_VIDEO_FORMAT_GRAY8)) continue;
    if (!own && !deep_too && in.maximum() > 255) continue;
    const std::string memory =
        codec.feature ? "! video/x-raw(" + std::string(codec.feature) + ") " : "";
    const std::string line =
        element + memory + "! " + codec.encoder + " name=encoder ! " + codec.decoder;
    SCOPED_TRACE(line + " from " + in.format_info()->name);
    Filter filter(line);
    ASSERT_EQ(filter.push_picture(in), GST_FLOW_OK);
    gst_harness_push_event(filter.harness(), gst_event_new_eos());  // x264enc holds frames back
    Ref<GstBuffer> buffer = filter.pull();
    ASSERT_TRUE(buffer);
    const Picture read = to_picture(buffer.get(), filter.output_caps().get());
    const Picture wanted =
        expected(in, params, own ? GST_VIDEO_FORMAT_UNKNOWN : GST_VIDEO_FORMAT_GRAY8);
    Ref<GstPad> pad(gst_element_get_static_pad(filter.find("encoder").get(), "sink"));
    Ref<GstCaps> caps(gst_pad_get_current_caps(pad.get()));
    EXPECT_STREQ(gst_structure_get_string(gst_caps_get_structure(caps.get(), 0), "format"),
                 wanted.format_info()->name);
    const auto &got = read.components[0], &want = wanted.components[0];
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_LE(std::abs(got[i] - want[i]), codec.tolerance)
          << "in column " << i % 40 << " of row " << i / 40;
    ++formats;
  }
  EXPECT_GT(formats, 0) << codec.name;
}

/// Every kind of result that is black and white, or a map.
void expect_results_read_back(const Codecs &test, const Codec &codec) {
  const auto launch = [&](const char *name, const char *settings = "") {
    return std::string(name) + " backend=" + test.GetParam() + " " + settings + " ";
  };
  using Op = SwoFilterOperator;
  expect_read_back(launch("cudanick"), NickParams{}, codec);
  expect_read_back(launch("cudabinarize"), BinarizeParams{}, codec);
  expect_read_back(launch("cudaautothreshold"), AutothresholdParams{}, codec);
  expect_read_back(launch("cudaswofilter", "operator=thin"), SwoFilterParams{.op = Op::thin},
                   codec);
  expect_read_back(launch("cudanick", "output=threshold"),
                   NickParams{.output = NickOutput::threshold}, codec, false);
  expect_read_back(launch("cudabinarize", "output=darkness"),
                   BinarizeParams{.output = BinarizeOutput::darkness}, codec, false);
  expect_read_back(launch("cudaautothreshold", "classes=3"), AutothresholdParams{.classes = 3},
                   codec, false);
  expect_read_back(launch("cudalinearopen", "directions=4 output=orientation"),
                   LinearOpenParams{.directions = 4, .output = LinearOpenOutput::orientation},
                   codec, false);
}

TEST_P(Codecs, PngIsTheResult) {
  NEEDS_ELEMENTS("pngenc", "pngdec");
  expect_results_read_back(*this, kPng);
}

TEST_P(Codecs, JpegIsNearlyTheResult) {
  NEEDS_ELEMENTS("jpegenc", "jpegdec");
  expect_results_read_back(*this, kJpeg);
}

TEST_P(Codecs, LosslessH264IsTheResult) {
  if (first_missing({"x264enc", "avdec_h264"})) GTEST_SKIP() << "no x264enc or no avdec_h264";
  expect_results_read_back(*this, kH264);
}

TEST_P(Codecs, JpegOfTheGpuIsNearlyTheResult) {
  if (first_missing({"nvjpegenc", "jpegdec"})) GTEST_SKIP() << "no nvjpegenc or no jpegdec";
  expect_results_read_back(*this, kGpuJpeg);
  if (cuda()) expect_results_read_back(*this, kGpuJpegInCuda);
}

/// What a camera sends: JPEG with the picture's own sampling, under the caps of v4l2src.
std::pair<Ref<GstBuffer>, Ref<GstCaps>> jpeg_of(const Picture &picture) {
  Filter encoder("jpegenc");
  encoder.push_picture(picture);
  Ref<GstCaps> caps(gst_caps_from_string("image/jpeg, parsed=true, framerate=25/1"));
  gst_caps_set_simple(caps.get(), "width", G_TYPE_INT, picture.width, "height", G_TYPE_INT,
                      picture.height, nullptr);
  return {encoder.pull(), std::move(caps)};
}

Picture decoded(const std::string &launch, GstBuffer *jpeg, GstCaps *caps) {
  Filter filter(launch);
  filter.set_caps(caps);
  EXPECT_EQ(filter.push(Ref<GstBuffer>(gst_buffer_ref(jpeg))), GST_FLOW_OK) << launch;
  return to_picture(filter.pull().get(), filter.output_caps().get());
}

TEST_P(Codecs, EveryElementTakesTheFramesOfAJpegCamera) {
  NEEDS_ELEMENTS("jpegenc", "jpegdec");
  for (const GstVideoFormat format : {GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_I420,
                                      GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444})
    for (const auto &[width, height] : {std::pair{64, 48}, std::pair{61, 37}}) {
      const auto [jpeg, caps] = jpeg_of(make_picture(format, width, height));
      const Picture frame = decoded("jpegdec", jpeg.get(), caps.get());
      EXPECT_EQ(frame.width, width);
#define EXPECT_FRAME(op, Name)                                                         \
  EXPECT_TRUE(same(decoded("jpegdec ! " + launch("cuda" #op), jpeg.get(), caps.get()), \
                   expected(frame, Name##Params{})))                                   \
      << #op;
      CUDASCAN_OPERATORS(EXPECT_FRAME)
    }
}

/// nvjpegdec gives NV12 for 4:2:0 and Y444 for 4:4:4. It refuses gray and 4:2:2.
TEST(CudaCodecs, EveryElementTakesTheFramesOfAJpegCameraFromTheGpu) {
  NEEDS_GPU();
  if (first_missing({"jpegparse", "nvjpegdec"})) GTEST_SKIP() << "no jpegparse or no nvjpegdec";
  NEEDS_ELEMENTS("jpegenc", "cudadownload");
  const auto check = [](GstVideoFormat format, const std::string &element, const auto &params) {
    Pipeline pipeline(
        "appsrc name=src ! jpegenc ! image/jpeg ! jpegparse ! nvjpegdec ! "
        "video/x-raw(memory:CUDAMemory) ! tee name=t  "
        "t. ! queue ! " +
        element +
        " backend=cuda ! video/x-raw ! "
        "appsink name=result sync=false  "
        "t. ! queue ! cudadownload ! video/x-raw ! appsink name=raw sync=false");
    Ref<GstElement> raw = pipeline.find("raw"), result = pipeline.find("result");
    Feeder feeder(pipeline.find("src").get(), 3, [format](int i) {
      return make_picture(format, 128, 96, static_cast<unsigned>(i));
    });
    pipeline.set_state(GST_STATE_PLAYING);
    for (int i = 0; i < 3; ++i) {
      Ref<GstSample> in = pull_sample(raw.get()), out = pull_sample(result.get());
      ASSERT_TRUE(in && out) << element << " " << pipeline.wait();
      ASSERT_TRUE(same(to_picture(out.get()), expected(to_picture(in.get()), params))) << element;
    }
  };
  for (const GstVideoFormat format : {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_Y444}) {
#define CHECK_ELEMENT(op, Name) check(format, "cuda" #op, Name##Params{});
    CUDASCAN_OPERATORS(CHECK_ELEMENT)
  }
}

}  // namespace
}  // namespace cudascan::elements
