// SPDX-License-Identifier: LGPL-2.1-or-later
// Samples of 8 to 14 bits in GRAY16_LE: significant-bits and bit-alignment, and what auto finds.
#include <algorithm>

#include "tests/elements/operators.h"

namespace cudascan::elements {
namespace {

constexpr int kWidth = 93, kHeight = 71;

class Bits : public BackendTest {};
INSTANTIATE_BACKENDS(Bits);

/// A format whose caps tell the bits, and the bits.
struct Twin {
  GstVideoFormat format;
  int bits;
  bool high;

  std::string alignment() const { return high ? "high" : "low"; }
  std::string settings() const {
    return "significant-bits=" + std::to_string(bits) + " bit-alignment=" + alignment() + " ";
  }
};
constexpr Twin kTwins[] = {{GST_VIDEO_FORMAT_I420_10LE, 10, false},
                           {GST_VIDEO_FORMAT_I420_12LE, 12, false},
                           {GST_VIDEO_FORMAT_P010_10LE, 10, true},
                           {GST_VIDEO_FORMAT_P012_LE, 12, true}};

Picture twin_picture(const Twin &twin, unsigned seed = 1) {
  Picture p = make_picture(twin.format, kWidth, kHeight, seed);
  p.full_range = true;
  return p;
}
/// The same luma as GRAY16_LE.
Picture as_gray16(const Picture &p) {
  return {GST_VIDEO_FORMAT_GRAY16_LE, p.width, p.height, {p.components[0]}};
}

/// All samples are of a number of bits, and use the lowest and the highest of them.
Picture of_bits(int bits, int shift = 0, unsigned seed = 1) {
  Picture p = make_picture(GST_VIDEO_FORMAT_GRAY16_LE, 40, 30, seed);
  for (auto &sample : p.components[0])
    sample = static_cast<std::uint16_t>(sample >> (16 - bits) << shift);
  p.components[0][0] = static_cast<std::uint16_t>(((1 << bits) - 1) << shift);
  return p;
}

std::pair<int, std::string> active(const Filter &filter) {
  guint bits = 99;
  g_object_get(filter.element(), "active-significant-bits", &bits, nullptr);
  return {static_cast<int>(bits), filter.get_string("active-bit-alignment")};
}
using Active = std::pair<int, std::string>;

TEST(BitsDefaults, AreAllBitsOfTheFormat) {
  for (const std::string &name : all_elements()) {
    Filter filter(name + " backend=cpu");
    EXPECT_EQ(filter.get_string("significant-bits"), "16") << name;
    EXPECT_EQ(filter.get_string("bit-alignment"), "auto") << name;
    EXPECT_EQ(active(filter), (Active{0, "auto"})) << name;
    filter.process(of_bits(8));
    EXPECT_EQ(active(filter), (Active{16, "low"})) << name << ": a dark scan stays what it is";
  }
}

TEST(BitsDefaults, OtherNumbersAreRefused) {
  for (const char *bits : {"7", "17", "-1", "many"}) {
    g_autoptr(GError) error = nullptr;
    const std::string line = std::string("cudanick significant-bits=") + bits;
    GstElement *element = gst_parse_launch(line.c_str(), &error);
    ASSERT_TRUE(error) << bits;
    EXPECT_NE(std::string(error->message).find("significant-bits"), std::string::npos)
        << error->message;
    if (element) gst_object_unref(gst_object_ref_sink(element));
  }
}

/// The result for GRAY16_LE is the one for a format with the same bits, with the settings and with
/// auto. Black and white has the maximum of GRAY16_LE.
template <typename Params>
void expect_twins_result(const std::string &element, const Params &params, bool black_and_white) {
  for (const Twin &twin : kTwins)
    for (const std::string &settings : {twin.settings(), std::string("significant-bits=auto")}) {
      SCOPED_TRACE(element + " " + settings + " " + twin.alignment());
      const Picture in = twin_picture(twin);
      Picture wanted = as_gray16(expected(in, params));
      if (black_and_white)
        for (auto &sample : wanted.components[0]) sample = sample ? 0xffff : 0;
      Filter filter(element + settings);
      ASSERT_TRUE(same(filter.process(as_gray16(in)), wanted));
      ASSERT_EQ(active(filter), Active(twin.bits, twin.alignment()));
    }
}

TEST_P(Bits, LocalThresholdsAreThoseOfTheFormat) {
  NickParams sauvola, phansalkar, surface;
  sauvola.method = NickMethod::sauvola, phansalkar.method = NickMethod::phansalkar;
  surface.method = NickMethod::sauvola, surface.output = NickOutput::threshold;
  expect_twins_result(nick("method=sauvola"), sauvola, true);
  expect_twins_result(nick("method=phansalkar"), phansalkar, true);
  expect_twins_result(nick("method=sauvola output=threshold"), surface, false);
}

TEST_P(Bits, GlobalThresholdsAreThoseOfTheFormat) {
  using Method = AutothresholdMethod;
  for (const auto &[name, method] :
       {std::pair{"huang", Method::huang}, std::pair{"shanbhag", Method::shanbhag},
        std::pair{"minimum", Method::minimum}})
    expect_twins_result(launch("cudaautothreshold", std::string("method=") + name),
                        AutothresholdParams{.method = method}, true);
  expect_twins_result(launch("cudaautothreshold", "apply=false"),
                      AutothresholdParams{.apply = false}, false);
  expect_twins_result(launch("cudaautothreshold", "classes=3"), AutothresholdParams{.classes = 3},
                      false);
}

TEST_P(Bits, ImagesStayInTheirBits) {
  expect_twins_result(launch("cudaequalize"), EqualizeParams{}, false);
  expect_twins_result(launch("cudaequalize", "method=clahe"),
                      EqualizeParams{.method = EqualizeMethod::clahe}, false);
  expect_twins_result(launch("cudalinearopen", "operation=black-hat"),
                      LinearOpenParams{.operation = LinearOpenOperation::black_hat}, false);
  expect_twins_result(launch("cudalinearopen", "directions=4 output=orientation"),
                      LinearOpenParams{.directions = 4, .output = LinearOpenOutput::orientation},
                      false);
  expect_twins_result(launch("cudaswofilter", "operator=median"),
                      SwoFilterParams{.op = SwoFilterOperator::median}, false);
  expect_twins_result(launch("cudaswofilter", "operator=thin"),
                      SwoFilterParams{.op = SwoFilterOperator::thin}, true);
}

TEST_P(Bits, PagesAreThoseOfTheFormat) {
  expect_twins_result(launch("cudabinarize"), BinarizeParams{}, true);
  expect_twins_result(launch("cudabinarize", "output=darkness"),
                      BinarizeParams{.output = BinarizeOutput::darkness}, false);
}

TEST_P(Bits, HistogramsHaveABinForEachLevel) {
  for (const Twin &twin : kTwins) {
    const Picture in = as_gray16(twin_picture(twin));
    Filter filter(launch("cudaequalize", twin.settings() + "report=message"));
    filter.process(in);
    Ref<GstMessage> message = filter.pop(GST_MESSAGE_ELEMENT);
    ASSERT_TRUE(message);
    std::vector<unsigned> counts(1 << twin.bits);
    for (const auto sample : in.components[0]) ++counts[sample >> (twin.high ? 16 - twin.bits : 0)];
    EXPECT_EQ(numbers_of<unsigned>(gst_message_get_structure(message.get()), "histogram"), counts);
  }
}

TEST_P(Bits, BlackAndWhiteIsGray8WhereItIsAskedFor) {
  const Twin &twin = kTwins[1];
  const Picture in = twin_picture(twin);
  NickParams params;
  params.method = NickMethod::sauvola;
  Filter filter(nick("method=sauvola " + twin.settings()), "video/x-raw, format=GRAY8");
  EXPECT_TRUE(same(filter.process(as_gray16(in)), expected(in, params, GST_VIDEO_FORMAT_GRAY8)));
}

TEST_P(Bits, TheAlignmentOfAKnownNumberIsFound) {
  for (const Twin &twin : kTwins) {
    Filter filter(nick("method=sauvola significant-bits=" + std::to_string(twin.bits)));
    filter.process(as_gray16(twin_picture(twin)));
    EXPECT_EQ(active(filter), Active(twin.bits, twin.alignment()));
  }
}

/// A wrong number of bits gives a poor picture, but the same one everywhere; only cudaswofilter
/// does not promise that.
TEST_P(Bits, SamplesAboveTheRange) {
  const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY16_LE, kWidth, kHeight);
  for (const std::string settings :
       {"cudanick", "cudanick method=sauvola", "cudanick method=phansalkar", "cudanick method=wolf",
        "cudanick output=threshold", "cudaautothreshold", "cudaautothreshold method=huang",
        "cudaequalize", "cudaequalize amount=0.5", "cudaequalize method=clahe",
        "cudalinearopen operation=top-hat directions=3",
        "cudalinearopen directions=3 output=orientation", "cudabinarize",
        "cudabinarize output=darkness"})
    for (const char *bits :
         {"significant-bits=8 bit-alignment=low", "significant-bits=13 bit-alignment=low",
          "significant-bits=10 bit-alignment=high"}) {
      SCOPED_TRACE(settings + " " + bits);
      const auto with = [&](const std::string &backend) {
        return Filter(settings + " " + bits + " " + backend).process(in);
      };
      EXPECT_TRUE(
          same(with(std::string("backend=") + GetParam()), with("backend=cpu n-threads=1")));
    }
}

TEST_P(Bits, SettingsCountFromTheNextFrame) {
  Filter filter(launch("cudaequalize", "method=clahe"));
  const EqualizeParams params{.method = EqualizeMethod::clahe};
  const Picture in = twin_picture(kTwins[1]), gray16 = as_gray16(in);
  const Picture of_12 = as_gray16(expected(in, params)), of_16 = expected(gray16, params);
  ASSERT_FALSE(same(of_12, of_16));
  for (const char *bits : {"16", "12", "auto", "16"}) {
    gst_util_set_object_arg(G_OBJECT(filter.element()), "significant-bits", bits);
    EXPECT_TRUE(same(filter.process(gray16), bits == std::string("16") ? of_16 : of_12)) << bits;
  }
}

TEST_P(Bits, CapsThatTellTheBitsAreBelieved) {
  for (const auto &[format, bits, alignment] :
       {std::tuple{GST_VIDEO_FORMAT_NV12, 8, "low"}, std::tuple{GST_VIDEO_FORMAT_RGB, 8, "low"},
        std::tuple{GST_VIDEO_FORMAT_P010_10LE, 10, "high"},
        std::tuple{GST_VIDEO_FORMAT_I420_12LE, 12, "low"},
        std::tuple{GST_VIDEO_FORMAT_Y444_16LE, 16, "low"}})
    for (const char *setting : {"auto", "9", "16"}) {
      Filter filter(launch("cudaequalize", std::string("significant-bits=") + setting));
      const Picture in = make_picture(format, 50, 40);
      EXPECT_TRUE(same(filter.process(in), expected(in, EqualizeParams{})));
      EXPECT_EQ(active(filter), Active(bits, alignment));
    }
}

TEST_P(Bits, AutoFindsWhatCamerasHave) {
  for (const int bits : {8, 10, 12, 14, 16})
    for (const bool high : {false, true}) {
      if (high && bits == 16) continue;
      Filter filter(nick("significant-bits=auto"));
      int counts = 0, alignments = 0;
      const Listener count(filter.element(), "notify::active-significant-bits", [&] { ++counts; }),
          alignment(filter.element(), "notify::active-bit-alignment", [&] { ++alignments; });
      for (unsigned i = 0; i < 3; ++i) {
        filter.process(of_bits(bits, high ? 16 - bits : 0, i));
        EXPECT_EQ(active(filter), Active(bits, high ? "high" : "low"));
      }
      EXPECT_EQ(counts, 1);
      EXPECT_EQ(alignments, 1);
    }
}

TEST_P(Bits, AutoGrowsWithTheFirstFrames) {
  Filter filter(nick("significant-bits=auto"));
  Picture black = of_bits(8);
  black.components[0].assign(black.components[0].size(), 0);
  filter.process(black);
  EXPECT_EQ(active(filter), Active(16, "low")) << "a black frame tells nothing";
  for (const auto &[bits, found] :
       {std::pair{7, 8}, std::pair{9, 10}, std::pair{12, 12}, std::pair{9, 12}, std::pair{3, 12},
        std::pair{13, 14}, std::pair{16, 16}, std::pair{10, 16}}) {
    filter.process(of_bits(bits));
    EXPECT_EQ(active(filter), Active(found, "low")) << bits;
  }
}

/// Light comes late: the frames from then on are measured without a wait, and count soon.
TEST_P(Bits, AutoGrowsLater) {
  constexpr int kDark = 20, kMost = 2 * 8;
  Filter filter(nick("significant-bits=auto"));
  for (unsigned i = 0; i < kDark; ++i) filter.process(of_bits(9, 0, i));
  EXPECT_EQ(active(filter), Active(10, "low"));
  int frames = 0;
  for (; active(filter).first == 10 && frames <= kMost; ++frames) filter.process(of_bits(12));
  EXPECT_EQ(active(filter), Active(12, "low"));
  EXPECT_EQ(frames, 13) << "the same on all backends: frame 24 is measured, and counts from 32 on";
}

TEST_P(Bits, AutoStartsAgainWithCapsAndFlushes) {
  Filter filter(nick("significant-bits=auto"));
  filter.process(of_bits(14));
  EXPECT_EQ(active(filter), Active(14, "low"));
  Ref<GstBuffer> buffer = to_buffer(of_bits(10));
  GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
  filter.push(std::move(buffer));
  filter.pull();
  EXPECT_EQ(active(filter), Active(14, "low")) << "a lost frame changes no camera";
  gst_harness_push_event(filter.harness(), gst_event_new_flush_start());
  gst_harness_push_event(filter.harness(), gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(filter.harness(), gst_event_new_segment(&segment));
  EXPECT_EQ(active(filter), Active(0, "auto"));
  filter.process(of_bits(10));
  EXPECT_EQ(active(filter), Active(10, "low"));
  filter.process(make_picture(GST_VIDEO_FORMAT_GRAY8, 40, 30));
  EXPECT_EQ(active(filter), Active(8, "low"));
  filter.process(of_bits(8, 8));
  EXPECT_EQ(active(filter), Active(8, "high"));
}

TEST_P(Bits, TheNextElementFindsTheSameBits) {
  Filter filter(launch("cudaequalize", "significant-bits=auto") + "! " +
                launch("cudaswofilter", "name=next operator=median significant-bits=auto"));
  const Twin &twin = kTwins[3];
  const Picture in = twin_picture(twin);
  Picture wanted = expected(in, EqualizeParams{});
  wanted = expected(wanted, SwoFilterParams{.op = SwoFilterOperator::median});
  EXPECT_TRUE(same(filter.process(as_gray16(in)), as_gray16(wanted)));
  EXPECT_EQ(property_text(filter.find("next").get(), "active-bit-alignment"), "high");
}

}  // namespace
}  // namespace cudascan::elements
