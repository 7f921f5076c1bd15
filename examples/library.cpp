// SPDX-License-Identifier: LGPL-2.1-or-later
// libcudascan without GStreamer: binarizes a gray image, on the GPU where there is one.
//
//     library-example IN.pgm OUT.pgm
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "kernels/nick.h"

using cudascan::Plane;

namespace {

struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;

  template <typename T>
  Plane<T> plane() {
    return {pixels.data(), width, height, width};
  }
};

/// Binary PGM of 8 bit, without comments.
Image read_pgm(const char *path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  Image image;
  int maximum = 0;
  file >> magic >> image.width >> image.height >> maximum;
  if (!file || magic != "P5" || maximum != 255 || image.width < 1 || image.height < 1)
    throw cudascan::Error(std::string(path) + ": not a binary 8-bit PGM");
  file.get();
  image.pixels.resize(std::size_t{1} * image.width * image.height);
  file.read(reinterpret_cast<char *>(image.pixels.data()),
            static_cast<std::streamsize>(image.pixels.size()));
  if (!file) throw cudascan::Error(std::string(path) + ": ends too early");
  return image;
}

void write_pgm(const char *path, const Image &image) {
  std::ofstream file(path, std::ios::binary);
  file << "P5\n" << image.width << " " << image.height << "\n255\n";
  file.write(reinterpret_cast<const char *>(image.pixels.data()),
             static_cast<std::streamsize>(image.pixels.size()));
  if (!file.flush()) throw cudascan::Error(std::string(path) + ": cannot be written");
}

/// A plane in device memory, rows without a gap between them.
Plane<std::uint8_t> allocate(cudascan::cuda::DeviceBuffer &buffer, const Image &image) {
  void *data = buffer.reserve(image.pixels.size());
  return {static_cast<std::uint8_t *>(data), image.width, image.height, image.width};
}

void binarize_on_gpu(Image &in, Image &out, const cudascan::NickParams &params,
                     cudascan::NickReport &report) {
  cudascan::cuda::DeviceBuffer in_buffer, out_buffer;
  const auto from = allocate(in_buffer, in), to = allocate(out_buffer, out);
  cudascan::cuda::Stream stream;
  cudascan::Cuda cuda(stream.get());  // keeps its scratch memory: make one, use it for all frames
  cudascan::cuda::copy_rows(from.data, from.stride, in.pixels.data(), in.width, in.width, in.height,
                            cuda.stream());
  cudascan::run(cuda, from, to, params, &report);  // only queues the work
  cudascan::cuda::copy_rows(out.pixels.data(), out.width, to.data, to.stride, out.width, out.height,
                            cuda.stream());
  cuda.synchronize();
}

void binarize(Image &in, Image &out) {
  const cudascan::NickParams params{.method = cudascan::NickMethod::nick, .window = 45};
  cudascan::NickReport report;
  if (cudascan::Cuda::available()) {
    binarize_on_gpu(in, out, params, report);
  } else {
    cudascan::Cpu cpu;  // all cores
    cudascan::run(cpu, in.plane<const std::uint8_t>(), out.plane<std::uint8_t>(), params, &report);
  }
  std::cout << 100 * report.black_ratio << " % black\n";
}

}  // namespace

int main(int argc, char **argv) try {
  if (argc != 3) throw cudascan::Error("usage: library-example IN.pgm OUT.pgm");
  Image in = read_pgm(argv[1]);
  Image out = in;
  binarize(in, out);
  write_pgm(argv[2], out);
} catch (const cudascan::Error &error) {
  std::cerr << error.what() << '\n';
  return 1;
}
