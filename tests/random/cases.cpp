// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/random/cases.h"

#include <sstream>
#include <variant>

#include "all_operators.h"
#include "tests/random/settings.h"

namespace cudascan::test {
namespace {

// ---- Reports ------------------------------------------------------------------------------------

/// The report of an operator, or an empty struct if it has none.
template <typename Params>
auto new_report() {
  if constexpr (requires { typename Params::Report; })
    return typename Params::Report{};
  else
    return std::monostate{};
}
template <typename Params>
using Report = decltype(new_report<Params>());

/// The difference between two texts, shortened so that it can be read.
std::string difference(const std::string &a, const std::string &b) {
  const auto shortened = [](const std::string &s) {
    return s.size() < 300 ? s : s.substr(0, 300) + "...";
  };
  return "\"" + shortened(a) + "\" and \"" + shortened(b) + "\"";
}

// ---- Runs ---------------------------------------------------------------------------------------

/// The outcome of a run.
template <typename Out>
struct Result {
  std::vector<Out> samples;
  std::string report, refused, guards;
};

template <typename In, typename Out, typename Params, typename Exec>
void run_with_report(Exec &exec, Plane<const In> in, Plane<Out> out, const Params &params,
                     Report<Params> *report) {
  if constexpr (requires { run(exec, in, out, params, report); })
    run(exec, in, out, params, report);
  else
    run(exec, in, out, params);
}

/// Calls run(output plane, report) and stores the outcome.
template <typename Out, typename Params, typename Run>
Result<Out> result_of(Image<Out> &out, bool reported, const Run &run) {
  Result<Out> result;
  Report<Params> report;
  try {
    run(reported ? &report : nullptr);
  } catch (const BadSetting &e) {
    result.refused = e.what();
    return result;
  }
  result.samples = out.samples();
  if (reported) result.report = text(report);
  if (const auto intact = out.guards_intact(); !intact) result.guards = intact.message();
  return result;
}

/// The differences between two outcomes; "" if there are none.
template <typename Out>
std::string compare(const char *who, const Result<Out> &a, const Result<Out> &b, int width) {
  std::string what;
  if (a.refused != b.refused) what = "refusals " + difference(a.refused, b.refused);
  if (const auto equal = same(a.samples, b.samples, width); what.empty() && !equal)
    what = equal.message();
  if (what.empty() && a.report != b.report) what = "reports " + difference(a.report, b.report);
  if (what.empty()) what = b.guards;
  return what.empty() ? "" : std::string(who) + ": " + what;
}

Layout draw_layout(Dice &dice) {
  Layout layout;
  layout.padding = dice.pick({0, 0, 1, 2, dice.small(0, 70)});
  layout.offset = dice.pick({0, 0, 1, 2, 4, 8, 16, dice.small(0, 255)});
  layout.flush = dice.one_in(3);
  layout.unit = dice.pick({1, 1, 4, 16, 256});
  return layout;
}

unsigned draw_maximum(Dice &dice, bool wide) {
  return wide ? dice.pick({0xffffu, 0x3ffu, 0xfffu, 0xffc0u, 0xfff0u, 0x1ffu, 0xff80u}) : 0xffu;
}

}  // namespace

Bench::Bench(bool cuda) {
  if (!cuda) return;
  stream_ = std::make_unique<cuda::Stream>();
  cuda_ = std::make_unique<Cuda>(stream_->get());
  in_ = std::make_unique<DeviceCopy>(stream_->get());
  out_ = std::make_unique<DeviceCopy>(stream_->get());
}

template <typename In, typename Out, typename Params>
std::string Bench::run_format(Dice &dice, unsigned in_maximum, unsigned out_maximum, Size size,
                              double work) {
  Params params;
  draw(dice, {size.width, size.height, in_maximum, sizeof(In) == sizeof(Out)}, params);
  while (size.width * double(size.height) * cost(params) > work && size.width * size.height > 1)
    (size.width > size.height ? size.width : size.height) /= 2;
  const auto content = dice.any(Content::near_white);
  const Layout in_layout = draw_layout(dice), out_layout = draw_layout(dice);
  const bool reported = dice.one_in(2), limited = sizeof(In) == 1 && dice.one_in(4);
  const int frames = dice.pick({1, 1, 3});
  one_.forget();
  many_.forget();
  many_.set_threads(dice.small(2, 7));
  if (cuda_) cuda_->forget();

  const auto in_words = [&](const std::string &what, int frame) {
    std::ostringstream s;
    s << what << "\n  " << text_of(params) << "\n  " << size.width << "x" << size.height << " of "
      << 8 * sizeof(In) << " to " << 8 * sizeof(Out) << " bit, maximum " << in_maximum
      << (limited ? ", limited range" : "") << ", content " << static_cast<int>(content)
      << ", strides " << in_layout.padding << "/" << in_layout.unit << " and " << out_layout.padding
      << "/" << out_layout.unit << ", offsets " << in_layout.offset << " and " << out_layout.offset
      << ", flush " << in_layout.flush << " and " << out_layout.flush << ", frame " << frame
      << " of " << frames;
    return s.str();
  };
  for (int frame = 1; frame <= frames; ++frame) {
    if (frame > 1 && dice.one_in(2)) {  // the state from frame to frame must persist
      Params next;
      draw(dice, {size.width, size.height, in_maximum, sizeof(In) == sizeof(Out)}, next);
      if (size.width * double(size.height) * cost(next) <= work) params = next;
    }
    const In most_in = static_cast<In>(in_maximum);
    const Out most_out = static_cast<Out>(out_maximum);
    const auto samples = make_content<In>(content, size.width, size.height, most_in,
                                          static_cast<unsigned>(dice.in(0, 1 << 30)));
    const Image<In> in(samples, size.width, size.height, in_layout, most_in);
    const auto plane_of = [&](Plane<const In> plane) {
      if (limited) plane.black = 16, plane.white = 235;
      return plane;
    };
    const auto on_cpu = [&](Cpu &cpu, const Params &settings, unsigned char fill) {
      Image<Out> out(size.width, size.height, out_layout, most_out, fill);
      return result_of<Out, Params>(out, reported, [&](auto *report) {
        run_with_report(cpu, plane_of(in.plane()), out.plane(), settings, report);
      });
    };
    const Result<Out> expected = on_cpu(one_, params, 0x5a);
    if (!expected.guards.empty()) return in_words("one thread: " + expected.guards, frame);
    std::string what =
        compare("one and more threads", expected, on_cpu(many_, params, 0xa5), size.width);
    if (const auto plain = plain_form(params); plain && what.empty() && expected.refused.empty()) {
      const Result<Out> result = on_cpu(many_, *plain, 0x77);
      if (result.refused.empty()) what = compare("algorithms", expected, result, size.width);
    }
#ifdef HAVE_CUDA  // without CUDA, operators need no run() on Cuda
    if (what.empty() && cuda_) {
      Image<Out> out(size.width, size.height, out_layout, most_out, 0xc3);
      const Plane<In> device_in = in_->upload(in);
      const Plane<Out> device_out = out_->upload(out);
      std::vector<unsigned char> in_after(in.memory().size());
      const auto got = result_of<Out, Params>(out, reported, [&](auto *report) {
        run_with_report(*cuda_, plane_of(Plane<const In>(device_in)), device_out, params, report);
        out_->download(out.memory().begin(), out.memory().size());
        in_->download(in_after.data(), in_after.size());
        cuda_->synchronize();
      });
      what = compare("CPU and CUDA", expected, got, size.width);
      if (what.empty() && got.refused.empty() &&
          !std::equal(in_after.begin(), in_after.end(), in.memory().begin()))
        what = "CUDA: the input has changed";
      cuda_->synchronize();
    }
#endif
    if (!what.empty()) return in_words(what, frame);
    if (!expected.refused.empty() && frame == 1) break;
  }
  return {};
}

template <typename Params>
std::string Bench::run_operator(Dice &dice, double work) {
  const Size size{dice.size(1300), dice.size(900)};
  const bool wide = dice.one_in(2), narrower = dice.one_in(4);
  const unsigned maximum = draw_maximum(dice, wide);
  if constexpr (Runs<Params, float, float>)
    if (dice.one_in(5)) return run_format<float, float, Params>(dice, 1, 1, size, work);
  if constexpr (Runs<Params, std::uint16_t, std::uint8_t>)
    if (wide && narrower)
      return run_format<std::uint16_t, std::uint8_t, Params>(dice, maximum, 0xff, size, work);
  if (wide)
    return run_format<std::uint16_t, std::uint16_t, Params>(dice, maximum, maximum, size, work);
  return run_format<std::uint8_t, std::uint8_t, Params>(dice, maximum, maximum, size, work);
}

std::string Bench::run(std::uint64_t number, double work) {
  Dice dice(number);
  int all = 0;
#define COUNT(op, Name) all += share(Name##Params{});
  CUDASCAN_ALL_OPERATORS(COUNT)
  int drawn = dice.small(0, all - 1);
#define RUN_IF_DRAWN(op, Name)                                                      \
  if (drawn < share(Name##Params{})) return run_operator<Name##Params>(dice, work); \
  drawn -= share(Name##Params{});
  CUDASCAN_ALL_OPERATORS(RUN_IF_DRAWN)
  return "no operator was drawn";
}

}  // namespace cudascan::test
