// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/filter_program.h"

#include <algorithm>

#include "kernels/base/refuse.h"
#include "kernels/usercode/divisions.h"
#include "kernels/usercode/formula.h"
#include "kernels/usercode/source_file.h"
#include "kernels/usercode/translate.h"

namespace cudascan::gswo {
namespace {

/// @param user  the user's text in the unit; messages name its lines
std::string compile(const Unit &unit, const SourceText &user, int architecture,
                    const CodeOptions &options) {
  try {
    return architecture ? compile_for_gpu(unit, architecture, options)
                        : compile_for_cpu(unit, options);
  } catch (const BadSetting &e) {
    throw BadSetting(in_columns_of(user.name, user.text, e.what()));
  }
}

/// Everything that code depends on, as one text.
std::string key_of(const Unit &unit, const FilterTarget &target, const UserFilterParams &p,
                   const std::vector<std::string> &more) {
  std::string key;
  const auto add = [&](const std::string &part) {
    key += std::to_string(part.size()) + ':' + part;
  };
  add(std::to_string(target.architecture));
  add(code_options(p).cache_dir);
  add(unit.main.name);
  add(unit.main.text);
  for (const std::string &part : more) add(part);
  return key;
}

// ---- Formulas and functions

const std::string kAboutCuda =
    "// A filter as CUDA code, for nvcc -std=c++20 -fmad=false -I FOLDER; the folder is kernels\n"
    "// of gst-cudascan's source, or include/cudascan/kernels where that is installed. nvcc wants\n"
    "// __device__ before each function of the filter; the element, which uses NVRTC, does not.\n";

/// Written if planes are used.
const std::string kAboutPlanes =
    "// It is given planes: what the library's own operators have made of the frame, see Input in\n"
    "// gswo/window.h. With -DGSWO_PLANES=0 it takes none and computes all from the window.\n";

/// The remaining work for the windows of a filter.
WindowUse use_of(const WindowCalls &calls, const WindowPlanes &planes) {
  if (calls.order || planes.other_ranks || (calls.median && !planes.has(kMedianPlane)))
    return WindowUse::sorts;
  const bool all_known =
      (!calls.min || planes.has(kMinPlane)) && (!calls.max || planes.has(kMaxPlane));
  if (calls.others || !all_known) return WindowUse::reads;
  if (calls.sums && !planes.has(kSumPlane)) return WindowUse::sums;
  return planes.kinds ? WindowUse::none : WindowUse::reads;
}

Program function_program(const UserFilterParams &p, const std::string &text,
                         const FilterTarget &target, UserFilterReads asked) {
  const bool is_expression = p.source.empty();
  const FilterText filter{{is_expression ? "expression" : p.source, text},
                          is_expression,
                          is_expression ? "filter" : p.function,
                          p.constants};
  const WindowCalls calls = window_calls(text);
  const WindowPlanes gpu_planes = planes_for(calls, target, p.constants, asked, true);
  const WindowPlanes planes =
      target.architecture ? gpu_planes : planes_for(calls, target, p.constants, asked, false);
  FilterLaunch launch = choose_launch(target.mask, use_of(calls, gpu_planes), p);
  launch.sums = calls.sums && !gpu_planes.has(kSumPlane);
  const Unit cuda = make_filter_unit(filter, target, gpu_planes, &launch);
  const Unit unit = target.architecture ? cuda : make_filter_unit(filter, target, planes, nullptr);
  const std::string about = gpu_planes.kinds ? kAboutCuda + kAboutPlanes : kAboutCuda;
  const auto make = [=, architecture = target.architecture,
                     options = code_options(p)](const std::stop_token &stop) {
    return Built{compile(unit, filter.source, architecture, {options.cache_dir, stop}),
                 {about + cuda.main.text, ""},
                 launch,
                 {}};
  };
  // The launch is in the text for the GPU; the text for the CPU is stored with its CUDA source.
  return {key_of(unit, target, p, {cuda.main.text}), make, planes};
}

// ---- Translated files

std::string names_of(const std::vector<ManifestFunction> &functions) {
  std::string names;
  for (const ManifestFunction &function : functions)
    names += (names.empty() ? "" : ", ") + function.name;
  return names;
}

ManifestFunction pick(std::vector<ManifestFunction> functions, const UserFilterParams &p) {
  const auto named = std::find_if(functions.begin(), functions.end(),
                                  [&](const auto &f) { return f.name == p.function; });
  if (named != functions.end()) return *named;
  if (functions.size() == 1 && p.function == UserFilterParams().function) return functions.front();
  refuse("function = ", p.function, ": ", p.source, " has no filter with this name; it has ",
         names_of(functions));
}

template <typename Named>
const Named *find_named(const std::vector<Named> &all, const std::string &name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Named &one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

[[noreturn]] void refuse_unknown(const ManifestFunction &function, const std::string &name) {
  std::vector<std::string> known;
  for (const ManifestConstant &constant : function.constants) known.push_back(constant.name);
  for (const ManifestScalar &scalar : function.scalars)
    if (scalar.role == ManifestScalar::Role::value) known.push_back(scalar.name);
  known.insert(known.end(), function.unused.begin(), function.unused.end());
  std::string names;
  for (const std::string &one : known) names += (names.empty() ? "" : ", ") + one;
  refuse("params: the filter ", function.name, " has no parameter ", name,
         known.empty() ? std::string("; it has none") : "; it has " + names);
}

/// A number for a parameter that is fixed in the code. A translated file may have a different
/// number.
void check_fixed(const ManifestConstant &fixed, const UserFilterConstant &constant) {
  const auto *whole = std::get_if<std::int64_t>(&constant.value);
  if (!whole || static_cast<double>(*whole) != fixed.value)
    refuse("params: ", fixed.name, " is ", fixed.value,
           " in this file, which was translated with that value; translate its source again for "
           "another "
           "number, or remove ",
           fixed.name, " from params");
}

void check_scalar(const ManifestScalar &scalar, const UserFilterConstant &constant) {
  using Role = ManifestScalar::Role;
  if (scalar.role == Role::height || scalar.role == Role::width) {
    const char *role = scalar.role == Role::height ? "height" : "width";
    refuse("params: ", scalar.name, " is the ", role,
           " of the frame because it bounds the loops over the images; it comes from the frame, so "
           "remove it from params");
  }
  const auto *whole = std::get_if<std::int64_t>(&constant.value);
  if (const std::string range = whole ? range_missed(scalar.type, *whole) : ""; !range.empty())
    refuse("params: ", constant.name, " = ", *whole, ": its type ", scalar.type, " holds ", range,
           "; give it a number in this range");
}

void check_constants(const ManifestFunction &function, const UserFilterParams &p) {
  for (const UserFilterConstant &constant : p.constants) {
    const auto *scalar = find_named(function.scalars, constant.name);
    if (const auto *fixed = find_named(function.constants, constant.name))
      check_fixed(*fixed, constant);
    else if (scalar && scalar->role != ManifestScalar::Role::turn)
      check_scalar(*scalar, constant);
    else if (std::find(function.unused.begin(), function.unused.end(), constant.name) ==
             function.unused.end())
      refuse_unknown(function, constant.name);
  }
}

/// Narrow pixels wrap around, as in any C++ code. If frames have samples that do not fit, that is a
/// mistake.
void check_pixels(const ManifestFunction &function, const UserFilterParams &p, int sample_bytes) {
  for (const ManifestImage &image : function.images)
    if (image.place == ManifestImage::Place::source && size_of_type(image.type) < sample_bytes)
      refuse(
          "source = ", p.source, ": the pixels of ", image.name, " are of type ", image.type,
          ", which does not hold the frame's samples of more than 8 bits; use unsigned short, int "
          "or float");
}

/// @param user  the user's text
Built build_chain(const SourceText &translated, const std::string &notes, const std::string &user,
                  const UserFilterParams &p, const FilterTarget &target,
                  const CodeOptions &options) {
  ManifestFunction function = pick(parse_manifest(translated.name, translated.text), p);
  check_constants(function, p);
  check_pixels(function, p, target.sample_bytes);
  const Unit unit = make_chain_unit(translated, target, p.reads);
  Built built{compile(unit, {p.source, user}, target.architecture, options),
              {translated.text, notes},
              {},
              {}};
  built.launch.reads = p.reads;
  built.chain = std::move(function);
  return built;
}

/// Uses the line numbers of the file that the user edits, not of its original source.
std::string without_line_directives(const std::string &text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const bool directive = text.compare(begin, 6, "#line ") == 0;
    result += directive ? "\n" : text.substr(begin, end - begin);
    begin = end;
  }
  return result;
}

/// What a chain depends on besides its text.
Unit around(const UserFilterParams &p, const FilterTarget &target) {
  return make_chain_unit({p.source, ""}, target, p.reads);
}

std::vector<std::string> constants_in_key(const UserFilterParams &p) {
  std::vector<std::string> parts{p.function};
  for (const UserFilterConstant &constant : p.constants) parts.push_back(constant.name);
  return parts;
}

Program edited_program(const UserFilterParams &p, const std::string &text,
                       const FilterTarget &target) {
  // Numbers can change without new code.
  check_constants(pick(parse_manifest(p.source, text), p), p);
  std::vector<std::string> parts = constants_in_key(p);
  parts.push_back(text);
  return {key_of(around(p, target), target, p, parts), [=](const std::stop_token &stop) {
            Built built = build_chain({p.source, without_line_directives(text)}, "", text, p,
                                      target, {code_options(p).cache_dir, stop});
            built.told.cuda_source = text;
            return built;
          }};
}

// ---- Sources with pragmas

/// The window's names in sources. Numbers in `params` take precedence: integers replace the
/// window's size, and a parameter with a real number is not a constant.
std::vector<std::string> translator_options(const UserFilterParams &p, const Mask &window) {
  std::vector<std::pair<std::string, std::int64_t>> constants;
  const auto set = [&](const std::string &name, std::int64_t value) {
    const auto known = std::find_if(constants.begin(), constants.end(),
                                    [&](const auto &c) { return c.first == name; });
    if (known == constants.end())
      constants.emplace_back(name, value);
    else
      known->second = value;
  };
  const int side = std::max(window.width, window.height);
  for (const char *name : {"win", "window", "window_size"}) set(name, side);
  for (const char *name : {"r", "R", "radius"}) set(name, side / 2);
  set("window_width", window.width);
  set("window_height", window.height);
  for (const UserFilterConstant &constant : p.constants)
    if (const auto *whole = std::get_if<std::int64_t>(&constant.value))
      set(constant.name, *whole);
    else
      std::erase_if(constants, [&](const auto &c) { return c.first == constant.name; });

  std::vector<std::string> options;
  for (const auto &[name, value] : constants)
    options.insert(options.end(), {"--set", name + "=" + std::to_string(value)});
  options.push_back(p.strict ? "--strict" : "--system-headers");
  if (p.reads == UserFilterReads::global || p.reads == UserFilterReads::texture)
    options.push_back("--no-tiles");
  if (p.tile_width) options.insert(options.end(), {"--tile-width", std::to_string(p.tile_width)});
  if (p.tile_height)
    options.insert(options.end(), {"--tile-height", std::to_string(p.tile_height)});
  if (p.chunk_width)
    options.insert(options.end(), {"--chunk-width", std::to_string(p.chunk_width)});
  if (p.chunk_height)
    options.insert(options.end(), {"--chunk-height", std::to_string(p.chunk_height)});
  return options;
}

Program pragma_program(const UserFilterParams &p, const std::string &text,
                       const FilterTarget &target) {
  const std::vector<std::string> options = translator_options(p, target.mask);
  std::vector<std::string> parts = constants_in_key(p);
  parts.push_back(text);
  parts.insert(parts.end(), options.begin(), options.end());
  return {
      key_of(around(p, target), target, p, parts), [=](const std::stop_token &stop) {
        const CodeOptions code{code_options(p).cache_dir, stop};
        const Translation translation = translate({p.source, text}, options, code);
        return build_chain({p.source, translation.text}, translation.notes, text, p, target, code);
      }};
}

}  // namespace

CodeOptions code_options(const UserFilterParams &p) {
  return {.cache_dir = p.cache_dir == "auto" ? default_cache_dir() : p.cache_dir};
}

Program filter_program(const UserFilterParams &p, const std::string &text,
                       const FilterTarget &target, UserFilterReads asked) {
  if (p.source.empty()) {
    if (p.strict) check_strict_formula(p.expression, p.constants);
    return function_program(p, p.expression, target, asked);
  }
  const bool edited = has_manifest(text), pragmas = !edited && has_pragmas(text);
  if (p.strict && !pragmas)
    refuse("strict = true: ", p.source,
           " has no GSWO pragmas, and only code with these can be checked; set strict to false if "
           "you trust the file");
  if (edited) return edited_program(p, text, target);
  if (pragmas) return pragma_program(p, text, target);
  check_function(p.source, text, p.function);
  return function_program(p, text, target, asked);
}

}  // namespace cudascan::gswo
