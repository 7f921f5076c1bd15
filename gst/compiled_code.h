// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Elements whose operator compiles code. Next to run(), such an operator has prepare(),
/// take_warning() and code_of(): while new settings are being compiled, the ones before are used.
/// The traits of the element have, too,
///
///     using Code = UserFilterCode;  // what code_of() tells
///     static constexpr auto facts = std::tuple{CodeFact{...}, Fact{...}, ...};
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "gst/gstcudascanfilter.h"
#include "gst/properties.h"

namespace cudascan::gst {

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

/// What an element has for the code of its operator: nothing, if the operator compiles none.
template <typename Traits, typename = void>
class CompiledCode {
 public:
  void start() {}
  bool show(GObject *, guint, GValue *) const { return false; }
  template <typename F>
  static void for_each_spec(F) {}
  template <typename Exec, typename Plane, typename Params, typename Run>
  void run(GstCudaScanFilter *, Exec &, Plane, Params &, Run run) {
    run();
  }
};

template <typename Traits>
class CompiledCode<Traits, std::void_t<typename Traits::Code>> {
 public:
  using Params = typename Traits::Params;
  using Code = typename Traits::Code;

  /// At the start of a stream.
  void start() { settled_.reset(); }

  /// Runs a frame.
  /// @param params  of the frame, which run() takes; replaced by those of the frame before as long
  ///                as they are being compiled
  template <typename Exec, typename T, typename Run>
  void run(GstCudaScanFilter *self, Exec &exec, Plane<const T> in, Params &params, Run run) {
    await(self, exec, in, params);
    try {
      run();
    } catch (const Error &e) {
      tell(self, code_of(exec), e.what());
      throw;
    }
    if (settled_ != params) settled_ = params;
    const std::string warning = take_warning(exec);
    if (const auto code = code_of(exec); code != code_ || !warning.empty())
      tell(self, code, warning);
    if (!warning.empty())
      GST_ELEMENT_WARNING(self, RESOURCE, SETTINGS, ("%s", warning.c_str()), (nullptr));
  }

  /// Shows the fact of this number in the table.
  /// @return whether there is one
  bool show(GObject *object, guint number, GValue *value) const {
    return with_entry(Traits::facts, 0, number,
                      [&](const auto &fact) { store(value, text_of(object, fact)); });
  }
  /// Calls f with what GObject is told of each fact.
  template <typename F>
  static void for_each_spec(F f) {
    std::apply(
        [&](const auto &...fact) {
          (f(make_spec({fact.name, fact.nick, fact.blurb}, std::string(), kReadable)), ...);
        },
        Traits::facts);
  }

 private:
  std::string text_of(GObject *object, const CodeFact<Code> &fact) const {
    GST_OBJECT_LOCK(object);
    const std::string text = fact.is_log && !message_.empty() ? message_
                             : code_                          ? (*code_).*fact.field
                                                              : std::string();
    GST_OBJECT_UNLOCK(object);
    return text;
  }
  // It may take its time, and frames wait for the lock.
  std::string text_of(GObject *, const Fact &fact) const { return fact.get(); }

  /// Goes back to the settings of the frame before as long as the present ones are being compiled;
  /// waits for these if that cannot be.
  template <typename Exec, typename T>
  void await(GstCudaScanFilter *self, Exec &exec, Plane<const T> in, Params &params) {
    const auto is_ready = [&](const Params &p) { return prepare(exec, sizeof(T), in.maximum, p); };
    if (is_ready(params)) return;
    if (settled_ && Traits::black_and_white(*settled_) == Traits::black_and_white(params) &&
        is_ready(*settled_)) {
      params = *settled_;
      return;
    }
    constexpr gulong kBetweenLooks = 2000;  // microseconds
    do {
      if (gst_cuda_scan_filter_is_interrupted(self)) throw Interrupted();
      g_usleep(kBetweenLooks);
    } while (!is_ready(params));
  }

  /// Has the facts tell of the code in use, and of what was said since.
  void tell(GstCudaScanFilter *self, std::shared_ptr<const Code> code, const std::string &message) {
    GST_OBJECT_LOCK(self);
    const bool changed = code_ != code || message_ != message;
    code_ = std::move(code);
    message_ = message;
    GST_OBJECT_UNLOCK(self);
    if (!changed) return;
    const auto notify = [&](const auto &fact) {
      if constexpr (!std::is_same_v<decltype(fact), const Fact &>)
        g_object_notify(G_OBJECT(self), fact.name);
    };
    std::apply([&](const auto &...fact) { (notify(fact), ...); }, Traits::facts);
  }

  std::shared_ptr<const Code> code_;  // object lock; in use
  std::string message_;               // object lock; what compilers said since
  std::optional<Params> settled_;     // of the streaming thread; those of the latest frame
};

}  // namespace cudascan::gst
