// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Turns an operator (params struct, report struct, run() overloads) into a GStreamer element type.
/// An element file gives a traits struct
///
///     struct Nick {
///       using Params = NickParams;
///       using Report = NickReport;
///       static constexpr const char *name = "cudanick";
///       static constexpr const char *type_name = "GstCudaNick";
///       static constexpr const char *long_name, *description;
///       static constexpr auto properties = std::tuple{Property{...}, ...};
///       static constexpr auto results = std::tuple{Result{...}, ...};        // may be empty
///       static bool black_and_white(const Params &);
///       /// Whether the result is neither black and white nor an image: a threshold, an angle. May
///       /// be left out.
///       static bool is_map(const Params &);
///       // If it is not copied or, in black and white, neutral.
///       static Chroma chroma(const Params &);
///       static void fill(GstStructure *, const Params &, const Report &);
///       /// The boolean field that the field `confidence` belongs to. May be left out.
///       static constexpr const char *doubtful_field;
///       /// If setting a property implies another value: sets it and returns its name, or null.
///       static const char *imply(Params &, const char *property);
///       /// Whether presets have a property; by default all except `algorithm`.
///       static bool in_presets(std::string_view property);
///     };
///
/// and ends with CUDASCAN_ELEMENT_DEFINE(cudanick, Nick).
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "gst/compiled_code.h"
#include "gst/gstcudascanfilter.h"
#include "gst/presets.h"
#include "gst/properties.h"
#include "gst/regions.h"
#include "gst/report.h"

namespace cudascan::gst {

template <typename Traits>
class Element {
 public:
  static GType type() {
    static const GType type = make_type();
    return type;
  }

 private:
  using Roi = RoiSettings<typename Traits::Params>;
  using Params = typename Roi::Params;
  using Report = typename Traits::Report;
  static constexpr auto properties = std::tuple_cat(Traits::properties, Roi::properties);
  static_assert(numbers_have_limits(properties) && numbers_have_limits(Traits::results),
                "a number in the table of properties or results has no Limits");

  struct Own {
    Params params;                         // object lock
    std::map<guint, std::string> refused;  // object lock; why a property could not be set
    Report last_report;                    // object lock; what the result properties show
    std::atomic<bool> result_was_read = false;
    std::atomic<bool> forget = true;  // before the next frame
    Params frame_params;              // of the streaming thread
    CompiledCode<Traits> code;
    Report report;  // of the streaming thread
  };
  struct Instance {
    GstCudaScanFilter parent;
    Own *own;
  };

  static constexpr guint kFirstProperty = GST_CUDA_SCAN_FILTER_FIRST_PROPERTY;
  static constexpr guint kFirstResult = kFirstProperty + std::tuple_size_v<decltype(properties)>;
  static constexpr guint kFirstFact = kFirstResult + std::tuple_size_v<decltype(Traits::results)>;

  static Own &own(gpointer instance) { return *static_cast<Instance *>(instance)->own; }

  /// Sets a field and the fields that it implies.
  struct Change {
    bool known = false;
    std::string refused;            // why it was not set
    const char *implied = nullptr;  // name of another property that was set
  };
  static Change change(Params &params, guint id, const GValue *value) {
    Change change;
    change.known = with_entry(properties, kFirstProperty, id, [&](const auto &p) {
      try {
        load(value, p.of(params));
        if constexpr (requires { Traits::imply(params, p.name); })
          change.implied = Traits::imply(params, p.name);
      } catch (const BadSetting &e) {
        change.refused = std::string(p.name) + " = " + e.what();
      }
    });
    return change;
  }

  static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *pspec) {
    // Frames continue with the old settings while kernels are loaded for the new ones.
    Params next = current_params(object);
    if (const Change first = change(next, id, value); first.known && first.refused.empty())
      load_kernels(reinterpret_cast<GstCudaScanFilter *>(object), next);
    GST_OBJECT_LOCK(object);
    Params &params = own(object).params;
    const Gray8From before = gray8_of(params);
    const std::vector<const char *> in_use = names_in_use(params);
    const Change change = Element::change(params, id, value);
    own(object).refused.erase(id);
    if (!change.refused.empty()) own(object).refused[id] = change.refused;
    const Gray8From after = gray8_of(params);
    const bool others_in_use = in_use != names_in_use(params);
    GST_OBJECT_UNLOCK(object);
    if (!change.known) G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    if (change.implied) g_object_notify(object, change.implied);
    if (others_in_use) g_object_notify(object, "settings-in-use");
    if (before != after)
      gst_cuda_scan_filter_settings_changed(reinterpret_cast<GstCudaScanFilter *>(object));
  }

  static void get_property(GObject *object, guint id, GValue *value, GParamSpec *pspec) {
    GST_OBJECT_LOCK(object);
    const bool found =
        with_entry(properties, kFirstProperty, id,
                   [&](const auto &p) { store(value, shown(p, own(object).params)); }) ||
        with_entry(Traits::results, kFirstResult, id, [&](const auto &r) {
          own(object).result_was_read = true;
          show(r, own(object).last_report, value);
        });
    GST_OBJECT_UNLOCK(object);
    if (!found && !own(object).code.show(object, id - kFirstFact, value))
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }

  static Params current_params(gpointer instance) {
    GST_OBJECT_LOCK(instance);
    Params params = own(instance).params;
    GST_OBJECT_UNLOCK(instance);
    return params;
  }

  static void check_refused(GstCudaScanFilter *self) {
    GST_OBJECT_LOCK(self);
    const auto &refused = own(self).refused;
    const std::string why = refused.empty() ? "" : refused.begin()->second;
    GST_OBJECT_UNLOCK(self);
    if (!why.empty()) throw BadSetting(why);
  }

  /// At the start of a stream.
  static void check(GstCudaScanFilter *self) {
    own(self).code.start();
    check_refused(self);
    validate(current_params(self));
  }

  static void load_kernels(GstCudaScanFilter *self) { load_kernels(self, current_params(self)); }
  static void load_kernels([[maybe_unused]] GstCudaScanFilter *self,
                           [[maybe_unused]] const Params &params) {
#ifdef HAVE_CUDA
    gst_cuda_scan_filter_load_kernels(self, [&](Cuda &loader, const Luma &luma) {
      std::visit(
          [&](const auto &in, const auto &out) {
            Report ignored;
            if constexpr (requires { run(loader, in, out, params, &ignored); })
              run(loader, in, out, params, &ignored);
          },
          luma.in, luma.out);
    });
#endif
  }

  static std::vector<const char *> names_in_use(const Params &params) {
    std::vector<const char *> names = settings_in_use(params);  // of the operator
    const auto is_roi = [](const std::string_view name) { return name == "roi"; };
    if (std::any_of(names.begin(), names.end(), is_roi))
      std::apply([&](const auto &...p) { (names.push_back(p.name), ...); }, Roi::properties);
    return names;
  }
  static std::vector<const char *> tell_names_in_use(GstCudaScanFilter *self) {
    return names_in_use(current_params(self));
  }

  static Gray8From gray8_of(const Params &params) {
    if (Traits::black_and_white(params)) return Gray8From::any;
    if constexpr (requires { Traits::is_map(params); })
      if (Traits::is_map(params)) return Gray8From::eight_bits;
    return Gray8From::gray8;
  }
  static Gray8From gray8_from(GstCudaScanFilter *self) {
    return gray8_of(current_params(self));
  }

  static Chroma begin_frame(GstCudaScanFilter *self, GstBuffer *in, const GstVideoInfo &info) {
    check_refused(self);
    Params &params = own(self).frame_params = current_params(self);
    Roi::follow(params, in, info);
    if constexpr (requires { Traits::chroma(params); })
      return Traits::chroma(params);
    else
      return Traits::black_and_white(params) ? Chroma::neutral : Chroma::copied;
  }

  static bool wants_report(GstCudaScanFilter *self, bool on_cpu) {
    return std::apply(
        [&](const auto &...result) {
          return sizeof...(result) > 0 &&
                 (on_cpu || own(self).result_was_read ||
                  (is_watched(GST_OBJECT(self), result.name) || ... || false));
        },
        Traits::results);
  }

  template <typename Exec>
  static void run_on(GstCudaScanFilter *self, Exec &exec, const Luma &luma, bool with_report) {
    Own &o = own(self);
    if (o.forget.exchange(false)) exec.forget();
    std::visit(
        [&](const auto &in, const auto &out) {
          const auto run_it = [&] {
            if constexpr (requires { run(exec, in, out, o.frame_params, &o.report); })
              run(exec, in, out, o.frame_params, with_report ? &o.report : nullptr);
            else
              throw Error("the element cannot turn 8-bit input into 16-bit output");
          };
          o.code.run(self, exec, in, o.frame_params, run_it);
        },
        luma.in, luma.out);
  }

  static void end_report(GstCudaScanFilter *self, GstStructure *fields) {
    Own &o = own(self);
    if (fields) Traits::fill(fields, o.frame_params, o.report);
    if constexpr (std::tuple_size_v < decltype(Traits::results) >> 0) {
      // Only this thread writes last_report.
      const auto changed = std::apply(
          [&](const auto &...r) { return std::array{differ(r, o.last_report, o.report)...}; },
          Traits::results);
      GST_OBJECT_LOCK(self);
      o.last_report = o.report;
      GST_OBJECT_UNLOCK(self);
      for (std::size_t i = 0; i < changed.size(); ++i)
        if (changed[i])
          with_entry(Traits::results, 0, i,
                     [&](const auto &r) { g_object_notify(G_OBJECT(self), r.name); });
    }
  }

  static void reset(GstCudaScanFilter *self) {
    own(self).forget = true;
  }

  static GType make_type() {
    const GType type = g_type_register_static_simple(
        GST_TYPE_CUDA_SCAN_FILTER, g_intern_static_string(Traits::type_name),
        sizeof(GstCudaScanFilterClass), class_init, sizeof(Instance), instance_init,
        static_cast<GTypeFlags>(0));
    Presets<Traits>::add_to(type);
    return type;
  }

  static void instance_init(GTypeInstance *instance, gpointer) {
    reinterpret_cast<Instance *>(instance)->own = new Own();
  }
  static void finalize(GObject *object) {
    delete reinterpret_cast<Instance *>(object)->own;
    G_OBJECT_CLASS(g_type_class_peek(GST_TYPE_CUDA_SCAN_FILTER))->finalize(object);
  }

  static void class_init(gpointer klass, gpointer) {
    auto object_class = static_cast<GObjectClass *>(klass);
    object_class->set_property = set_property;
    object_class->get_property = get_property;
    object_class->finalize = finalize;
    guint id = kFirstProperty;
    const auto install = [&](GParamSpec *spec) {
      g_object_class_install_property(object_class, id++, spec);
    };
    std::apply([&](const auto &...p) { (install(spec_of_setting(p, Params{})), ...); }, properties);
    std::apply([&](const auto &...r) { (install(spec_of_result(r)), ...); }, Traits::results);
    CompiledCode<Traits>::for_each_spec(install);

    auto filter_class = static_cast<GstCudaScanFilterClass *>(klass);
    filter_class->category = _gst_debug_category_new(Traits::name, 0, Traits::long_name);
    filter_class->report_name = Traits::name;
    if constexpr (requires { Traits::doubtful_field; })
      filter_class->doubtful_field = Traits::doubtful_field;
    filter_class->validate = check;
    filter_class->settings_in_use = tell_names_in_use;
    filter_class->gray8_from = gray8_from;
    filter_class->load_kernels = load_kernels;
    filter_class->begin_frame = begin_frame;
    filter_class->wants_report = wants_report;
    filter_class->run_cpu = run_on<Cpu>;
#ifdef HAVE_CUDA
    filter_class->run_cuda = run_on<Cuda>;
#endif
    filter_class->end_report = end_report;
    filter_class->reset = reset;

    gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), Traits::long_name,
                                          "Filter/Effect/Video/Hardware", Traits::description,
                                          "The gst-cudascan developers");
    const std::string page = std::string(DOCUMENTATION "/docs/elements/") + Traits::name + ".md";
    gst_element_class_add_metadata(GST_ELEMENT_CLASS(klass), GST_ELEMENT_METADATA_DOC_URI,
                                   page.c_str());
  }
};

}  // namespace cudascan::gst

#define CUDASCAN_ELEMENT_DEFINE(name, Traits) \
  GST_ELEMENT_REGISTER_DEFINE(name, #name, GST_RANK_NONE, cudascan::gst::Element<Traits>::type())
