// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The options of an open SANE device: what there is, what is allowed, reading and setting.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace cudascan::scan {

/// The numbers that an option allows.
struct Allowed {
  double least = 0, most = 0;
  std::vector<double> list;  ///< in ascending order; empty = all numbers from least to most

  /// The allowed number that is nearest to this one, by their ratio.
  double nearest(double number) const;
  /// "75, 150, 300", or "1 to 1200".
  std::string text() const;
};

/// The shortest text of a number: "300", "215.9".
std::string text_of(double number);

/// Only options that are active count, as the device says at the time of the call: setting one
/// may activate others and change what they allow.
class SaneOptions {
 public:
  /// @param handle  of SANE
  explicit SaneOptions(void *handle = nullptr) : handle_(handle) {}

  bool has(const std::string &name) const;
  /// Whether the option is yes or no.
  bool is_switch(const std::string &name) const;
  /// Whether the number is one of pixels. Lengths are in millimetres otherwise.
  bool is_in_pixels(const std::string &name) const;
  /// The texts that the option allows, none for other options.
  std::vector<std::string> choices(const std::string &name) const;
  /// @return nothing if there is no such option, or if it allows any number
  std::optional<Allowed> allowed(const std::string &name) const;

  /// The value of a number, 0 if there is no such option.
  double number(const std::string &name) const;
  /// The value of a text, "" if there is no such option.
  std::string text(const std::string &name) const;

  /// @throws Error with a sentence without the name of the option
  void set(const std::string &name, const std::string &value) const;
  void set(const std::string &name, double value) const { set(name, text_of(value)); }

 private:
  void *handle_;
};

}  // namespace cudascan::scan
