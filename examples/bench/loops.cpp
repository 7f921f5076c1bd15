// SPDX-License-Identifier: LGPL-2.1-or-later
// Milliseconds for a frame on the CPU: the loops of examples/gswo/loops as g++ -O3 -march=native
// compiles them, on one thread, and as cudaswofilter runs them (`source=`), on one thread and on
// several. Times of one thread are those that the thread was running, the least of several runs, so
// that other programs disturb little; times of several are from the beginning to the end.
//
//     ninja -C build examples/bench/loops-bench
//     build/examples/bench/loops-bench examples/gswo/loops [WIDTHxHEIGHT [THREADS [SECONDS]]]

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "cpu_time.h"
#include "kernels/swofilter.h"

void bilateral(float **, float **, int, int);
void census(unsigned short **, unsigned short **, int, int);
void diffusion(float **, float **, int, int, float, float);
void guided(float **, float **, float **, float **, int, int, float);
void kuwahara(unsigned char **, unsigned char **, int, int);
void local_binary_pattern(const unsigned char *, unsigned char *, int, int);
void local_variance(float **, float **, int, int);
void non_local_means(float **, float **, int, int);
void rank_order(const unsigned char *, unsigned char *, int, int);
void sobel(const unsigned char *, unsigned char *, int, int);

namespace {

using namespace cudascan;

struct Settings {
  std::string folder;
  int width = 1524, height = 1052, threads = 2;
  double seconds = 1;
};

constexpr int kRuns = 4;  // the first one compiles

/// Images of the loop's type, all with the picture.
template <typename T>
struct Images {
  std::vector<std::vector<T>> pixels;
  std::vector<std::vector<T *>> rows;

  template <typename Sample>
  Images(const std::vector<Sample> &in, int width, int count)
      : pixels(count, std::vector<T>(in.begin(), in.end())), rows(count) {
    for (int i = 0; i < count; ++i)
      for (std::size_t at = 0; at < in.size(); at += width) rows[i].push_back(&pixels[i][at]);
  }
};

/// @param call  calls the loop for images and their size
template <typename Sample, typename T, typename Call>
void measure(const Settings &s, const std::string &name, int images, Call call) {
  const std::vector<Sample> in = picture<Sample>(s.width, s.height);
  Images<T> of_loop(in, s.width, images);
  const double loop =
      least(CLOCK_THREAD_CPUTIME_ID, s.seconds, kRuns, [&] { call(of_loop, s.width, s.height); });

  SwoFilterParams params{.op = SwoFilterOperator::custom};
  params.custom.source = s.folder + '/' + name + ".cpp";
  std::vector<Sample> out(in.size());
  const std::ptrdiff_t stride = s.width * static_cast<std::ptrdiff_t>(sizeof(Sample));
  const auto filter = [&](Cpu &cpu) {
    run(cpu, Plane<const Sample>{in.data(), s.width, s.height, stride},
        Plane<Sample>{out.data(), s.width, s.height, stride}, params);
  };
  Cpu one(1), several(s.threads);
  const double alone = least(CLOCK_THREAD_CPUTIME_ID, s.seconds, kRuns, [&] { filter(one); });
  const double together = least(CLOCK_MONOTONIC, s.seconds, kRuns, [&] { filter(several); });

  double most = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double most_level = sizeof(Sample) == 1 ? 255 : 65535;
    const double right = std::round(std::clamp<double>(of_loop.pixels.back()[i], 0, most_level));
    most = std::max(most, std::abs(right - out[i]));
  }
  std::printf("%-22s %9.2f %9.2f %9.2f %7.2f %7.2f %9.0f\n", name.c_str(), loop, alone, together,
              loop / alone, loop / together, most);
  std::fflush(stdout);
}

using U8 = unsigned char;
using U16 = unsigned short;

void measure_all(const Settings &s) {
  std::printf("%d x %d, milliseconds\n%-22s %9s %9s %6d %s %7s %7s %9s\n", s.width, s.height, "",
              "loop", "1 thread", s.threads, "th", "x", "x", "levels");
  measure<U8, float>(s, "bilateral", 2, [](auto &i, int w, int h) {
    bilateral(i.rows[0].data(), i.rows[1].data(), w, h);
  });
  measure<U16, U16>(s, "census", 2, [](auto &i, int w, int h) {
    census(i.rows[0].data(), i.rows[1].data(), w, h);
  });
  measure<U8, float>(s, "diffusion", 2, [](auto &i, int w, int h) {
    diffusion(i.rows[0].data(), i.rows[1].data(), w, h, 20, 0.2f);
  });
  measure<U8, float>(s, "guided", 4, [](auto &i, int w, int h) {
    guided(i.rows[0].data(), i.rows[1].data(), i.rows[2].data(), i.rows[3].data(), w, h, 100);
  });
  measure<U8, U8>(s, "kuwahara", 2, [](auto &i, int w, int h) {
    kuwahara(i.rows[0].data(), i.rows[1].data(), w, h);
  });
  measure<U8, U8>(s, "local_binary_pattern", 2, [](auto &i, int w, int h) {
    local_binary_pattern(i.pixels[0].data(), i.pixels[1].data(), w, h);
  });
  measure<U8, float>(s, "local_variance", 2, [](auto &i, int w, int h) {
    local_variance(i.rows[0].data(), i.rows[1].data(), w, h);
  });
  measure<U8, float>(s, "non_local_means", 2, [](auto &i, int w, int h) {
    non_local_means(i.rows[0].data(), i.rows[1].data(), w, h);
  });
  measure<U8, U8>(s, "rank_order", 2, [](auto &i, int w, int h) {
    rank_order(i.pixels[0].data(), i.pixels[1].data(), w, h);
  });
  measure<U8, U8>(s, "sobel", 2, [](auto &i, int w, int h) {
    sobel(i.pixels[0].data(), i.pixels[1].data(), w, h);
  });
}

}  // namespace

int main(int argc, char **argv) try {
  Settings s;
  if (argc < 2 || argc > 5 || (argc > 2 && std::sscanf(argv[2], "%dx%d", &s.width, &s.height) != 2))
    throw Error("usage: loops-bench FOLDER [WIDTHxHEIGHT [THREADS [SECONDS]]]");
  s.folder = argv[1];
  if (argc > 3) s.threads = std::atoi(argv[3]);
  if (argc > 4) s.seconds = std::atof(argv[4]);
  measure_all(s);
  return 0;
} catch (const std::exception &e) {
  std::fprintf(stderr, "loops-bench: %s\n", e.what());
  return 1;
}
