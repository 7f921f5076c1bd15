// SPDX-License-Identifier: LGPL-2.1-or-later
// Formats other than gray: what it costs to get the luma and to put it back. The plane of a case
// has the bytes of a frame of 3840x2160 pixels: so a copy of it is the least that a result in the
// same format takes.
#include <memory>

#include "bench/cases.h"
#include "kernels/cuda_resources.h"
#include "kernels/luma.h"
#include "kernels/nick.h"
#include "kernels/planes.h"

namespace cudascan::bench {
namespace {

enum class Format { gray, nv12, rgbx, rgb, rgbp, yuy2 };
constexpr const char *kNames[] = {"GRAY8", "NV12", "RGBx", "RGB", "RGBP", "YUY2"};

const char *name(Format format) {
  return kNames[static_cast<int>(format)];
}

/// The plane of a frame of this format that has so many pixels.
Size plane_of(Format format, Size pixels) {
  switch (format) {
    case Format::gray:
      break;
    case Format::nv12:
      return {pixels.width, pixels.height * 3 / 2, 8};
    case Format::rgbx:
      return {pixels.width * 4, pixels.height, 8};
    case Format::rgb:
      return {pixels.width * 3, pixels.height, 8};
    case Format::rgbp:
      return {pixels.width, pixels.height * 3, 8};
    case Format::yuy2:
      return {pixels.width * 2, pixels.height, 8};
  }
  return pixels;
}

/// Memory for two planes of luma, on the GPU or on the CPU.
class Room {
 public:
#ifdef HAVE_CUDA
  std::uint8_t *luma(Cuda &, int i, std::size_t bytes) {
    return static_cast<std::uint8_t *>(device_[i].reserve(bytes));
  }
#endif
  std::uint8_t *luma(Cpu &, int i, std::size_t bytes) {
    host_[i].resize(std::max(host_[i].size(), bytes));
    return host_[i].data();
  }

 private:
#ifdef HAVE_CUDA
  cuda::DeviceBuffer device_[2];
#endif
  std::vector<std::uint8_t> host_[2];
};

/// A part of a plane.
template <typename T>
Plane<T> part(Plane<T> plane, int x, int y, int width, int height) {
  plane.data = plane.row(y) + x;
  plane.width = width;
  plane.height = height;
  return plane;
}

/// A plane that is made for the luma.
template <typename Exec>
Plane<std::uint8_t> make_luma(Exec &exec, Room &room, int i, int width, int height) {
  constexpr int kTo = 256;
  const std::ptrdiff_t stride = (width + kTo - 1) / kTo * kTo;
  return {room.luma(exec, i, stride * height), width, height, stride};
}

template <typename T>
RgbPlanes<T> rgb_of(Format format, Plane<T> plane) {
  RgbPlanes<T> rgb;
  if (format == Format::rgbp) {
    const int height = plane.height / 3;
    const auto colour = [&](int i) { return part(plane, 0, i * height, plane.width, height); };
    rgb.red = colour(0), rgb.green = colour(1), rgb.blue = colour(2);
    return rgb;
  }
  rgb.step = format == Format::rgbx ? 4 : 3;
  const auto colour = [&](int i) {
    Plane<T> samples = part(plane, i, 0, plane.width / rgb.step, plane.height);
    return samples;
  };
  rgb.red = colour(0), rgb.green = colour(1), rgb.blue = colour(2);
  if (rgb.step == 4) rgb.other = colour(3);
  rgb.is_alpha = false;
  return rgb;
}

template <typename T>
PackedYuv<T> yuy2_of(Plane<T> plane) {
  return {plane, plane.width / 2, 0, 2, -1};
}

const LumaWeights kWeights = luma_weights(0.2126, 0.0722);

using In = Plane<const std::uint8_t>;
using Out = Plane<std::uint8_t>;

/// Rows and columns that are no part of the frame: the planes of tests have any size.
template <typename Exec>
void copy_rest(Exec &exec, In in, Out out, int width, int height) {
  if (width < in.width)
    copy(exec, part(in, width, 0, in.width - width, in.height),
         part(out, width, 0, in.width - width, in.height));
  if (height < in.height)
    copy(exec, part(in, 0, height, in.width, in.height - height),
         part(out, 0, height, in.width, in.height - height));
}

/// What the elements do with a frame: work(luma of the input, luma of the output) in between.
template <typename Exec, typename Work>
void on_frame(Exec &exec, Room &room, Format format, Colors colors, In in, Out out,
              const Work &work) {
  if (format == Format::gray) return work(in, out);
  if (format == Format::nv12) {
    const int height = in.height * 2 / 3;
    work(part(in, 0, 0, in.width, height), part(out, 0, 0, in.width, height));
    return copy_rest(exec, in, out, in.width, height);
  }
  if (format == Format::yuy2) {
    const auto from = yuy2_of(in);
    const Out before = make_luma(exec, room, 0, from.width, in.height),
              after = make_luma(exec, room, 1, from.width, in.height);
    get_luma(exec, from, before);
    work(before, after);
    return set_luma(exec, from, In(after), colors, yuy2_of(out));
  }
  const auto from = rgb_of(format, in);
  const Out before = make_luma(exec, room, 0, from.red.width, from.red.height),
            after = make_luma(exec, room, 1, from.red.width, from.red.height);
  get_luma(exec, from, kWeights, before);
  work(before, after);
  set_luma(exec, from, kWeights, In(after), colors, rgb_of(format, out));
  copy_rest(exec, in, out, from.red.width * from.step,
            from.red.height * (format == Format::rgbp ? 3 : 1));
}

template <typename On>
Runner runner_of(const On &on) {
  const auto room = std::make_shared<Room>();
  const auto run = [=](auto &exec, AnyPlane in, AnyPlane out) {
    on(exec, *room, in.as<const std::uint8_t>(), out.as<std::uint8_t>());
  };
  Runner runner;
#ifdef HAVE_CUDA
  runner.cuda = run;
#endif
  runner.cpu = run;
  return runner;
}

Case luma_case(Format format, const std::string &variant) {
  Case c;
  c.op = "luma";
  c.variant = variant + " " + name(format);
  c.size = plane_of(format, k4k);
  return c;
}

/// The luma alone, into a plane of its own.
Case get_case(Format format) {
  Case c = luma_case(format, "get luma of");
  c.runner = runner_of([=](auto &exec, Room &room, In in, Out) {
    if (format == Format::yuy2) {
      const auto from = yuy2_of(in);
      return get_luma(exec, from, make_luma(exec, room, 0, from.width, in.height));
    }
    const auto from = rgb_of(format, in);
    get_luma(exec, from, kWeights, make_luma(exec, room, 0, from.red.width, from.red.height));
  });
  c.reads_only = c.report_only = true;
  if (format == Format::rgbx || format == Format::rgb)
    c.peer = NppLuma{format == Format::rgbx ? 4 : 3};
  return c;
}

/// An operator on a frame of this format, in and out.
Case nick_case(Format format) {
  Case c = luma_case(format, "nick 15 on");
  c.runner = runner_of([=](auto &exec, Room &room, In in, Out out) {
    on_frame(exec, room, format, Colors::none, in, out,
             [&](In luma, Out result) { run(exec, luma, result, NickParams{.window = 15}); });
  });
  return c;
}

/// The luma and back, with other levels and the colours of the input.
Case recolor_case(Format format, Content content) {
  Case c = with_content(luma_case(format, "colours kept of"), content);
  c.runner = runner_of([=](auto &exec, Room &room, In in, Out out) {
    on_frame(exec, room, format, Colors::kept, in, out,
             [&](In luma, Out result) { copy(exec, luma, result); });
  });
  return c;
}

void add_cases(std::vector<Case> &cases) {
  for (const Format format : {Format::rgbx, Format::rgb, Format::rgbp, Format::yuy2})
    cases.push_back(get_case(format));
  for (const Format format :
       {Format::gray, Format::nv12, Format::rgbx, Format::rgb, Format::rgbp, Format::yuy2})
    cases.push_back(nick_case(format));
  for (const Format format : {Format::rgbx, Format::rgb, Format::yuy2})
    cases.push_back(recolor_case(format, Content::page));
  cases.push_back(recolor_case(Format::rgbx, Content::random));
}

}  // namespace

void add_luma_cuda(const Options & /*options*/, std::vector<Case> &cases) {
  add_cases(cases);
}
void add_luma_cpu(const Options & /*options*/, std::vector<Case> &cases) {
  add_cases(cases);
}

}  // namespace cudascan::bench
