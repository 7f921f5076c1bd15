// SPDX-License-Identifier: LGPL-2.1-or-later
// Equivalents of the sliding windows in other libraries.
#include "bench/swofilter_cases.h"

#include <algorithm>

namespace cudascan::bench {
namespace {

using Op = SwoFilterOperator;

/// cv::MorphTypes.
int opencv_morphology(Op op) {
  switch (op) {
    case Op::minimum:
    case Op::erode:
      return 0;
    case Op::maximum:
    case Op::dilate:
      return 1;
    case Op::open:
      return 2;
    case Op::close:
      return 3;
    case Op::gradient:
      return 4;
    case Op::top_hat:
      return 5;
    case Op::black_hat:
      return 6;
    default:
      return -1;
  }
}

}  // namespace

Peer npp_window(const SwoFilterParams &params) {
  using Filter = NppWindow::Filter;
  if (params.shape != "rectangle") return {};
  const auto up_to = [&](int most, Filter filter) -> Peer {
    if (params.window > most) return {};
    return NppWindow{filter, params.window};
  };
  switch (params.op) {
    case Op::minimum:
      return up_to(31, Filter::minimum);
    case Op::maximum:
      return up_to(31, Filter::maximum);
    case Op::erode:
      return up_to(31, Filter::erode);
    case Op::dilate:
      return up_to(31, Filter::dilate);
    case Op::mean:
      return up_to(63, Filter::mean);
    case Op::median:
      return up_to(15, Filter::median);
    default:
      return {};
  }
}

Peer opencv_window(const SwoFilterParams &params) {
  if (params.op == Op::thin) {
    if (params.thinning == SwoFilterThinning::templates || params.iterations > 0) return {};
    return OpenCv{"thinning", {params.thinning == SwoFilterThinning::guo_hall ? 1. : 0.}};
  }
  if (params.op == Op::hit_or_miss) {
    const double cells =
        params.shape.size() - std::count(params.shape.begin(), params.shape.end(), ';');
    const double width = std::min(params.shape.find(';'), params.shape.size());
    OpenCv peer{"hit-or-miss", {width, cells / width}};
    for (const char c : params.shape)
      if (c != ';') peer.settings.push_back(c == '1' ? 1 : c == '0' ? -1 : 0);
    return peer;
  }
  if (params.shape != "rectangle") return {};
  const double window = params.window;
  if (const int morphology = opencv_morphology(params.op); morphology >= 0)
    return OpenCv{"morphology", {double(morphology), window}};
  if (params.op == Op::median) return OpenCv{"median", {window}};
  if (params.op == Op::mean) return OpenCv{"mean", {window}};
  return {};
}

}  // namespace cudascan::bench
