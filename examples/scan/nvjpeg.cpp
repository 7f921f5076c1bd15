// SPDX-License-Identifier: LGPL-2.1-or-later
#include "nvjpeg.h"

#include <dlfcn.h>

#include <cstdlib>
#include <iterator>

#include "common/error.h"

namespace cudascan::scan {
namespace {

constexpr int kHybrid = 2, kHardware = 3;  // nvjpegBackend_t
constexpr int kOutputY = 2;                // nvjpegOutputFormat_t
constexpr int kYuv444 = 0;                 // nvjpegChromaSubsampling_t

/// nvjpegStatus_t in words.
std::string status_text(int status) {
  static constexpr const char *kNames[] = {"success",
                                           "not initialized",
                                           "invalid parameter",
                                           "bad JPEG",
                                           "not supported",
                                           "no memory",
                                           "execution failed",
                                           "wrong GPU",
                                           "internal error",
                                           "not implemented here",
                                           "incomplete bitstream"};
  const bool known = status >= 0 && status < static_cast<int>(std::size(kNames));
  return std::string(known ? kNames[status] : "unknown status") + " (" + std::to_string(status) +
         ")";
}

/// Where the library may be.
std::vector<std::string> places() {
  if (const char *named = std::getenv("CUDASCAN_NVJPEG")) return {named};
  std::vector<std::string> folders{""};
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *folder = std::getenv(variable); folder && *folder)
      folders.push_back(std::string(folder) + "/lib64/");
  for (const char *folder : {"/usr/local/cuda/lib64/", "/opt/cuda/lib64/"})
    folders.emplace_back(folder);
  std::vector<std::string> all;
  for (const char *name : {"libnvjpeg.so.13", "libnvjpeg.so.12"})
    for (const std::string &folder : folders) all.push_back(folder + name);
  return all;
}

/// Finds all functions. @return the name of one that is missing, or nullptr
const char *find_functions(void *library, NvjpegFunctions &f) {
  const char *missing = nullptr;
  const auto find = [&](auto *&function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function && !missing) missing = name;
  };
  find(f.get_property, "nvjpegGetProperty");
  find(f.create, "nvjpegCreateEx");
  find(f.destroy, "nvjpegDestroy");
  find(f.create_state, "nvjpegJpegStateCreate");
  find(f.destroy_state, "nvjpegJpegStateDestroy");
  find(f.create_stream, "nvjpegJpegStreamCreate");
  find(f.destroy_stream, "nvjpegJpegStreamDestroy");
  find(f.parse_header, "nvjpegJpegStreamParseHeader");
  find(f.check, "nvjpegDecodeBatchedSupported");
  find(f.initialize, "nvjpegDecodeBatchedInitialize");
  find(f.decode, "nvjpegDecodeBatched");
  if (missing) return missing;
  find(f.preallocate, "nvjpegDecodeBatchedPreAllocate");
  return nullptr;
}

}  // namespace

GpuJpegs::GpuJpegs(DecodeBy by, Say note) : by_(by), note_(std::move(note)) {
  std::string problem = "no library was tried";
  for (const std::string &place : places()) {
    // It stays loaded until the process ends, as CUDA does.
    void *const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      problem = dlerror();
      this->note("nvJPEG: " + problem);
      continue;
    }
    if (const char *missing = find_functions(library, functions_)) {
      problem = place + " has no function " + missing;
      this->note("nvJPEG: " + problem);
      continue;
    }
    int version[3] = {};
    for (int i = 0; i < 3; ++i) functions_.get_property(i, &version[i]);
    this->note("nvJPEG: " + place + ", version " + std::to_string(version[0]) + '.' +
               std::to_string(version[1]) + '.' + std::to_string(version[2]));
    return;
  }
  throw Error(problem);
}

void GpuJpegs::note(const std::string &line) {
  if (!note_) return;
  const std::lock_guard lock(mutex_);
  if (noted_.insert(line).second) note_(line);
}

GpuJpeg::GpuJpeg(GpuJpegs &shared, int device) : shared_(shared), device_(device) {
  if (shared.by() != DecodeBy::kernels) ways_.push_back({kHardware, "gpu-engines"});
  if (shared.by() != DecodeBy::engines) ways_.push_back({kHybrid, "gpu-kernels"});
}

GpuJpeg::~GpuJpeg() {
  const NvjpegFunctions &f = shared_.functions();
  for (const Way &way : ways_) {
    if (way.stream) f.destroy_stream(way.stream);
    if (way.state) f.destroy_state(way.state);
    if (way.handle) f.destroy(way.handle);
  }
}

/// @return why it cannot be used, or ""
std::string GpuJpeg::open(Way &way) {
  if (way.is_tried) return way.problem;
  way.is_tried = true;
  const NvjpegFunctions &f = shared_.functions();
  int status = f.create(way.backend, nullptr, nullptr, 0, &way.handle);
  const char *what = "nvjpegCreateEx";
  if (status != 0) way.handle = nullptr;
  if (status == 0) {
    what = "nvjpegJpegStateCreate";
    status = f.create_state(way.handle, &way.state);
    if (status != 0) way.state = nullptr;
  }
  if (status == 0) {
    what = "nvjpegJpegStreamCreate";
    status = f.create_stream(way.handle, &way.stream);
    if (status != 0) way.stream = nullptr;
  }
  if (status != 0) way.problem = std::string(what) + ": " + status_text(status);
  shared_.note("GPU " + std::to_string(device_) + ": " + way.name +
               (status == 0 ? " decode JPEG" : " cannot be used: " + way.problem));
  return way.problem;
}

/// @return why the page is not decoded, or ""
std::string GpuJpeg::try_decode(Way &way, const CodedPage &page, const Plane<std::uint8_t> &to,
                                CUstream_st *stream) {
  if (std::string problem = open(way); !problem.empty()) return problem;
  const NvjpegFunctions &f = shared_.functions();
  const auto failed = [](const char *what, int status) {
    return std::string(what) + ": " + status_text(status);
  };
  // The kernels say so when they decode.
  if (way.backend == kHardware) {
    int refused = 0;
    if (const int status = f.parse_header(way.handle, page.data(), page.size(), way.stream))
      return failed("nvjpegJpegStreamParseHeader", status);
    if (const int status = f.check(way.handle, way.stream, &refused))
      return failed("nvjpegDecodeBatchedSupported", status);
    if (refused != 0) return "they do not take such pictures";
  }
  if (!way.is_ready) {
    if (const int status = f.initialize(way.handle, way.state, 1, 1, kOutputY))
      return failed("nvjpegDecodeBatchedInitialize", status);
    way.is_ready = true;
    // So that the engines need not allocate for each page.
    if (f.preallocate)
      if (const int status =
              f.preallocate(way.handle, way.state, 1, to.width, to.height, kYuv444, kOutputY))
        shared_.note(std::string(way.name) + ": " +
                     failed("nvjpegDecodeBatchedPreAllocate", status));
  }
  const unsigned char *const data = page.data();
  const std::size_t size = page.size();
  NvjpegImage image{};
  image.channel[0] = to.data;
  image.pitch[0] = static_cast<std::size_t>(to.stride);
  if (const int status = f.decode(way.handle, way.state, &data, &size, &image, stream)) {
    way.is_ready = false;
    return failed("nvjpegDecodeBatched", status);
  }
  return "";
}

bool GpuJpeg::decode(const CodedPage &page, const Plane<std::uint8_t> &to, CUstream_st *stream,
                     std::string &decoder, std::string &why_not) {
  why_not.clear();
  for (Way &way : ways_) {
    const std::string problem = try_decode(way, page, to, stream);
    if (problem.empty()) {
      decoder = way.name;
      why_not.clear();
      return true;
    }
    why_not += (why_not.empty() ? "" : "; ") + std::string(way.name) + ": " + problem;
    shared_.note(std::string(way.name) + ": " + problem);
  }
  return false;
}

}  // namespace cudascan::scan
