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
///       // If it is not copied or, in black and white, neutral.
///       static Chroma chroma(const Params &);
///       static void fill(GstStructure *, const Params &, const Report &);
///       /// If setting a property implies the value of another: sets that, and returns its name
///       /// or null.
///       static const char *imply(Params &, const char *property);
///       /// Whether presets have a property; by default all but `algorithm`, which changes no
///       /// picture.
///       static bool in_presets(std::string_view property);
///     };
///
/// Operators that compile code have prepare(), take_warning() and code_of() beside run(): while new
/// settings are being compiled, the ones before are used. Their traits have, too,
///
///     static constexpr auto facts = std::tuple{CodeFact{...}, Fact{...}, ...};
///
/// and ends with CUDASCAN_ELEMENT_DEFINE(cudanick, Nick).
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>

#include "gst/gstcudascanfilter.h"
#include "gst/values.h"

namespace cudascan::gst {

/// A setting: a field of the params struct, which also knows the default; of a type that values.h
/// knows. GObject would clip a number to the range of its property, or ignore it, with no more than
/// a warning; so the range is that of the type, validate() of the operator refuses what makes no
/// sense, and the blurb names the limits.
template <typename Params, typename V>
struct Property {
  const char *name;
  const char *nick;
  const char *blurb;
  V Params::*field;
  /// What an unset std::optional stands for.
  double (*in_use)(const Params &) = nullptr;
};
template <typename Params, typename V, typename... More>
Property(const char *, const char *, const char *, V Params::*, More...) -> Property<Params, V>;

/// A read-only property that shows a field of the latest report and notifies when it changes. It is
/// brought up to date with every frame, but on the GPU, where that costs a wait for the result,
/// only while somebody listens to notify::name (or deep-notify of a bin around), once somebody has
/// read it, and while `report` is set.
template <typename Report, typename V>
struct Result {
  const char *name;
  const char *nick;
  const char *blurb;
  V Report::*field;
};
template <typename Report, typename V>
Result(const char *, const char *, const char *, V Report::*) -> Result<Report, V>;

/// The same for what is no plain number: a structure made from the report.
template <typename Report>
struct StructureResult {
  const char *name;
  const char *nick;
  const char *blurb;
  GstStructure *(*make)(const Report &);
};
template <typename Report>
StructureResult(const char *, const char *, const char *, GstStructure *(*)(const Report &))
    -> StructureResult<Report>;

/// A read-only text of the code in use, or if there is a message of compilers that is later, this
/// as the text that `is_log`.
template <typename Code>
struct CodeFact {
  const char *name;
  const char *nick;
  const char *blurb;
  std::string Code::*field;
  bool is_log;
};
template <typename Code, typename... More>
CodeFact(const char *, const char *, const char *, std::string Code::*, More...) -> CodeFact<Code>;

/// A read-only text that does not depend on the element.
struct Fact {
  const char *name;
  const char *nick;
  const char *blurb;
  std::string (*get)();
};

/// The value of a property as it is shown: an unset optional as what it stands for.
template <typename Params, typename V>
decltype(auto) shown(const Property<Params, V> &property, const Params &params) {
  if constexpr (std::is_same_v<V, std::optional<double>>)
    return (params.*property.field).value_or(property.in_use(params));
  else
    return (params.*property.field);
}

template <typename Traits>
class Element {
 public:
  static GType type() {
    static const GType type = make_type();
    return type;
  }

 private:
  using Params = typename Traits::Params;
  using Report = typename Traits::Report;

  template <typename T, typename = void>
  struct CodeOf {
    using type = std::monostate;
    static constexpr std::tuple<> facts{};
  };
  template <typename T>
  struct CodeOf<T, std::void_t<typename T::Code>> {
    using type = typename T::Code;
    static constexpr auto facts = T::facts;
  };
  using Code = typename CodeOf<Traits>::type;

  struct Own {
    Params params;                         // object lock
    std::map<guint, std::string> refused;  // object lock; why a property could not be set
    Report last_report;                    // object lock; what the result properties show
    std::shared_ptr<const Code> code;      // object lock; in use
    std::string message;                   // object lock; what compilers said since
    std::atomic<bool> result_was_read = false;
    std::atomic<bool> forget = true;  // before the next frame
    Params frame_params;              // of the streaming thread
    std::optional<Params> settled;    // of the streaming thread; those of the latest frame
    Report report;                    // of the streaming thread
  };
  struct Instance {
    GstCudaScanFilter parent;
    Own *own;
  };

  static constexpr guint kFirstProperty = GST_CUDA_SCAN_FILTER_FIRST_PROPERTY;
  static constexpr guint kFirstResult =
      kFirstProperty + std::tuple_size_v<decltype(Traits::properties)>;

  static constexpr guint kFirstFact = kFirstResult + std::tuple_size_v<decltype(Traits::results)>;
  static constexpr auto kFacts = CodeOf<Traits>::facts;

  static Own &own(gpointer instance) { return *static_cast<Instance *>(instance)->own; }

  /// Calls f with the entry number `id` of a table that begins at `first`.
  template <typename Table, typename F>
  static bool with_entry(const Table &table, guint first, guint id, F f) {
    return std::apply(
        [&](const auto &...entry) {
          guint i = first;
          return ((id == i++ ? (f(entry), true) : false) || ...);
        },
        table);
  }

  /// Sets a field, and those that it implies.
  struct Change {
    bool known = false;
    std::string refused;            // why it was not set
    const char *implied = nullptr;  // name of another property that was set
  };
  static Change change(Params &params, guint id, const GValue *value) {
    Change change;
    change.known = with_entry(Traits::properties, kFirstProperty, id, [&](const auto &p) {
      try {
        load(value, params.*p.field);
        if constexpr (requires { Traits::imply(params, p.name); })
          change.implied = Traits::imply(params, p.name);
      } catch (const BadSetting &e) {
        change.refused = std::string(p.name) + " = " + e.what();
      }
    });
    return change;
  }

  static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *pspec) {
    // Frames go on with the settings of before while kernels are loaded for the new ones.
    Params next = current_params(object);
    if (const Change first = change(next, id, value); first.known && first.refused.empty())
      load_kernels(reinterpret_cast<GstCudaScanFilter *>(object), next);
    GST_OBJECT_LOCK(object);
    Params &params = own(object).params;
    const bool before = Traits::black_and_white(params);
    const Change change = Element::change(params, id, value);
    own(object).refused.erase(id);
    if (!change.refused.empty()) own(object).refused[id] = change.refused;
    const bool after = Traits::black_and_white(params);
    GST_OBJECT_UNLOCK(object);
    if (!change.known) G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    if (change.implied) g_object_notify(object, change.implied);
    if (before != after)
      gst_cuda_scan_filter_settings_changed(reinterpret_cast<GstCudaScanFilter *>(object));
  }

  template <typename V>
  static void show(const Result<Report, V> &result, const Report &report, GValue *value) {
    store(value, report.*result.field);
  }
  static void show(const StructureResult<Report> &result, const Report &report, GValue *value) {
    g_value_take_boxed(value, result.make(report));
  }

  static std::string text_of(GObject *object, const CodeFact<Code> &fact) {
    GST_OBJECT_LOCK(object);
    const Own &o = own(object);
    const std::string text = fact.is_log && !o.message.empty() ? o.message
                             : o.code                          ? (*o.code).*fact.field
                                                               : std::string();
    GST_OBJECT_UNLOCK(object);
    return text;
  }
  // It may take its time, and frames wait for the lock.
  static std::string text_of(GObject *, const Fact &fact) { return fact.get(); }

  static void get_property(GObject *object, guint id, GValue *value, GParamSpec *pspec) {
    GST_OBJECT_LOCK(object);
    const bool found =
        with_entry(Traits::properties, kFirstProperty, id,
                   [&](const auto &p) { store(value, shown(p, own(object).params)); }) ||
        with_entry(Traits::results, kFirstResult, id, [&](const auto &r) {
          own(object).result_was_read = true;
          show(r, own(object).last_report, value);
        });
    GST_OBJECT_UNLOCK(object);
    if (!found && !with_entry(kFacts, kFirstFact, id,
                              [&](const auto &fact) { store(value, text_of(object, fact)); }))
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
    own(self).settled.reset();
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

  static bool black_and_white(GstCudaScanFilter *self) {
    return Traits::black_and_white(current_params(self));
  }

  static Chroma begin_frame(GstCudaScanFilter *self) {
    check_refused(self);
    const Params &params = own(self).frame_params = current_params(self);
    if constexpr (requires { Traits::chroma(params); })
      return Traits::chroma(params);
    else
      return Traits::black_and_white(params) ? Chroma::neutral : Chroma::copied;
  }

  /// Whether a handler waits for notify::name of `self` or for deep-notify::name of a bin around
  /// it.
  static bool is_watched(GstCudaScanFilter *self, const char *name) {
    static const guint notify = g_signal_lookup("notify", G_TYPE_OBJECT);
    static const guint deep_notify = g_signal_lookup("deep-notify", GST_TYPE_OBJECT);
    const GQuark detail = g_quark_from_static_string(name);
    bool watched = g_signal_has_handler_pending(self, notify, detail, FALSE);
    GstObject *object = gst_object_get_parent(GST_OBJECT(self));
    while (object) {
      watched = watched || g_signal_has_handler_pending(object, deep_notify, detail, FALSE);
      GstObject *parent = watched ? nullptr : gst_object_get_parent(object);
      gst_object_unref(object);
      object = parent;
    }
    return watched;
  }

  static bool wants_report(GstCudaScanFilter *self, bool on_cpu) {
    return std::apply(
        [&](const auto &...result) {
          return sizeof...(result) > 0 && (on_cpu || own(self).result_was_read ||
                                           (is_watched(self, result.name) || ... || false));
        },
        Traits::results);
  }

  /// Goes back to the settings of the frame before as long as the present ones are being compiled;
  /// waits for these if that cannot be.
  template <typename Exec, typename T>
  static void await_code(GstCudaScanFilter *self, Exec &exec, Plane<const T> in) {
    Own &o = own(self);
    const auto is_ready = [&](const Params &params) {
      return prepare(exec, sizeof(T), in.maximum, params);
    };
    if (is_ready(o.frame_params)) return;
    if (o.settled &&
        Traits::black_and_white(*o.settled) == Traits::black_and_white(o.frame_params) &&
        is_ready(*o.settled)) {
      o.frame_params = *o.settled;
      return;
    }
    constexpr gulong kBetweenLooks = 2000;  // microseconds
    do {
      if (gst_cuda_scan_filter_is_interrupted(self)) throw Interrupted();
      g_usleep(kBetweenLooks);
    } while (!is_ready(o.frame_params));
  }

  /// Has the facts tell of the code in use, and of what was said since.
  static void tell(GstCudaScanFilter *self, std::shared_ptr<const Code> code,
                   const std::string &message) {
    Own &o = own(self);
    GST_OBJECT_LOCK(self);
    const bool changed = o.code != code || o.message != message;
    o.code = std::move(code);
    o.message = message;
    GST_OBJECT_UNLOCK(self);
    if (!changed) return;
    const auto notify = [&](const auto &fact) {
      if constexpr (!std::is_same_v<decltype(fact), const Fact &>)
        g_object_notify(G_OBJECT(self), fact.name);
    };
    std::apply([&](const auto &...fact) { (notify(fact), ...); }, kFacts);
  }

  /// run() of an operator that compiles.
  template <typename Exec, typename Run>
  static void run_code(GstCudaScanFilter *self, Exec &exec, Run run) {
    Own &o = own(self);
    try {
      run();
    } catch (const Error &e) {
      tell(self, code_of(exec), e.what());
      throw;
    }
    if (o.settled != o.frame_params) o.settled = o.frame_params;
    const std::string warning = take_warning(exec);
    if (const auto code = code_of(exec); code != o.code || !warning.empty())
      tell(self, code, warning);
    if (!warning.empty())
      GST_ELEMENT_WARNING(self, RESOURCE, SETTINGS, ("%s", warning.c_str()), (nullptr));
  }

  template <typename Exec>
  static void run_on(GstCudaScanFilter *self, Exec &exec, const Luma &luma, bool with_report) {
    Own &o = own(self);
    if (o.forget.exchange(false)) exec.forget();
    std::visit(
        [&](const auto &in, const auto &out) {
          constexpr bool compiles = requires {
            prepare(exec, 1, in.maximum, o.frame_params);
          };
          const auto run_it = [&] {
            if constexpr (requires { run(exec, in, out, o.frame_params, &o.report); })
              run(exec, in, out, o.frame_params, with_report ? &o.report : nullptr);
            else
              throw Error("the element cannot turn 8-bit input into 16-bit output");
          };
          if constexpr (compiles) {
            await_code(self, exec, in);
            run_code(self, exec, run_it);
          } else {
            run_it();
          }
        },
        luma.in, luma.out);
  }

  template <typename V>
  static bool differ(const Result<Report, V> &result, const Report &a, const Report &b) {
    return !(a.*result.field == b.*result.field);
  }
  static bool differ(const StructureResult<Report> &result, const Report &a, const Report &b) {
    g_autoptr(GstStructure) x = result.make(a), y = result.make(b);
    return !gst_structure_is_equal(x, y);
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
    const GInterfaceInfo presets{[](gpointer data, gpointer) {
                                   auto *interface = static_cast<GstPresetInterface *>(data);
                                   interface->get_property_names = preset_properties;
                                   load_preset_of_gstreamer = interface->load_preset;
                                   interface->load_preset = load_preset;
                                 },
                                 nullptr, nullptr};
    g_type_add_interface_static(type, GST_TYPE_PRESET, &presets);
    return type;
  }

  static inline decltype(GstPresetInterface::load_preset) load_preset_of_gstreamer = nullptr;

  /// GStreamer's own of 1.22 leaves in texts the backslashes that it saves them with. No text of
  /// ours has any.
  static gboolean load_preset(GstPreset *preset, const gchar *name) {
    if (!load_preset_of_gstreamer(preset, name)) return FALSE;
    g_auto(GStrv) properties = preset_properties(preset);
    for (gchar **property = properties; *property; ++property) {
      GObjectClass *klass = G_OBJECT_GET_CLASS(preset);
      if (g_object_class_find_property(klass, *property)->value_type != G_TYPE_STRING) continue;
      g_autofree gchar *text = nullptr;
      g_object_get(preset, *property, &text, nullptr);
      g_autofree gchar *plain = text ? g_strcompress(text) : nullptr;
      if (g_strcmp0(text, plain) != 0) g_object_set(preset, *property, plain, nullptr);
    }
    return TRUE;
  }

  /// The settings that make the picture; not those of the base class, which belong to a machine and
  /// to an application.
  static gchar **preset_properties(GstPreset *) {
    GPtrArray *names = g_ptr_array_new();
    const auto add = [&](const char *name) {
      bool in_presets = name != std::string_view("algorithm");
      if constexpr (requires { Traits::in_presets(name); })
        in_presets = in_presets && Traits::in_presets(name);
      if (in_presets) g_ptr_array_add(names, g_strdup(name));
    };
    std::apply([&](const auto &...p) { (add(p.name), ...); }, Traits::properties);
    g_ptr_array_add(names, nullptr);
    return reinterpret_cast<gchar **>(g_ptr_array_free(names, FALSE));
  }

  static void instance_init(GTypeInstance *instance, gpointer) {
    reinterpret_cast<Instance *>(instance)->own = new Own();
  }
  static void finalize(GObject *object) {
    delete reinterpret_cast<Instance *>(object)->own;
    G_OBJECT_CLASS(g_type_class_peek(GST_TYPE_CUDA_SCAN_FILTER))->finalize(object);
  }

  template <typename P>
  static void install(GObjectClass *klass, guint id, const P &p) {
    constexpr auto kFlags =
        static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                 GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE);
    g_object_class_install_property(klass, id,
                                    make_spec(p.name, p.nick, p.blurb, shown(p, Params{}), kFlags));
  }
  static constexpr auto kReadable =
      static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  template <typename V>
  static void install(GObjectClass *klass, guint id, const Result<Report, V> &r) {
    g_object_class_install_property(
        klass, id, make_spec(r.name, r.nick, r.blurb, Report{}.*r.field, kReadable));
  }
  static void install(GObjectClass *klass, guint id, const StructureResult<Report> &r) {
    g_object_class_install_property(
        klass, id, g_param_spec_boxed(r.name, r.nick, r.blurb, GST_TYPE_STRUCTURE, kReadable));
  }

  template <typename F>
  static void install_fact(GObjectClass *klass, guint id, const F &fact) {
    g_object_class_install_property(
        klass, id, make_spec(fact.name, fact.nick, fact.blurb, std::string(), kReadable));
  }

  static void class_init(gpointer klass, gpointer) {
    auto object_class = static_cast<GObjectClass *>(klass);
    object_class->set_property = set_property;
    object_class->get_property = get_property;
    object_class->finalize = finalize;
    std::apply(
        [&](const auto &...p) {
          guint id = kFirstProperty;
          (install(object_class, id++, p), ...);
        },
        std::tuple_cat(Traits::properties, Traits::results));
    std::apply(
        [&](const auto &...fact) {
          [[maybe_unused]] guint id = kFirstFact;
          (install_fact(object_class, id++, fact), ...);
        },
        kFacts);

    auto filter_class = static_cast<GstCudaScanFilterClass *>(klass);
    filter_class->category = _gst_debug_category_new(Traits::name, 0, Traits::long_name);
    filter_class->report_name = Traits::name;
    filter_class->validate = check;
    filter_class->black_and_white = black_and_white;
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
  }
};

}  // namespace cudascan::gst

#define CUDASCAN_ELEMENT_DEFINE(name, Traits) \
  GST_ELEMENT_REGISTER_DEFINE(name, #name, GST_RANK_NONE, cudascan::gst::Element<Traits>::type())
