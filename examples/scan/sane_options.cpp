// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sane_options.h"

#include <sane/sane.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "common/error.h"

namespace cudascan::scan {
namespace {

/// An option of a device.
struct Option {
  int index;
  const SANE_Option_Descriptor *descriptor;
};

std::optional<Option> find(SANE_Handle handle, const std::string &name) {
  for (int i = 1; const SANE_Option_Descriptor *d = sane_get_option_descriptor(handle, i); ++i)
    if (d->name != nullptr && name == d->name && SANE_OPTION_IS_ACTIVE(d->cap)) return Option{i, d};
  return std::nullopt;
}

std::vector<std::string> choices_of(const SANE_Option_Descriptor &d) {
  std::vector<std::string> all;
  if (d.type == SANE_TYPE_STRING && d.constraint_type == SANE_CONSTRAINT_STRING_LIST)
    for (const SANE_String_Const *s = d.constraint.string_list; *s != nullptr; ++s)
      all.emplace_back(*s);
  return all;
}

bool is_number(const SANE_Option_Descriptor &d) {
  return d.type == SANE_TYPE_INT || d.type == SANE_TYPE_FIXED;
}

double number_of(const SANE_Option_Descriptor &d, SANE_Word word) {
  return d.type == SANE_TYPE_FIXED ? SANE_UNFIX(word) : word;
}

/// A number as an option of this type stores it.
SANE_Word word_of(const SANE_Option_Descriptor &d, const std::string &value) {
  if (d.type == SANE_TYPE_BOOL) {
    if (value == "yes" || value == "true" || value == "1") return SANE_TRUE;
    if (value == "no" || value == "false" || value == "0") return SANE_FALSE;
    throw Error("must be yes or no");
  }
  const char *const end = value.data() + value.size();
  double number = 0;
  const auto read = std::from_chars(value.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || std::fabs(number) > 32767 * 65536.0)
    throw Error("must be a number");
  return d.type == SANE_TYPE_FIXED ? SANE_FIX(number) : static_cast<SANE_Word>(std::lround(number));
}

}  // namespace

double Allowed::nearest(double number) const {
  if (list.empty()) return std::clamp(number, least, most);
  const auto apart = [number](double other) {
    return other > 0 && number > 0 ? std::fabs(std::log(other / number)) : HUGE_VAL;
  };
  return *std::min_element(list.begin(), list.end(),
                           [&apart](double a, double b) { return apart(a) < apart(b); });
}

std::string Allowed::text() const {
  if (list.empty()) return text_of(least) + " to " + text_of(most);
  std::string all;
  for (const double number : list) all += (all.empty() ? "" : ", ") + text_of(number);
  return all;
}

std::string text_of(double number) {
  char digits[32];
  return {digits,
          std::to_chars(digits, digits + sizeof digits, std::round(number * 1e3) / 1e3).ptr};
}

bool SaneOptions::has(const std::string &name) const {
  return find(handle_, name).has_value();
}

bool SaneOptions::is_switch(const std::string &name) const {
  const auto option = find(handle_, name);
  return option && option->descriptor->type == SANE_TYPE_BOOL;
}

bool SaneOptions::is_in_pixels(const std::string &name) const {
  const auto option = find(handle_, name);
  return option && option->descriptor->unit == SANE_UNIT_PIXEL;
}

std::vector<std::string> SaneOptions::choices(const std::string &name) const {
  const auto option = find(handle_, name);
  return option ? choices_of(*option->descriptor) : std::vector<std::string>{};
}

std::optional<Allowed> SaneOptions::allowed(const std::string &name) const {
  const auto option = find(handle_, name);
  if (!option || !is_number(*option->descriptor)) return std::nullopt;
  const SANE_Option_Descriptor &d = *option->descriptor;
  if (d.constraint_type == SANE_CONSTRAINT_RANGE)
    return Allowed{
        number_of(d, d.constraint.range->min), number_of(d, d.constraint.range->max), {}};
  if (d.constraint_type != SANE_CONSTRAINT_WORD_LIST || d.constraint.word_list[0] < 1)
    return std::nullopt;
  Allowed all;
  const SANE_Word *const words = d.constraint.word_list;  // the first is their count
  for (SANE_Word i = 1; i <= words[0]; ++i) all.list.push_back(number_of(d, words[i]));
  std::sort(all.list.begin(), all.list.end());
  all.least = all.list.front();
  all.most = all.list.back();
  return all;
}

double SaneOptions::number(const std::string &name) const {
  const auto option = find(handle_, name);
  if (!option || option->descriptor->size != sizeof(SANE_Word)) return 0;
  SANE_Word word = 0;
  if (sane_control_option(handle_, option->index, SANE_ACTION_GET_VALUE, &word, nullptr) !=
      SANE_STATUS_GOOD)
    return 0;
  return number_of(*option->descriptor, word);
}

std::string SaneOptions::text(const std::string &name) const {
  const auto option = find(handle_, name);
  if (!option || option->descriptor->type != SANE_TYPE_STRING) return "";
  std::vector<char> text(option->descriptor->size + 1, '\0');
  return sane_control_option(handle_, option->index, SANE_ACTION_GET_VALUE, text.data(), nullptr) ==
                 SANE_STATUS_GOOD
             ? text.data()
             : "";
}

void SaneOptions::set(const std::string &name, const std::string &value) const {
  const auto option = find(handle_, name);
  if (!option) throw Error("there is no such option");
  const SANE_Option_Descriptor &d = *option->descriptor;
  if (!SANE_OPTION_IS_SETTABLE(d.cap)) throw Error("can only be set at the device");
  SANE_Status status = SANE_STATUS_INVAL;
  if (d.type == SANE_TYPE_STRING) {
    const auto all = choices_of(d);
    if (!all.empty() && std::find(all.begin(), all.end(), value) == all.end()) {
      std::string list;
      for (const std::string &choice : all) list += (list.empty() ? "" : ", ") + choice;
      throw Error("must be one of: " + list);
    }
    std::vector<char> text(std::max<std::size_t>(d.size, value.size() + 1), '\0');
    std::copy(value.begin(), value.end(), text.begin());
    status =
        sane_control_option(handle_, option->index, SANE_ACTION_SET_VALUE, text.data(), nullptr);
  } else if (d.type == SANE_TYPE_BOOL || is_number(d)) {
    std::vector<SANE_Word> words(std::max<std::size_t>(1, d.size / sizeof(SANE_Word)),
                                 word_of(d, value));
    status =
        sane_control_option(handle_, option->index, SANE_ACTION_SET_VALUE, words.data(), nullptr);
  } else {
    throw Error("cannot be set");
  }
  if (status != SANE_STATUS_GOOD) throw Error(sane_strstatus(status));
}

}  // namespace cudascan::scan
