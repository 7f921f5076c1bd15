// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A SANE driver, "sheets", of scanners that name their options differently. Each has a feeder with
/// two sheets of white paper. Fronts have a black square at the top left. Backs have it too, but
/// are fed upside down.
/// - sheets:source scans both sides by a source, with resolutions of a list;
/// - sheets:choice has an option adf-mode, two resolutions, and an area in pixels;
/// - sheets:switch has a switch, a size of the page, modes by other names, and no resolution.
#include <sane/sane.h>
#include <sane/saneopts.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kSheets = 2;
constexpr double kMmPerInch = 25.4, kFixedDpi = 200;
constexpr SANE_Byte kBlack = 0, kWhite = 255;

SANE_String_Const kSources[] = {"Flatbed", "Card Duplex", "ADF", "ADF Duplex", nullptr};
SANE_String_Const kFeeders[] = {"Flatbed", "Automatic Document Feeder", nullptr};
SANE_String_Const kAdfModes[] = {"Simplex", "Duplex", nullptr};
SANE_String_Const kModes[] = {"Black & White", "Gray[Error Diffusion]", "True Gray", nullptr};
const SANE_Word kResolutions[] = {3, 600, 100, 200};
const SANE_Range kDpi = {50, 400, 0}, kPixels = {0, 4000, 0}, kMm = {0, SANE_FIX(209), 0},
                 kPageMm = {SANE_FIX(50), SANE_FIX(216), 0},
                 kLongMm = {SANE_FIX(50), SANE_FIX(864), 0}, kDownMm = {0, SANE_FIX(864), 0};

struct Option {
  SANE_Option_Descriptor descriptor;
  std::vector<char> value;
};
std::vector<Option> options;  // the first is their number, as SANE wants
std::string model;
int pages, sent;  // pages since the feeder was full, bytes of this one

void add(const char *name, SANE_Value_Type type, SANE_Unit unit, const void *constraint,
         const char *text, SANE_Word word) {
  Option option{};
  SANE_Option_Descriptor &d = option.descriptor;
  d.name = d.title = d.desc = name;
  d.type = type;
  d.unit = unit;
  d.cap = SANE_CAP_SOFT_SELECT | SANE_CAP_SOFT_DETECT;
  option.value.assign(text != nullptr ? 64 : sizeof word, '\0');
  d.size = static_cast<SANE_Int>(option.value.size());
  if (text != nullptr) {
    std::strcpy(option.value.data(), text);
    d.constraint_type = SANE_CONSTRAINT_STRING_LIST;
    d.constraint.string_list = static_cast<const SANE_String_Const *>(constraint);
  } else {
    std::memcpy(option.value.data(), &word, sizeof word);
    const bool list = constraint == kResolutions;
    d.constraint_type = constraint == nullptr ? SANE_CONSTRAINT_NONE
                        : list                ? SANE_CONSTRAINT_WORD_LIST
                                              : SANE_CONSTRAINT_RANGE;
    if (list)
      d.constraint.word_list = kResolutions;
    else
      d.constraint.range = static_cast<const SANE_Range *>(constraint);
  }
  options.push_back(option);
}

void add_text(const char *name, SANE_String_Const *choices) {
  add(name, SANE_TYPE_STRING, SANE_UNIT_NONE, choices, choices[0], 0);
}

void add_area(SANE_Value_Type type, SANE_Unit unit, const SANE_Range &across,
              const SANE_Range &down) {
  for (const char *name : {SANE_NAME_SCAN_TL_X, SANE_NAME_SCAN_TL_Y})
    add(name, type, unit, &across, nullptr, across.max / 10);
  add(SANE_NAME_SCAN_BR_X, type, unit, &across, nullptr, across.max / 4);
  add(SANE_NAME_SCAN_BR_Y, type, unit, &down, nullptr, down.max / 4);
}

Option *find(const char *name) {
  for (Option &option : options)
    if (option.descriptor.name != nullptr && std::strcmp(option.descriptor.name, name) == 0)
      return &option;
  return nullptr;
}

std::string text(const char *name) {
  const Option *option = find(name);
  return option != nullptr ? option->value.data() : "";
}

double number(const char *name) {
  const Option *option = find(name);
  if (option == nullptr) return 0;
  SANE_Word word = 0;
  std::memcpy(&word, option->value.data(), sizeof word);
  return option->descriptor.type == SANE_TYPE_FIXED ? SANE_UNFIX(word) : word;
}

/// Adf-mode can be set only for the feeder.
void update() {
  if (Option *mode = find("adf-mode"))
    mode->descriptor.cap = SANE_CAP_SOFT_SELECT | SANE_CAP_SOFT_DETECT |
                           (text("source") == kFeeders[1] ? 0 : SANE_CAP_INACTIVE);
}

bool both_sides() {
  return text("source") == "ADF Duplex" || text("adf-mode") == "Duplex" || number("duplex") != 0;
}

/// Pixels from one option to another.
int pixels(const char *from, const char *to, const char *dpi) {
  const double length = number(to) - number(from);
  if (model == "choice") return static_cast<int>(std::lround(length));
  const double resolution = number(dpi) > 0 ? number(dpi) : kFixedDpi;
  return static_cast<int>(std::lround(length * resolution / kMmPerInch));
}

}  // namespace

extern "C" {

SANE_Status sane_sheets_init(SANE_Int *version, SANE_Auth_Callback) {
  if (version != nullptr) *version = SANE_VERSION_CODE(1, 0, 0);
  return SANE_STATUS_GOOD;
}

void sane_sheets_exit() {}

SANE_Status sane_sheets_get_devices(const SANE_Device ***devices, SANE_Bool) {
  static const SANE_Device all[] = {{"source", "Noname", "sheets", "virtual device"},
                                    {"choice", "Noname", "sheets", "virtual device"},
                                    {"switch", "Noname", "sheets", "virtual device"}};
  static const SANE_Device *list[] = {&all[0], &all[1], &all[2], nullptr};
  *devices = list;
  return SANE_STATUS_GOOD;
}

SANE_Status sane_sheets_open(SANE_String_Const name, SANE_Handle *opened) {
  model = name;
  options.clear();
  pages = 0;
  add("", SANE_TYPE_INT, SANE_UNIT_NONE, nullptr, nullptr, 0);
  if (model == "source") {
    add_text(SANE_NAME_SCAN_SOURCE, kSources);
    add(SANE_NAME_SCAN_RESOLUTION, SANE_TYPE_INT, SANE_UNIT_DPI, kResolutions, nullptr, 100);
    add_area(SANE_TYPE_FIXED, SANE_UNIT_MM, kMm, kDownMm);
  } else if (model == "choice") {
    add_text(SANE_NAME_SCAN_SOURCE, kFeeders);
    add_text("adf-mode", kAdfModes);
    for (const char *name : {SANE_NAME_SCAN_X_RESOLUTION, SANE_NAME_SCAN_Y_RESOLUTION})
      add(name, SANE_TYPE_INT, SANE_UNIT_DPI, &kDpi, nullptr, 50);
    add_area(SANE_TYPE_INT, SANE_UNIT_PIXEL, kPixels, kPixels);
  } else {
    add("duplex", SANE_TYPE_BOOL, SANE_UNIT_NONE, nullptr, nullptr, SANE_FALSE);
    add_text(SANE_NAME_SCAN_MODE, kModes);
    add(SANE_NAME_PAGE_WIDTH, SANE_TYPE_FIXED, SANE_UNIT_MM, &kPageMm, nullptr, SANE_FIX(50));
    add(SANE_NAME_PAGE_HEIGHT, SANE_TYPE_FIXED, SANE_UNIT_MM, &kLongMm, nullptr, SANE_FIX(50));
    add_area(SANE_TYPE_FIXED, SANE_UNIT_MM, kMm, kDownMm);
  }
  update();
  *opened = &options;
  return SANE_STATUS_GOOD;
}

void sane_sheets_close(SANE_Handle) {}

const SANE_Option_Descriptor *sane_sheets_get_option_descriptor(SANE_Handle, SANE_Int i) {
  return i >= 0 && i < static_cast<SANE_Int>(options.size()) ? &options[i].descriptor : nullptr;
}

SANE_Status sane_sheets_control_option(SANE_Handle, SANE_Int i, SANE_Action action, void *value,
                                       SANE_Int *info) {
  if (info != nullptr) *info = 0;
  if (action == SANE_ACTION_SET_AUTO) return SANE_STATUS_UNSUPPORTED;
  Option &option = options[i];
  if (action == SANE_ACTION_GET_VALUE) {
    std::memcpy(value, option.value.data(), option.value.size());
    return SANE_STATUS_GOOD;
  }
  const SANE_Option_Descriptor &d = option.descriptor;
  SANE_Word word = 0;
  if (d.type != SANE_TYPE_STRING) std::memcpy(&word, value, sizeof word);
  // The area cannot leave the page.
  if (d.constraint_type == SANE_CONSTRAINT_RANGE &&
      (word < d.constraint.range->min || word > d.constraint.range->max))
    return SANE_STATUS_INVAL;
  if (model == "switch" && ((std::strcmp(d.name, SANE_NAME_SCAN_BR_X) == 0 &&
                             SANE_UNFIX(word) > number(SANE_NAME_PAGE_WIDTH)) ||
                            (std::strcmp(d.name, SANE_NAME_SCAN_BR_Y) == 0 &&
                             SANE_UNFIX(word) > number(SANE_NAME_PAGE_HEIGHT))))
    return SANE_STATUS_INVAL;
  if (d.type == SANE_TYPE_STRING)
    std::strncpy(option.value.data(), static_cast<const char *>(value), option.value.size() - 1);
  else
    std::memcpy(option.value.data(), &word, sizeof word);
  update();
  if (info != nullptr) *info = SANE_INFO_RELOAD_OPTIONS | SANE_INFO_RELOAD_PARAMS;
  return SANE_STATUS_GOOD;
}

SANE_Status sane_sheets_get_parameters(SANE_Handle, SANE_Parameters *p) {
  const bool two = model == "choice";
  const int width = pixels(SANE_NAME_SCAN_TL_X, SANE_NAME_SCAN_BR_X,
                           two ? SANE_NAME_SCAN_X_RESOLUTION : SANE_NAME_SCAN_RESOLUTION),
            height = pixels(SANE_NAME_SCAN_TL_Y, SANE_NAME_SCAN_BR_Y,
                            two ? SANE_NAME_SCAN_Y_RESOLUTION : SANE_NAME_SCAN_RESOLUTION);
  *p = {SANE_FRAME_GRAY, SANE_TRUE, width, width, height, 8};
  return SANE_STATUS_GOOD;
}

SANE_Status sane_sheets_start(SANE_Handle) {
  if (text("source") != "Flatbed" && pages == kSheets * (both_sides() ? 2 : 1))
    return SANE_STATUS_NO_DOCS;
  ++pages;
  sent = 0;
  return SANE_STATUS_GOOD;
}

SANE_Status sane_sheets_read(SANE_Handle handle, SANE_Byte *bytes, SANE_Int most, SANE_Int *got) {
  SANE_Parameters p;
  sane_sheets_get_parameters(handle, &p);
  const int end = p.pixels_per_line * p.lines;
  *got = std::min(end - sent, most);
  if (*got == 0) return SANE_STATUS_EOF;
  const bool back = both_sides() && pages % 2 == 0;
  const bool gray = model != "switch" || text(SANE_NAME_SCAN_MODE) == "True Gray";
  for (int i = 0; i < *got; ++i) {
    const int at = back ? end - 1 - (sent + i) : sent + i;
    const int x = at % p.pixels_per_line, y = at / p.pixels_per_line;
    const bool square = x >= 20 && x < 80 && y >= 20 && y < 80;
    bytes[i] = square || !gray ? kBlack : kWhite;
  }
  sent += *got;
  return SANE_STATUS_GOOD;
}

void sane_sheets_cancel(SANE_Handle) {
  pages = 0;
}

SANE_Status sane_sheets_set_io_mode(SANE_Handle, SANE_Bool without_blocking) {
  return without_blocking ? SANE_STATUS_UNSUPPORTED : SANE_STATUS_GOOD;
}

SANE_Status sane_sheets_get_select_fd(SANE_Handle, SANE_Int *) {
  return SANE_STATUS_UNSUPPORTED;
}

}  // extern "C"
