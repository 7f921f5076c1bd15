// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/cases.h"

#include "examples/bench/parts.h"  // from meson.build

namespace cudascan::bench {

const char *name(Content content) {
  switch (content) {
    case Content::page:
      return "page";
    case Content::random:
      return "random";
    case Content::constant:
      return "constant";
    case Content::negative:
      return "negative";
    case Content::natural:
      return "natural";
    case Content::spiral:
      return "spiral";
  }
  return "?";
}

Case with_content(Case c, Content content) {
  c.content = content;
  if (content != Content::page) c.variant += std::string(" ") + name(content);
  return c;
}

namespace {

/// The cases for an operator without a file of cases.
template <typename Params>
void add_defaults(const char *op, const Params &params, std::vector<Case> &cases) {
  for (const Size size : {k4k, k4k16}) {
    Case c;
    c.op = op;
    c.variant = std::string(op) + " defaults";
    c.size = size;
    c.runner = make_runner(params);
    cases.push_back(c);
  }
}

}  // namespace

#define ADD_DEFAULTS(op, Name)                                      \
  void add_##op##_cuda(const Options &, std::vector<Case> &cases) { \
    add_defaults(#op, Name##Params{}, cases);                       \
  }                                                                 \
  void add_##op##_cpu(const Options &, std::vector<Case> &cases) {  \
    add_defaults(#op, Name##Params{}, cases);                       \
  }
DEFAULT_CASES(ADD_DEFAULTS)

std::vector<Case> cuda_cases(const Options &options) {
  std::vector<Case> cases;
  add_histogram_cuda(options, cases);
  add_luma_cuda(options, cases);
#define ADD_CUDA(op, Name) add_##op##_cuda(options, cases);
  CUDASCAN_ALL_OPERATORS(ADD_CUDA)
  return cases;
}

std::vector<Case> cpu_cases(const Options &options) {
  std::vector<Case> cases;
  add_histogram_cpu(options, cases);
  add_luma_cpu(options, cases);
#define ADD_CPU(op, Name) add_##op##_cpu(options, cases);
  CUDASCAN_ALL_OPERATORS(ADD_CPU)
  return cases;
}

}  // namespace cudascan::bench
