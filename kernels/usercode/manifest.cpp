// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/manifest.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <string_view>

#include "kernels/base/refuse.h"

namespace cudascan::gswo {
namespace {

constexpr std::string_view kMark = "//@gswo";
constexpr int kMostTurns = 1 << 20;
constexpr int kMostThreads = 1024;
constexpr int kMostIndex = 1 << 28;

/// A line of the manifest, read word by word.
class ManifestLine {
 public:
  ManifestLine(const std::string &path, int number, const std::string &text)
      : path_(path), number_(number), words_(text) {}

  [[noreturn]] void bad(const std::string &why) const {
    refuse(path_, ":", number_, ": error: ", why,
           "; lines with //@gswo are written by gswo-cc, translate the source again");
  }

  const std::string &path() const { return path_; }

  /// The next word; "" at the end.
  std::string word() {
    std::string word;
    words_ >> word;
    return word;
  }
  /// The next word, which is required.
  std::string name(const char *of) {
    const std::string name = word();
    if (name.empty()) bad(std::string("the name of a ") + of + " is missing");
    return name;
  }
  void expect(const char *word) {
    if (this->word() != word) bad(std::string("'") + word + "' is missing");
  }
  int integer() {
    const std::string text = word();
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      bad("'" + text + "' is not a whole number");
    return value;
  }
  int integer_from(int least, int most) {
    const int value = integer();
    if (value < least || value > most)
      bad(std::to_string(value) + " is not in the range " + std::to_string(least) + " to " +
          std::to_string(most));
    return value;
  }
  /// The text after " : ".
  std::string type() {
    std::string rest;
    std::getline(words_, rest);
    const auto colon = rest.find(": ");
    const std::string type = colon == std::string::npos ? "" : rest.substr(colon + 2);
    if (size_of_type(type) == 0) bad("'" + type + "' is not an arithmetic type");
    return type;
  }
  double number() {
    const std::string text = word();
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
      bad("'" + text + "' is not a number");
    return value;
  }
  /// A number, if there is one before the colon.
  std::optional<double> number_before_colon() {
    const auto at = words_.tellg();
    const bool none = word() == ":";
    words_.seekg(at);
    return none ? std::nullopt : std::optional(number());
  }
  void end() {
    if (const std::string more = word(); !more.empty()) bad("'" + more + "' is too much");
  }

 private:
  const std::string &path_;
  int number_;
  std::istringstream words_;
};

template <typename Named>
int find(ManifestLine &line, const std::vector<Named> &all, const std::string &name) {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].name == name) return static_cast<int>(i);
  line.bad("'" + name + "' is not declared above");
}

class Parser {
 public:
  void line(ManifestLine &line) {
    const std::string word = line.word();
    if (kernel_)
      argument(line, word);
    else if (word == "function")
      begin(line);
    else if (functions_.empty() || done_)
      line.bad("'" + word + "' is outside of a function");
    else if (word == "scalar")
      scalar(line);
    else if (word == "image")
      image(line);
    else if (word == "kernel")
      kernel(line);
    else if (word == "copy")
      copy(line);
    else if (word == "clear")
      function().steps.push_back(step::Clear{image_of(line)});
    else if (word == "swap")
      swap(line);
    else if (word == "repeat")
      repeat(line);
    else if (word == "end")
      end(line);
    else if (word == "done")
      done(line);
    else if (word == "constant")
      constant(line);
    else if (word == "unused")
      function().unused.push_back(line.name("parameter"));
    else
      line.bad("'" + word + "' is not known");
    if (word != "scalar" && word != "image") line.end();
  }
  std::vector<ManifestFunction> take(ManifestLine &last) {
    if (!done_) last.bad("the manifest ends within a function");
    return std::move(functions_);
  }

 private:
  ManifestFunction &function() { return functions_.back(); }
  int image_of(ManifestLine &line) { return find(line, function().images, line.word()); }

  void begin(ManifestLine &line) {
    if (!functions_.empty() && !done_) line.bad("the previous function has no 'done'");
    functions_.push_back({line.name("function"), {}, {}, {}, {}, {}});
    done_ = false;
  }
  void constant(ManifestLine &line) {
    const std::string name = line.name("constant");
    function().constants.push_back({name, line.number()});
  }
  void scalar(ManifestLine &line) {
    using Role = ManifestScalar::Role;
    ManifestScalar scalar{line.word(), Role::value, {}, {}};
    const std::string role = line.word();
    if (role == "height")
      scalar.role = Role::height;
    else if (role == "width")
      scalar.role = Role::width;
    else if (role == "turn")
      scalar.role = Role::turn;
    else if (role != "value")
      line.bad("'" + role + "' is not a role of a scalar");
    scalar.otherwise = line.number_before_colon();
    scalar.type = line.type();
    function().scalars.push_back(scalar);
  }
  void image(ManifestLine &line) {
    using Place = ManifestImage::Place;
    ManifestImage image{line.word(), Place::source, {}};
    const std::string place = line.word();
    if (place == "destination")
      image.place = Place::destination;
    else if (place == "scratch")
      image.place = Place::scratch;
    else if (place == "other")
      refuse(line.path(), ": error: '", image.name, "' is a second input of ", function().name,
             ", but there is only one frame; write it in an earlier kernel, or read one image");
    else if (place != "source")
      line.bad("unknown image location '" + place + "'");
    image.type = line.type();
    function().images.push_back(image);
  }
  void kernel(ManifestLine &line) {
    step::Kernel kernel{};
    kernel.name = line.word();
    line.expect("block");
    for (int &threads : kernel.block) threads = line.integer_from(1, kMostThreads);
    if (kernel.block[0] * kernel.block[1] > kMostThreads) line.bad("a block is too large");
    line.expect("tile");
    for (int &pixels : kernel.tile) pixels = line.integer_from(1, 1 << 15);
    line.expect("origin");
    for (int &index : kernel.origin) index = line.integer_from(-kMostIndex, kMostIndex);
    line.expect("lead");
    for (int &index : kernel.lead) index = line.integer_from(-(1 << 15), 1 << 15);
    line.expect("shared");
    line.integer();
    kernel_ = kernel;
  }
  void argument(ManifestLine &line, const std::string &word) {
    if (word == "launch") {
      function().steps.push_back(*kernel_);
      kernel_.reset();
    } else if (word == "value") {
      kernel_->arguments.push_back({false, find(line, function().scalars, line.word())});
    } else if (word == "read" || word == "write") {
      kernel_->arguments.push_back({true, image_of(line), word == "read"});
      for (int i = 0; word == "read" && i < 4; ++i) line.integer();
      if (word == "read")
        if (const std::string more = line.word(); !more.empty() && more != "unbounded")
          line.bad("'" + more + "' is too much");
    } else {
      line.bad("'" + word + "' is not an argument of a kernel");
    }
  }
  void copy(ManifestLine &line) {
    step::Kernel kernel{line.word(), {32, 8}, {32, 8}, {0, 0}, {0, 0}, {}};
    for (const bool is_read : {true, false})
      kernel.arguments.push_back({true, image_of(line), is_read});
    function().steps.push_back(kernel);
  }
  void swap(ManifestLine &line) {
    const int first = image_of(line);
    function().steps.push_back(step::Swap{first, image_of(line)});
  }
  void repeat(ManifestLine &line) {
    step::Repeat repeat{line.integer_from(-kMostTurns, kMostTurns), -1, -1, 0, 0, 0};
    if (const std::string scalar = line.word(); scalar != "-")
      repeat.scalar = find(line, function().scalars, scalar);
    if (const std::string turn = line.word(); turn == "turn") {
      repeat.turn = find(line, function().scalars, line.word());
      repeat.first = line.integer();
      repeat.difference = line.integer();
    } else if (!turn.empty()) {
      line.bad("'" + turn + "' is too much");
    }
    open_.push_back(function().steps.size());
    function().steps.push_back(repeat);
  }
  void end(ManifestLine &line) {
    if (open_.empty()) line.bad("there is no repeat to end");
    std::get<step::Repeat>(function().steps[open_.back()]).end = function().steps.size();
    open_.pop_back();
  }
  void done(ManifestLine &line) {
    if (!open_.empty()) line.bad("a repeat has no end");
    const auto count = [&](ManifestImage::Place place) {
      return std::count_if(function().images.begin(), function().images.end(),
                           [&](const ManifestImage &image) { return image.place == place; });
    };
    if (count(ManifestImage::Place::source) > 1 || count(ManifestImage::Place::destination) != 1)
      line.bad("a filter has one input and one output");
    done_ = true;
  }

  std::vector<ManifestFunction> functions_;
  std::optional<step::Kernel> kernel_;  // being read
  std::vector<std::size_t> open_;       // repeats
  bool done_ = false;
};

/// Calls f with a value of the type; whether there is such a type.
template <typename F>
bool with_type(const std::string &type, F f) {
  const auto is = [&](const char *name, auto value) {
    if (type != name) return false;
    f(value);
    return true;
  };
  return is("bool", false) || is("char", char{}) ||
         is("signed char", static_cast<signed char>(0)) ||
         is("unsigned char", static_cast<unsigned char>(0)) || is("short", short{}) ||
         is("unsigned short", static_cast<unsigned short>(0)) || is("int", 0) ||
         is("unsigned int", 0u) || is("long", 0l) || is("unsigned long", 0ul) ||
         is("long long", 0ll) || is("unsigned long long", 0ull) || is("float", 0.0f) ||
         is("double", 0.0);
}

}  // namespace

bool has_manifest(const std::string &text) {
  const std::string mark = std::string(kMark) + ' ';
  return text.starts_with(mark) || text.find('\n' + mark) != std::string::npos;
}

std::vector<ManifestFunction> parse_manifest(const std::string &path, const std::string &text) {
  std::istringstream lines(text);
  Parser parser;
  bool versioned = false;
  int number = 0;
  for (std::string text_line; std::getline(lines, text_line);) {
    ++number;
    if (!text_line.starts_with(kMark)) continue;
    if (text_line.back() == '\r') text_line.pop_back();
    ManifestLine line(path, number, text_line.substr(kMark.size()));
    if (!versioned) {
      line.expect("manifest");
      if (const int version = line.integer(); version != 1)
        line.bad("version " + std::to_string(version) + " is not supported, only version 1");
      line.end();
      versioned = true;
      continue;
    }
    parser.line(line);
  }
  ManifestLine last(path, number, "");
  return parser.take(last);
}

int size_of_type(const std::string &type) {
  int size = 0;
  with_type(type, [&](auto value) { size = sizeof(value); });
  return size;
}

std::string range_missed(const std::string &type, std::int64_t number) {
  std::string range;
  with_type(type, [&](auto value) {
    using T = decltype(value);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      using Limits = std::numeric_limits<T>;
      const bool holds =
          number < 0
              ? std::is_signed_v<T> && number >= static_cast<std::int64_t>(Limits::min())
              : static_cast<std::uint64_t>(number) <= static_cast<std::uint64_t>(Limits::max());
      if (!holds) range = std::to_string(Limits::min()) + " to " + std::to_string(Limits::max());
    }
  });
  return range;
}

std::array<unsigned char, 8> value_of_type(const std::string &type, double number) {
  std::array<unsigned char, 8> bytes{};
  with_type(type, [&](auto value) {
    using T = decltype(value);
    if constexpr (std::is_same_v<T, bool>) {
      value = number != 0;
    } else if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      const double least = static_cast<double>(Limits::min()),
                   most = static_cast<double>(Limits::max());
      value = !(number > least) ? Limits::min()
              : number >= most  ? Limits::max()
                                : static_cast<T>(number);
    } else {
      value = static_cast<T>(number);
    }
    std::memcpy(bytes.data(), &value, sizeof(value));
  });
  return bytes;
}

}  // namespace cudascan::gswo
