// SPDX-License-Identifier: LGPL-2.1-or-later
// libcudascan on several GPUs: prints Otsu's threshold of gray images. The images are shared out
// over all GPUs of the machine; without a GPU the CPU does the work.
//
//     devices-example IN.pgm...
#include "kernels/devices.h"

#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "kernels/autothreshold.h"

using namespace cudascan;

namespace {

struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> in, out;
};

Picture read(const std::string &name) {
  Picture picture;
  std::ifstream file(name, std::ios::binary);
  std::string magic;
  int maximum = 0;
  file >> magic >> picture.width >> picture.height >> maximum;  // binary, 8 bit, without comments
  if (!file || magic != "P5" || maximum != 255 || picture.width < 1 || picture.height < 1)
    throw Error(name + ": not a binary 8-bit PGM");
  picture.in.resize(std::size_t{1} * picture.width * picture.height);
  picture.out.resize(picture.in.size());
  const auto bytes = static_cast<std::streamsize>(picture.in.size());
  if (!file.ignore().read(reinterpret_cast<char *>(picture.in.data()), bytes))
    throw Error(name + ": ends too early");
  return picture;
}

}  // namespace

int main(int argc, char **argv) try {
  if (argc < 2) throw Error("usage: devices-example IN.pgm...");
  std::vector<Picture> pictures;
  for (int i = 1; i < argc; ++i) pictures.push_back(read(argv[i]));
  std::vector<Plane<const std::uint8_t>> frames;
  std::vector<Plane<std::uint8_t>> results;
  for (Picture &p : pictures) {
    frames.push_back({p.in.data(), p.width, p.height, p.width});
    results.push_back({p.out.data(), p.width, p.height, p.width});
  }
  const AutothresholdParams params;
  std::vector<AutothresholdReport> reports(frames.size());
  if (Cuda::available()) {
    Devices devices;  // all GPUs; keeps their memory: make one, use it for all frames
    run(devices, frames, results, params, &reports);
  } else {
    Cpu cpu;
    for (std::size_t i = 0; i < frames.size(); ++i)
      run(cpu, frames[i], results[i], params, &reports[i]);
  }
  for (std::size_t i = 0; i < frames.size(); ++i)
    std::cout << argv[1 + i] << ": " << reports[i].threshold << '\n';
} catch (const Error &error) {
  std::cerr << error.what() << '\n';
  return 1;
}
