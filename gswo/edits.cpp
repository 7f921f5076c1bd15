// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/edits.h"

namespace cudascan::gswo {

std::string apply(const Source &source, Range range, const Edits &edits) {
  const std::string &text = source.text();
  std::string result;
  unsigned done = range.begin;
  // If several edits begin at one place, insertions come first, then the longest edit.
  for (auto e = edits.lower_bound({range.begin, 0, {}});
       e != edits.end() && e->begin < range.end;) {
    const unsigned begin = e->begin;
    const Edit *longest = nullptr;
    std::string inserted;
    for (; e != edits.end() && e->begin == begin; ++e) {
      if (e->end == begin)
        inserted += e->text;
      else if (e->end <= range.end)
        longest = &*e;
    }
    if (begin < done) continue;
    result.append(text, done, begin - done).append(inserted);
    done = begin;
    if (longest) result += longest->text, done = longest->end;
  }
  return result.append(text, done, range.end - done);
}

}  // namespace cudascan::gswo
