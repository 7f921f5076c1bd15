// SPDX-License-Identifier: LGPL-2.1-or-later
// How much thresholds and mappings of a real clip vary from frame to frame, with and without
// smoothing and hysteresis, if the shared clips are present.
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

#include "tests/elements/support.h"

namespace cudascan::elements {
namespace {

constexpr int kFrames = 60;

/// Mean absolute change of numbers from frame to frame. Numbers that only one of two frames has do
/// not count.
class Change {
 public:
  using Numbers = std::vector<std::optional<int>>;

  void add(Numbers numbers) {
    for (std::size_t i = 0; i < before_.size(); ++i)
      if (before_[i] && numbers[i]) {
        sum_ += std::abs(*numbers[i] - *before_[i]);
        ++n_;
      }
    before_ = std::move(numbers);
  }
  double mean() const { return n_ ? sum_ / static_cast<double>(n_) : 0; }

 private:
  Numbers before_;
  double sum_ = 0;
  std::int64_t n_ = 0;
};

/// The threshold that the element reported for its last frame.
int reported_threshold(Filter &filter) {
  Ref<GstMessage> message = filter.pop(GST_MESSAGE_ELEMENT);
  int threshold = -2;
  if (!message ||
      !gst_structure_get_int(gst_message_get_structure(message.get()), "threshold", &threshold))
    ADD_FAILURE() << "no threshold was reported";
  return threshold;
}

/// The element's output for each level of luma.
Change::Numbers mapping(const Picture &in, const Picture &out) {
  Change::Numbers map(256);
  for (std::size_t i = 0; i < in.components[0].size(); ++i)
    map[in.components[0][i]] = out.components[0][i];
  return map;
}

class Flicker : public BackendTest {};
INSTANTIATE_BACKENDS(Flicker);

TEST_P(Flicker, SmoothingAndHysteresisMakeAClipSteady) {
  if (first_missing({"filesrc", "qtdemux", "h264parse", "avdec_h264"}))
    GTEST_SKIP() << "no decoder for the clip";
  const std::string clip = data_file("video/blocks_720p.mp4");
  if (clip.empty()) GTEST_SKIP() << "no clip (CUDASCAN_TEST_DATA names the folder)";
  Pipeline pipeline("filesrc location=\"" + clip +
                    "\" ! qtdemux ! h264parse ! avdec_h264 ! video/x-raw,format=I420 ! "
                    "appsink name=sink sync=false max-buffers=4");
  Ref<GstElement> sink = pipeline.find("sink");
  pipeline.set_state(GST_STATE_PLAYING);

  const char *const thresholds[] = {"", "smoothing=0.9", "hysteresis=3",
                                    "smoothing=0.9 hysteresis=3"};
  const char *const mappings[] = {"", "smoothing=0.9"};
  std::vector<std::unique_ptr<Filter>> threshold_filters, equalize_filters;
  for (const char *settings : thresholds)
    threshold_filters.push_back(std::make_unique<Filter>(
        launch("cudaautothreshold", std::string("report=message ") + settings)));
  for (const char *settings : mappings)
    equalize_filters.push_back(std::make_unique<Filter>(launch("cudaequalize", settings)));

  std::array<Change, std::size(thresholds)> of_threshold;
  std::array<Change, std::size(mappings)> of_mapping;
  int frames = 0;
  for (; frames < kFrames; ++frames) {
    Ref<GstSample> sample = pull_sample(sink.get());
    if (!sample) break;
    const Picture in = to_picture(sample.get());
    for (std::size_t i = 0; i < threshold_filters.size(); ++i) {
      threshold_filters[i]->process(in);
      of_threshold[i].add({reported_threshold(*threshold_filters[i])});
    }
    for (std::size_t i = 0; i < equalize_filters.size(); ++i)
      of_mapping[i].add(mapping(in, equalize_filters[i]->process(in)));
  }
  ASSERT_GT(frames, 10);
  std::printf("mean change from frame to frame over %d frames, in levels:\n", frames);
  for (std::size_t i = 0; i < of_threshold.size(); ++i)
    std::printf("  cudaautothreshold %-28s %.3f\n", thresholds[i], of_threshold[i].mean());
  for (std::size_t i = 0; i < of_mapping.size(); ++i)
    std::printf("  cudaequalize      %-28s %.3f\n", mappings[i], of_mapping[i].mean());
  EXPECT_LT(of_threshold[1].mean(), of_threshold[0].mean());
  EXPECT_LT(of_threshold[2].mean(), of_threshold[0].mean());
  EXPECT_LE(of_threshold[3].mean(), of_threshold[1].mean());
  EXPECT_LT(of_mapping[1].mean(), of_mapping[0].mean());
}

}  // namespace
}  // namespace cudascan::elements
