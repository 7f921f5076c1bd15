// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Users' filters as properties of an element: their settings, and data about their code.
#pragma once
#include <string_view>
#include <tuple>
#include <vector>

#include "gst/compiled_code.h"
#include "gst/properties.h"
#include "kernels/userfilter.h"

namespace cudascan::gst {

template <>
struct EnumTable<UserFilterReads> {
  static constexpr const char *type_name = "GstCudaSwoFilterReads";
  static constexpr EnumEntry<UserFilterReads> values[] = {
      {UserFilterReads::automatic, "The best for the window", "auto"},
      {UserFilterReads::global, "The frame", "global"},
      {UserFilterReads::shared, "A tile of it in shared memory", "shared"},
      {UserFilterReads::texture, "The frame, through a texture", "texture"}};
};

/// Named numbers are a structure.
template <>
struct PropertyValue<std::vector<UserFilterConstant>> {
  using Constants = std::vector<UserFilterConstant>;

  static GParamSpec *spec(const PropertyText &t, const Constants &, GParamFlags flags) {
    return g_param_spec_boxed(t.name, t.nick, t.blurb, GST_TYPE_STRUCTURE, flags);
  }

  /// @throws BadSetting for a field that is not a number
  static void load(const GValue *from, Constants &to) {
    to.clear();
    const GstStructure *fields = gst_value_get_structure(from);
    for (gint i = 0; fields && i < gst_structure_n_fields(fields); ++i) {
      const char *name = gst_structure_nth_field_name(fields, static_cast<guint>(i));
      const GValue *field = gst_structure_get_value(fields, name);
      GValue number = G_VALUE_INIT;
      const bool real = G_VALUE_HOLDS_DOUBLE(field) || G_VALUE_HOLDS_FLOAT(field);
      g_value_init(&number, real ? G_TYPE_DOUBLE : G_TYPE_INT64);
      const bool ok = !G_VALUE_HOLDS_STRING(field) && g_value_transform(field, &number);
      if (!ok)
        throw BadSetting(std::string(name) + " (" + G_VALUE_TYPE_NAME(field) +
                         "): must be a number, such as params,radius=2,amount=1.5");
      if (real)
        to.push_back({name, g_value_get_double(&number)});
      else
        to.push_back({name, std::int64_t{g_value_get_int64(&number)}});
    }
  }
  static void store(GValue *to, const Constants &from) {
    GstStructure *fields = gst_structure_new_empty("params");
    for (const UserFilterConstant &constant : from) {
      if (const auto *real = std::get_if<double>(&constant.value))
        gst_structure_set(fields, constant.name.c_str(), G_TYPE_DOUBLE, *real, nullptr);
      else if (const auto integer = std::get<std::int64_t>(constant.value);
               integer == static_cast<gint>(integer))
        gst_structure_set(fields, constant.name.c_str(), G_TYPE_INT, static_cast<gint>(integer),
                          nullptr);
      else
        gst_structure_set(fields, constant.name.c_str(), G_TYPE_INT64, static_cast<gint64>(integer),
                          nullptr);
    }
    g_value_take_boxed(to, fields);
  }
};

inline constexpr std::tuple kUserFilterProperties{
    Property{"expression", "Expression",
             "Formula of the window p, such as p.max() - p.min(); sets operator=custom",
             &UserFilterParams::expression},
    Property{"source", "Source",
             "Path of a file with trusted code: C++ with a function float filter(auto p), C or C++ "
             "with pragmas, or the output of gswo-cc; sets operator=custom",
             &UserFilterParams::source},
    Property{"function", "Function", "Name of the function in source, if it has several",
             &UserFilterParams::function},
    Property{"params", "Params",
             "Numbers by name for expression and source, such as params,radius=2,amount=1.5; "
             "changing real numbers needs no new compilation",
             &UserFilterParams::constants},
    Property{"reload", "Reload", "Load the file source again when it changes",
             &UserFilterParams::reload},
    Property{"cache-dir", "Cache folder",
             "Folder for compiled code; auto = gst-cudascan in $XDG_CACHE_HOME or ~/.cache, empty "
             "= none",
             &UserFilterParams::cache_dir},
    Property{"emit-cuda", "Emit CUDA",
             "Path of a file to write the CUDA code of expression or source to",
             &UserFilterParams::emit_cuda},
    Property{"strict", "Strict",
             "Allow only formulas and sources with pragmas that can be checked: only samples, "
             "numbers, mathematical functions and functions of the file",
             &UserFilterParams::strict},
    Property{"tile-width", "Tile width",
             "For custom: columns of pixels for a block of GPU threads, 1 to 1024; 0 = the best "
             "known",
             &UserFilterParams::tile_width, Limits{0, 1024}},
    Property{"tile-height", "Tile height",
             "For custom: rows of pixels for a block of GPU threads, 1 to 1024; 0 = the best known",
             &UserFilterParams::tile_height, Limits{0, 1024}},
    Property{"chunk-width", "Chunk width",
             "For custom: columns of pixels for each GPU thread, 1, 2 or 4; 0 = the best "
             "known",
             &UserFilterParams::chunk_width, Limits{0, 4}},
    Property{"chunk-height", "Chunk height",
             "For custom: rows of pixels for each GPU thread, 1 to 64; 0 = the best known",
             &UserFilterParams::chunk_height, Limits{0, 64}},
    Property{"reads", "Reads", "For custom: from where the GPU reads the samples of a window",
             &UserFilterParams::reads},
    Property{"tune", "Tune",
             "For custom: try tiles, chunks and reads on the first frame, use the fastest on this "
             "GPU and save them in cache-dir",
             &UserFilterParams::tune}};

inline constexpr std::tuple kUserFilterFacts{
    CodeFact{"cuda-source", "CUDA source", "The code of custom in use, as CUDA",
             &UserFilterCode::cuda_source, false},
    CodeFact{"compile-log", "Compile log",
             "Messages of translator and compilers about the code of custom", &UserFilterCode::log,
             true},
    Fact{"translator", "Translator",
         "Version of gswo-cc, which translates sources with pragmas; empty if not installed",
         translator_version}};

/// Whether a property is one of these settings. Presets contain none of them, because code belongs
/// to a machine.
inline bool is_of_user_filter(std::string_view property) {
  return std::apply([&](const auto &...p) { return ((p.name == property) || ...); },
                    kUserFilterProperties);
}

}  // namespace cudascan::gst
