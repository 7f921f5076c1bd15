// SPDX-License-Identifier: LGPL-2.1-or-later
#include "filter.h"

#include <cstring>
#include <functional>
#include <sstream>
#include <stdexcept>

#include "emulator.h"

namespace cudascan::gswo::test {

namespace {

/// Has the memory layout of gswo::Plane.
struct Plane {
  void *data;
  long long pitch;
  int width, height, ox, oy;
  unsigned long long texture = 0;
};

std::size_t size_of(const std::string &type) {
  static const std::map<std::string, std::size_t> kSizes{
      {"unsigned char", 1}, {"unsigned short", 2}, {"short", 2},
      {"int", 4},           {"float", 4},          {"double", 8}};
  return kSizes.at(type);
}

/// The bytes of a number that is converted to the type.
std::vector<unsigned char> value_of(const std::string &type, double number) {
  std::vector<unsigned char> bytes(8);
  const auto put = [&](auto value) { std::memcpy(bytes.data(), &value, sizeof value); };
  if (type == "int")
    put(static_cast<int>(number));
  else if (type == "unsigned long")
    put(static_cast<unsigned long>(number));
  else if (type == "float")
    put(static_cast<float>(number));
  else if (type == "double")
    put(number);
  else
    throw std::runtime_error("no values of type " + type + " in these tests");
  return bytes;
}

}  // namespace

Filter::Filter(const Setup &setup) : pixel_(setup.pixel) {
  const std::string generated = folder_ / "filter.cu";
  std::vector<std::string> arguments{source(setup.source), "-o", generated};
  arguments.insert(arguments.end(), setup.options.begin(), setup.options.end());
  const Outcome outcome = translate(arguments);
  if (outcome.status) throw std::runtime_error(outcome.errors);
  text_ = read(generated);
  read_manifest();
  std::vector<std::string> options{"-std=c++20",
                                   "-ffp-contract=off",
                                   "-Wall",
                                   "-Wno-attributes",
                                   "-Wno-unknown-pragmas",
                                   "-Wno-unused-function",
                                   "-DGSWO_BORDER=" + std::to_string(setup.border),
                                   "-DGSWO_BORDER_VALUE=9",
                                   "-DGSWO_SRC_T=" + setup.pixel,
                                   "-I" GSWO_RUNTIME,
                                   "-I" GSWO_TESTS};
  if (setup.optimised)
    options.insert(options.end(),
                   {"-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math"});
  options.insert(options.end(), {"-x", "c++"});
  cpu_ = std::make_unique<Library>(generated, options, folder_);
  std::string wrapped = "#include \"cuda_emulation.h\"\n#include \"filter.cu\"\n";
  for (const Words &step : steps_)
    if (step[0] == "kernel" || step[0] == "copy") wrapped += "EMULATED(" + step[1] + ")\n";
  const std::string wrapper = folder_ / "emulated.cpp";
  write(wrapper, wrapped);
  options.insert(options.end() - 2, "-Wno-unused-variable");
  emulated_ = std::make_unique<Library>(wrapper, options, folder_);
}

void Filter::read_manifest() {
  std::istringstream lines(text_);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("//@gswo ", 0) != 0) continue;
    const auto colon = line.find(" : ");
    const std::string type = colon == std::string::npos ? "" : line.substr(colon + 3);
    std::istringstream text(line.substr(8, colon == std::string::npos ? colon : colon - 8));
    Words words;
    for (std::string word; text >> word;) words.push_back(word);
    if (words.at(0) == "manifest" && words.at(1) != "1")
      throw std::runtime_error("another version");
    if (words[0] == "image")
      images_[words.at(1)] = {words.at(2), type};
    else if (words[0] == "scalar")
      scalars_[words.at(1)] = {words.at(2), type, words.size() > 3 ? words[3] : ""};
    else if (words[0] != "manifest" && words[0] != "function" && words[0] != "constant" &&
             words[0] != "unused")
      steps_.push_back(words);
  }
}

Picture Filter::blank(const std::string &image, const Picture &like) const {
  const Image &i = images_.at(image);
  return Picture(like.width(), like.height(), size_of(i.place == "scratch" ? i.type : pixel_));
}

Picture Filter::run(Picture source, const std::map<std::string, double> &values,
                    bool emulated) const {
  std::map<std::string, Picture> buffers;
  std::map<std::string, double> turn_values;
  std::string result;
  for (const auto &[name, image] : images_) {
    buffers[name] = image.place == "source" ? source : blank(name, source);
    if (image.place == "destination") result = name;
  }
  const auto number = [&](const std::string &name) {
    const Scalar &s = scalars_.at(name);
    if (s.role == "turn") return turn_values.at(name);
    if (s.role == "height") return static_cast<double>(source.height());
    if (s.role == "width") return static_cast<double>(source.width());
    return values.count(name) ? values.at(name) : std::stod(s.value);
  };
  const auto plane = [&](const std::string &name, int oy, int ox) {
    Picture &p = buffers.at(name);
    return Plane{p.data(), static_cast<long long>(p.pitch()), p.width(), p.height(), ox, oy};
  };
  const auto launch = [&](const std::string &name, std::vector<void *> &arguments, int rows,
                          int columns, const int *block, const int *tile) {
    if (emulated) {
      const int blocks[] = {(columns + tile[0] - 1) / tile[0], (rows + tile[1] - 1) / tile[1], 1},
                threads[] = {block[0], block[1], 1};
      emulate(emulated_->handle(), emulated_->function<void(void **)>(name + "_emulated"),
              arguments.data(), blocks, threads);
      return;
    }
    auto *function = cpu_->function<void(void **, int, int, int)>(name);
    function(arguments.data(), rows / 2, rows, columns);
    function(arguments.data(), 0, rows / 2, columns);
  };
  const std::function<std::size_t(std::size_t)> from = [&](std::size_t k) {
    for (; k < steps_.size() && steps_[k][0] != "end" && steps_[k][0] != "done"; ++k) {
      const Words &step = steps_[k];
      if (step[0] == "kernel") {
        const auto integer = [&](std::size_t n) { return std::stoi(step.at(n)); };
        const int block[] = {integer(3), integer(4)}, tile[] = {integer(6), integer(7)};
        std::vector<Plane> planes;
        std::vector<std::vector<unsigned char>> scalars;
        planes.reserve(16);
        scalars.reserve(16);
        std::vector<void *> arguments;
        for (++k; steps_[k][0] != "launch"; ++k)
          if (steps_[k][0] == "value") {
            scalars.push_back(value_of(scalars_.at(steps_[k].at(1)).type, number(steps_[k][1])));
            arguments.push_back(scalars.back().data());
          } else {
            planes.push_back(plane(steps_[k].at(1), integer(9), integer(10)));
            arguments.push_back(&planes.back());
          }
        launch(step[1], arguments, source.height() + integer(12), source.width() + integer(13),
               block, tile);
      } else if (step[0] == "copy") {
        Plane planes[] = {plane(step.at(2), 0, 0), plane(step.at(3), 0, 0)};
        std::vector<void *> arguments{&planes[0], &planes[1]};
        const int block[] = {32, 8};
        launch(step[1], arguments, source.height(), source.width(), block, block);
      } else if (step[0] == "clear") {
        std::vector<unsigned char> &bytes = buffers.at(step.at(1)).bytes();
        bytes.assign(bytes.size(), 0);
      } else if (step[0] == "swap") {
        std::swap(buffers.at(step.at(1)), buffers.at(step.at(2)));
      } else if (step[0] == "repeat") {
        const bool turn = step.size() > 3;
        const int turns =
            std::stoi(step.at(1)) + (step.at(2) == "-" ? 0 : static_cast<int>(number(step[2])));
        for (int t = 0; t < turns; ++t) {
          if (turn) turn_values[step.at(4)] = std::stoi(step.at(5)) + t * std::stoi(step.at(6));
          from(k + 1);
        }
        std::size_t behind = k + 1;
        for (int depth = 1; depth; ++behind)
          depth += steps_.at(behind)[0] == "repeat" ? 1 : steps_[behind][0] == "end" ? -1 : 0;
        --behind;
        k = behind;
      } else {
        throw std::runtime_error("unknown step " + step[0]);
      }
    }
    return k;
  };
  from(0);
  return buffers.at(result);
}

}  // namespace cudascan::gswo::test
