// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/pipelines/chains.h"

#include <algorithm>
#include <array>
#include <memory>

#include "all_operators.h"
#include "bench/pipelines/pipeline.h"
#include "kernels/cuda_resources.h"

namespace cudascan::bench {
namespace {

template <typename Params>
Chain element(const std::string &text, const Params &params) {
  Case c;
  c.op = text;
  c.runner = make_runner(params);
  return {text, {c}};
}

Chain operator+(const Chain &a, const Chain &b) {
  Chain both{a.text + " ! " + b.text, a.kernels};
  both.kernels.insert(both.kernels.end(), b.kernels.begin(), b.kernels.end());
  return both;
}

Chain nick() {
  return element("cudanick", NickParams{});
}

Chain equalize() {
  return element("cudaequalize", EqualizeParams{});
}

Chain clahe() {
  EqualizeParams params;
  params.method = EqualizeMethod::clahe;
  return element("cudaequalize method=clahe", params);
}

Chain autothreshold() {
  return element("cudaautothreshold", AutothresholdParams{});
}

Chain line_opening(int directions) {
  LinearOpenParams params;
  params.length = 41;
  params.directions = directions;
  return element("cudalinearopen length=41" +
                     (directions > 1 ? " directions=" + std::to_string(directions) : ""),
                 params);
}

Chain window(const std::string &word, SwoFilterOperator op, int side) {
  SwoFilterParams params;
  params.op = op;
  params.window = side;
  return element("cudaswofilter operator=" + word + " window=" + std::to_string(side), params);
}

Chain median_5() {
  return window("median", SwoFilterOperator::median, 5);
}

/// A chain's kernels as one piece of work; two planes in between are used in turn.
Runner in_a_row(const std::vector<Case> &kernels) {
  struct Between {
    std::array<cuda::DeviceBuffer, 2> device;
    std::array<std::vector<std::uint8_t>, 2> host;
  };
  const auto between = std::make_shared<Between>();
  const auto on = [kernels](const auto &run, const auto &plane_of, AnyPlane in, AnyPlane out) {
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      AnyPlane to = out;
      if (i + 1 < kernels.size())
        to.data = plane_of(i % 2, static_cast<std::size_t>(in.stride) * in.height);
      run(kernels[i].runner, in, to);
      in = to;
    }
  };
  Runner runner;
  runner.cuda = [=](Cuda &exec, AnyPlane in, AnyPlane out) {
    on([&](const Runner &r, AnyPlane a, AnyPlane b) { r.cuda(exec, a, b); },
       [&](std::size_t i, std::size_t bytes) { return between->device[i].reserve(bytes); }, in,
       out);
  };
  runner.cpu = [=](Cpu &exec, AnyPlane in, AnyPlane out) {
    on([&](const Runner &r, AnyPlane a, AnyPlane b) { r.cpu(exec, a, b); },
       [&](std::size_t i, std::size_t bytes) -> void * {
         if (between->host[i].size() < bytes) between->host[i].resize(bytes);
         return between->host[i].data();
       },
       in, out);
  };
  return runner;
}

/// Each element that is not in the chain, with its default settings.
std::vector<Chain> elements_without(const Chain &chain) {
  std::vector<Chain> elements;
  const auto add = [&]<typename Params>(const std::string &name, const Params &params) {
    if ((" ! " + chain.text + " ").find(" ! " + name + " ") == std::string::npos)
      elements.push_back(element(name, params));
  };
#define ADD(op, Name) add("cuda" #op, Name##Params{});
  CUDASCAN_OPERATORS(ADD)
  return elements;
}

/// Like cpu_timer(), but on all cores, as the elements run.
TimeCase all_cores_timer(bool quick) {
  return [quick, cpu = std::make_shared<Cpu>()](const Case &c) {
    Row row;
    const std::ptrdiff_t stride = stride_of(c.size, 256);
    auto in = make_content(Content::page, c.size, stride);
    std::vector<std::uint8_t> out(in.size());
    const auto plane = [&](std::vector<std::uint8_t> &bytes) {
      return AnyPlane{bytes.data(), c.size.width, c.size.height, c.size.depth, stride};
    };
    const auto work = [&] { c.runner.cpu(*cpu, plane(in), plane(out)); };
    work();
    row.us = time_host(work, quick ? 20e3 : 100e3, 0);
    return row;
  };
}

}  // namespace

std::string Chain::with_queues() const {
  std::string result;
  const std::string between = " ! ";
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(between, begin)) != std::string::npos;
       begin = end + between.size())
    result += text.substr(begin, end - begin) + between + kQueue + between;
  return result + text.substr(begin);
}

std::vector<Spread> Chain::over_gpus() const {
  const std::string between = " ! ";
  std::vector<std::string> elements;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + between.size()) {
    end = text.find(between, begin);
    elements.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  const std::size_t half = (elements.size() + 1) / 2;
  const auto spread = [&](const char *label, const auto &gpu_of) {
    std::string text;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (i > 0) text += between;
      if (i == half) text += kQueue + between;
      text += elements[i];
      if (const int gpu = gpu_of(i); gpu >= 0) text += " cuda-device-id=" + std::to_string(gpu);
    }
    return Spread{label, text};
  };
  return {spread("all on one GPU", [](std::size_t) { return 0; }),
          spread("halves on two GPUs", [&](std::size_t i) { return i < half ? 0 : 1; }),
          spread("in turn on two GPUs", [](std::size_t i) { return static_cast<int>(i % 2); }),
          spread("the rest follows", [&](std::size_t i) { return i < half ? 1 : -1; })};
}

bool ElementPeer::is_installed() const {
  const std::string word = element.substr(0, element.find(' '));
  GstElementFactory *factory = gst_element_factory_find(word.c_str());
  if (factory) gst_object_unref(factory);
  return factory != nullptr;
}

std::vector<Chain> chains(bool quick) {
  const Chain two = equalize() + nick(), three = equalize() + median_5() + nick(),
              four = equalize() + median_5() + line_opening(1) + nick();
  Chain longest = four + autothreshold();
  const std::vector<Chain> others = elements_without(longest);
  for (const Chain &other : others) longest = longest + other;
  if (quick) return {nick(), two, longest};
  std::vector<Chain> all = {
      nick(),          equalize(),       clahe(),    autothreshold(),
      line_opening(1), line_opening(18), median_5(), window("open", SwoFilterOperator::open, 15)};
  all.insert(all.end(), others.begin(), others.end());
  all.insert(all.end(), {two, three, four, longest});
  return all;
}

std::vector<Chain> camera_chains() {
  const Chain median = window("median", SwoFilterOperator::median, 3);
  return {equalize(), median, nick(), equalize() + median + nick()};
}

Chain longest_chain() {
  return chains(true).back();
}

std::vector<ElementPeer> element_peers() {
  // cvsmooth also has a median, but it fails in GStreamer 1.22.
  return {{"equalize", equalize(), "cvequalizehist", "GRAY8"},
          {"mean 5", window("mean", SwoFilterOperator::mean, 5),
           "cvsmooth type=blur kernel-width=5 kernel-height=5", "GRAY8"},
          {"dilate 3", window("dilate", SwoFilterOperator::dilate, 3), "cvdilate", "GRAY16_LE"},
          {"erode 3", window("erode", SwoFilterOperator::erode, 3), "cverode", "GRAY16_LE"}};
}

KernelTimer::KernelTimer(bool cuda, bool quick) {
  Options options;
  options.quick = quick;
  timer_ = cuda ? cuda_timer(options) : all_cores_timer(quick);
}

KernelTimer::~KernelTimer() = default;

double KernelTimer::time(Case c) {
  const std::string name = c.name();
  const auto found =
      std::find_if(known_.begin(), known_.end(), [&](const auto &k) { return k.first == name; });
  if (found != known_.end()) return found->second;
  const Row row = timer_(c);
  known_.emplace_back(name, row.error.empty() ? row.us : kUnknown);
  return known_.back().second;
}

KernelTimes KernelTimer::time(const Chain &chain, Size size) {
  if (!timer_ || chain.kernels.empty()) return {};
  KernelTimes times;
  times.sum = 0;
  for (Case kernel : chain.kernels) {
    kernel.size = size;
    times.sum += time(kernel);
  }
  times.chained = times.sum;
  if (chain.kernels.size() > 1) {
    Case whole;
    whole.op = chain.text;
    whole.size = size;
    whole.runner = in_a_row(chain.kernels);
    times.chained = time(whole);
  }
  return times;
}

}  // namespace cudascan::bench
