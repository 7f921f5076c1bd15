// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/cases.h"

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

std::vector<Case> cuda_cases(const Options &options) {
  std::vector<Case> cases;
  add_nick_cuda(options, cases);
  add_histogram_cuda(options, cases);
  add_equalize_cuda(options, cases);
  add_autothreshold_cuda(options, cases);
  add_linearopen_cuda(options, cases);
  add_rotate_cuda(options, cases);
  add_swofilter_cuda(options, cases);
  return cases;
}

std::vector<Case> cpu_cases(const Options &options) {
  std::vector<Case> cases;
  add_nick_cpu(options, cases);
  add_histogram_cpu(options, cases);
  add_equalize_cpu(options, cases);
  add_autothreshold_cpu(options, cases);
  add_linearopen_cpu(options, cases);
  add_rotate_cpu(options, cases);
  add_swofilter_cpu(options, cases);
  return cases;
}

}  // namespace cudascan::bench
