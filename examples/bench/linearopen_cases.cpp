// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/linearopen_cases.h"

#include <cmath>

#include "bench/line_mask.h"

namespace cudascan::bench {
namespace {

constexpr Size k4kFloat{3840, 2160, 32};
constexpr int kLength = 41;  // of Karas et al.

const char *name(LinearOpenOperation operation) {
  switch (operation) {
    case LinearOpenOperation::opening:
      return "opening";
    case LinearOpenOperation::closing:
      return "closing";
    case LinearOpenOperation::top_hat:
      return "top-hat";
    case LinearOpenOperation::black_hat:
      return "black-hat";
  }
  return "?";
}

LinearOpenParams one(int length, double angle) {
  LinearOpenParams params;
  params.length = length;
  params.angle = angle;
  return params;
}

LinearOpenParams directions(int n, LinearOpenOutput output = LinearOpenOutput::filtered) {
  LinearOpenParams params = one(kLength, 0);
  params.directions = n;
  params.output = output;
  return params;
}

/// Section 6.1.3 of Karas et al.: the rotation of a page of music.
LinearOpenParams music() {
  LinearOpenParams params;
  params.operation = LinearOpenOperation::closing;
  params.length = 250;
  params.angle = -10;
  params.span = 20;
  params.directions = 81;
  return params;
}

LinearOpenParams with(LinearOpenParams params, LinearOpenOperation operation) {
  params.operation = operation;
  return params;
}
LinearOpenParams with(LinearOpenParams params, LinearOpenLines lines) {
  params.lines = lines;
  return params;
}
LinearOpenParams with(LinearOpenParams params, LinearOpenAlgorithm algorithm) {
  params.algorithm = algorithm;
  return params;
}

constexpr auto kOrientation = LinearOpenOutput::orientation;
constexpr auto kInvariant = LinearOpenLines::invariant;

}  // namespace

const char *name(LinearOpenAlgorithm algorithm) {
  switch (algorithm) {
    case LinearOpenAlgorithm::automatic:
      return "";
    case LinearOpenAlgorithm::morard:
      return "morard";
    case LinearOpenAlgorithm::bartovsky:
      return "bartovsky";
    case LinearOpenAlgorithm::bartovsky_zones:
      return "zones";
  }
  return "?";
}

Case linearopen_case(Size size, const LinearOpenParams &params, bool spectrum) {
  Case c;
  c.op = "linearopen";
  const std::string length = std::to_string(params.length);
  c.parameter = params.directions > 1 ? "directions" : "length";
  c.value = params.directions > 1 ? params.directions : params.length;
  const bool opening = params.operation == LinearOpenOperation::opening;
  if (params.directions > 1)
    c.variant = std::to_string(params.directions) + " x " + length +
                (opening ? "" : std::string(" ") + name(params.operation));
  else
    c.variant = std::string(name(params.operation)) + " " + length + " at " +
                number(params.angle, params.angle == std::floor(params.angle) ? 0 : 2);
  if (params.output == kOrientation) c.variant += " orientation";
  if (spectrum) c.variant += " spectrum";
  if (params.lines == kInvariant) c.variant += " invariant";
  if (params.algorithm != LinearOpenAlgorithm::automatic)
    c.variant += std::string(" ") + name(params.algorithm);
  c.size = size;
  c.runner =
      spectrum ? make_runner(params, std::make_shared<LinearOpenReport>()) : make_runner(params);
  return c;
}

Case opening_case(Size size, int length, double angle, LinearOpenAlgorithm algorithm) {
  return linearopen_case(size, with(one(length, angle), algorithm));
}

Peer opencv_openings(const LinearOpenParams &params) {
  OpenCv peer{"openings", {double(params.directions)}};
  for (const double angle : directions_of(params)) {
    const LineMask mask = line_mask(params.length, angle);
    for (const int setting : {mask.width, mask.height, mask.anchor_x, mask.anchor_y})
      peer.settings.push_back(setting);
    peer.settings.insert(peer.settings.end(), mask.cells.begin(), mask.cells.end());
  }
  return peer;
}

void add_linearopen_cuda(const Options &options, std::vector<Case> &cases) {
  const auto add = [&](const Case &c, double goal_us = kUnknown, const Peer &peer = {}) -> Case & {
    cases.push_back(c);
    cases.back().cuda_goal_us = goal_us;
    cases.back().peer = peer;
    return cases.back();
  };
  const auto published = [](double ms) { return Published{"Tesla C2050", ms * 1e3}; };

  for (const double angle : {0, 10, 30, 44, 45, 46, 60, 80, 90, 100, 135, 150}) {
    if (options.quick && std::fmod(angle, 30) != 0 && angle != 45) continue;
    Case &c = add(opening_case(k4k, kLength, angle), 12);
    if (angle == 0 || angle == 30 || angle == 45 || angle == 90)
      c.peer = NppLineOpening{kLength, angle};
    c.spread = "linearopen 3840x2160 8 bit, length 41, angles";
    c.spread_goal = 1.5;
  }
  for (const double angle : {0, 45, 90}) add(opening_case(k4k, 1000, angle), 24);
  for (const Content content : {Content::random, Content::constant})
    add(with_content(opening_case(k4k, kLength, 30), content), 12);
  for (const double angle : {0, 30, 90}) add(opening_case(k4k16, kLength, angle));
  for (const double angle : {0, 30, 90}) add(opening_case(k4kFloat, kLength, angle), 24);
  for (const auto operation : {LinearOpenOperation::closing, LinearOpenOperation::top_hat})
    for (const double angle : {30, 60})
      add(linearopen_case(k4k, with(one(kLength, angle), operation)));

  add(linearopen_case(kTexture, directions(180)), 60);
  add(linearopen_case(kTexture, directions(180, kOrientation)), 60);
  add(linearopen_case(kTexture, directions(180), true), kUnknown, published(58));
  add(linearopen_case(kFingerprint, directions(180, kOrientation)), 140);
  add(linearopen_case(kFingerprint, directions(180), true), kUnknown, published(115.9));
  add(linearopen_case(kMusic, music()), 130);
  add(linearopen_case(kMusic, music(), true), 130, published(129.3));
  add(linearopen_case(k4k, directions(180)), 1200);
  add(linearopen_case({640, 640, 16}, directions(180)));
  add(linearopen_case({640, 640, 32}, directions(180)), 120);

  for (const double angle : {0, 30, 60, 90})
    add(linearopen_case(k4k, with(one(kLength, angle), kInvariant)));
  for (const int length : {1000, 4096})
    for (const int bits : {8, 16})
      add(linearopen_case({k4k.width, k4k.height, bits}, with(one(length, 63), kInvariant)));
  add(linearopen_case(kTexture, with(directions(180), kInvariant)));
  for (const auto algorithm : kPublishedOpenings) {
    add(opening_case(k4k, kLength, 30, algorithm));
    add(linearopen_case(kTexture, with(directions(180), algorithm)));
  }
}

void add_linearopen_cpu(const Options &options, std::vector<Case> &cases) {
  const auto add = [&](Size size, const LinearOpenParams &params, bool spectrum = false) -> Case & {
    cases.push_back(linearopen_case(size, params, spectrum));
    return cases.back();
  };
  const auto add_beside_opencv = [&](Size size, const LinearOpenParams &params) -> Case & {
    Case &c = add(size, params);
    c.peer = opencv_openings(params);
    return c;
  };
  for (const double angle : {0, 30, 45, 60, 90, 135}) {
    if (options.quick && angle != 30 && angle != 90) continue;
    add_beside_opencv(k4k, one(kLength, angle)).cpu_goal_ratio = 5;
  }
  add(kTexture, directions(180, kOrientation)).cpu_goal_us = 35e3;
  if (options.quick) return;
  for (const int length : {2, 9, 16, 161, 1000}) add_beside_opencv(k4k, one(length, 30));
  add_beside_opencv(k4k16, one(kLength, 30));
  add_beside_opencv(k4kFloat, one(kLength, 30));
  for (const auto operation : {LinearOpenOperation::closing, LinearOpenOperation::top_hat})
    add(k4k, with(one(kLength, 30), operation));
  add_beside_opencv(kTexture, directions(180)).cpu_goal_us = 35e3;
  add(kTexture, directions(180), true);
  add(kFingerprint, directions(180, kOrientation));
  add(kMusic, music(), true);
  add(k4k, directions(180));
  for (const double angle : {30, 60}) add_beside_opencv(k4k, with(one(kLength, angle), kInvariant));
  add_beside_opencv(kTexture, with(directions(180), kInvariant));
  for (const auto algorithm : {LinearOpenAlgorithm::morard, LinearOpenAlgorithm::bartovsky}) {
    add(k4k, with(one(kLength, 30), algorithm));
    add(kTexture, with(directions(180), algorithm));
  }
}

}  // namespace cudascan::bench
