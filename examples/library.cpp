// SPDX-License-Identifier: LGPL-2.1-or-later
// libcudascan without GStreamer: binarizes a gray image, on the GPU if there is one.
//
//     library-example IN.pgm OUT.pgm
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "kernels/binarize.h"

using namespace cudascan;

int main(int argc, char **argv) try {
  if (argc != 3) throw Error("usage: library-example IN.pgm OUT.pgm");
  std::ifstream file(argv[1], std::ios::binary);
  std::string magic;
  int width = 0, height = 0, maximum = 0;
  file >> magic >> width >> height >> maximum;  // binary, 8 bit, without comments
  if (!file || magic != "P5" || maximum != 255 || width < 1 || height < 1)
    throw Error(std::string(argv[1]) + ": not a binary 8-bit PGM");
  std::vector<std::uint8_t> in(std::size_t{1} * width * height), out(in.size());
  const auto bytes = static_cast<std::streamsize>(in.size());
  if (!file.ignore().read(reinterpret_cast<char *>(in.data()), bytes))
    throw Error(std::string(argv[1]) + ": ends too early");

  const BinarizeParams params;  // nothing has to be set
  BinarizeReport report;
  if (Cuda::available()) {
    cuda::DeviceBuffer in_buffer(in.size()), out_buffer(out.size());
    const Plane<const std::uint8_t> from{static_cast<std::uint8_t *>(in_buffer.data()), width,
                                         height, width};
    const Plane<std::uint8_t> to{static_cast<std::uint8_t *>(out_buffer.data()), width, height,
                                 width};
    cuda::Stream stream;
    Cuda gpu(stream.get());  // keeps its scratch memory: make one, use it for all frames
    cuda::copy_rows(in_buffer.data(), width, in.data(), width, width, height, gpu.stream());
    run(gpu, from, to, params, &report);  // only queues the work
    cuda::copy_rows(out.data(), width, to.data, width, width, height, gpu.stream());
    gpu.synchronize();
  } else {
    Cpu cpu;  // all cores
    const Plane<const std::uint8_t> from{in.data(), width, height, width};
    run(cpu, from, Plane<std::uint8_t>{out.data(), width, height, width}, params, &report);
  }
  std::cout << 100 * report.ink_ratio << " % ink\n";

  std::ofstream result(argv[2], std::ios::binary);
  result << "P5\n" << width << " " << height << "\n255\n";
  if (!result.write(reinterpret_cast<const char *>(out.data()), bytes).flush())
    throw Error(std::string(argv[2]) + ": cannot be written");
} catch (const Error &error) {
  std::cerr << error.what() << '\n';
  return 1;
}
