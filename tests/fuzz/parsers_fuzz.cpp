// SPDX-License-Identifier: LGPL-2.1-or-later
// Users' texts for libFuzzer: each parser accepts or refuses any text, without side effects.
// FUZZ_TARGET is the function that is called.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/error.h"
#include "kernels/usercode/divisions.h"
#include "kernels/usercode/formula.h"
#include "kernels/usercode/includes.h"
#include "kernels/usercode/manifest.h"
#include "kernels/usercode/window_calls.h"

namespace cudascan::gswo {
namespace {

[[maybe_unused]] void check(bool right) {
  if (!right) std::abort();
}

[[maybe_unused]] void manifest(const std::string &text) {
  has_manifest(text);
  for (const ManifestFunction &f : parse_manifest("fuzz.cu", text)) {
    const auto is_image = [&](int n) { return n >= 0 && n < static_cast<int>(f.images.size()); };
    const auto is_scalar = [&](int n) { return n >= 0 && n < static_cast<int>(f.scalars.size()); };
    for (std::size_t i = 0; i < f.steps.size(); ++i) {
      if (const auto *kernel = std::get_if<step::Kernel>(&f.steps[i]))
        for (const step::Argument &a : kernel->arguments)
          check(a.is_image ? is_image(a.number) : is_scalar(a.number));
      if (const auto *clear = std::get_if<step::Clear>(&f.steps[i])) check(is_image(clear->image));
      if (const auto *swap = std::get_if<step::Swap>(&f.steps[i]))
        check(is_image(swap->first) && is_image(swap->second));
      if (const auto *repeat = std::get_if<step::Repeat>(&f.steps[i])) {
        check(repeat->end > i && repeat->end <= f.steps.size());
        check(repeat->scalar == -1 || is_scalar(repeat->scalar));
        check(repeat->turn == -1 || is_scalar(repeat->turn));
      }
    }
    for (const ManifestScalar &scalar : f.scalars) {
      check(size_of_type(scalar.type) > 0);
      value_of_type(scalar.type, scalar.otherwise.value_or(-1e300));
      range_missed(scalar.type, INT64_MIN);
    }
  }
}

/// Checks it as a formula and as a strict formula.
[[maybe_unused]] void formula(const std::string &text) {
  check_formula(text);
  check_strict_formula(text, {{"gain", 1.5}, {"radius", std::int64_t{2}}});
  check(text.find_first_of("[]{};'\"\\#@`$") == text.npos);
  for (const char *sign : {"::", "+=", "/*", "//", "*)", "(*", "(&", "<%", "%:", "<:", "?\?"})
    check(text.find(sign) == text.npos);
}

[[maybe_unused]] void includes(const std::string &text) {
  const Unit unit{{"fuzz.cpp", text}, {{"h.h", text}}, {}};
  try {
    check_includes(unit);
  } catch (const BadSetting &) {
  }
  check_included(unit, text, "/tmp/x");
}

[[maybe_unused]] void calls(const std::string &text) {
  const WindowCalls found = window_calls(text);
  check(!found.order || found.others);
  check(window_calls(text) == found);
}

[[maybe_unused]] void divisions(const std::string &text) {
  std::string defined = with_defined_divisions(text);
  const auto lines = [](const std::string &s) { return std::count(s.begin(), s.end(), '\n'); };
  check(lines(defined) == lines(text));
  in_columns_of("f", text, text + "\nf:1:7: error");
  // Without what was put there it is the text again.
  if (text.find("gswo_by") != text.npos) return;
  for (const std::string put : {"/ !gswo_by ", "= gswo_by /=", "= gswo_by %="})
    for (std::size_t at = 0; (at = defined.find(put, at)) != defined.npos;)
      defined.erase(at, put == "/ !gswo_by " ? put.size() : put.size() - 1);
  check(defined == text);
}

}  // namespace
}  // namespace cudascan::gswo

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  try {
    cudascan::gswo::FUZZ_TARGET(std::string(reinterpret_cast<const char *>(data), size));
  } catch (const cudascan::BadSetting &) {
  }
  return 0;
}
