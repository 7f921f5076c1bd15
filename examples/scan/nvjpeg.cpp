// SPDX-License-Identifier: LGPL-2.1-or-later
#include "nvjpeg.h"

#include "common/error.h"
#include "jpeg_batches.h"
#include "load_library.h"

namespace cudascan::scan {
namespace {

constexpr int kHybrid = 2, kHardware = 3;  // nvjpegBackend_t

/// nvjpegStatus_t, from 0 on.
constexpr const char *kStatuses[] = {"success",          "not initialized",     "invalid parameter",
                                     "bad JPEG",         "not supported",       "no memory",
                                     "execution failed", "wrong GPU",           "internal error",
                                     "not implemented",  "incomplete bitstream"};

/// @return why the library cannot be used, or ""
std::string find_functions(void *library, NvjpegFunctions &f) {
  FunctionsOf(library)
      .find(f.preallocate, "nvjpegDecodeBatchedPreAllocate")
      .find(f.get_engines, "nvjpegGetHardwareDecoderInfo");
  return FunctionsOf(library)
      .find(f.get_property, "nvjpegGetProperty")
      .find(f.create, "nvjpegCreateEx")
      .find(f.destroy, "nvjpegDestroy")
      .find(f.create_state, "nvjpegJpegStateCreate")
      .find(f.destroy_state, "nvjpegJpegStateDestroy")
      .find(f.create_stream, "nvjpegJpegStreamCreate")
      .find(f.destroy_stream, "nvjpegJpegStreamDestroy")
      .find(f.parse_header, "nvjpegJpegStreamParseHeader")
      .find(f.check, "nvjpegDecodeBatchedSupported")
      .find(f.initialize, "nvjpegDecodeBatchedInitialize")
      .find(f.decode, "nvjpegDecodeBatched")
      .problem();
}

}  // namespace

std::string call_failed(const char *what, int status) {
  return call_failed(what, kStatuses, status);
}

GpuJpegs::GpuJpegs(DecodeBy by, GpuLoad &load, Say note)
    : by_(by), load_(load), note_(std::move(note)) {
  const auto say = [this](const std::string &line) {
    loading_.push_back(line);
    this->note(line);
  };
  const std::string place = load_library(
      "nvJPEG", "CUDASCAN_NVJPEG", {"libnvjpeg.so.13", "libnvjpeg.so.12"},
      [this](void *library) { return find_functions(library, functions_); }, say);
  int version[3] = {};
  for (int i = 0; i < 3; ++i) functions_.get_property(i, &version[i]);
  say("nvJPEG: " + place + ", version " + std::to_string(version[0]) + '.' +
      std::to_string(version[1]) + '.' + std::to_string(version[2]));
}

void GpuJpegs::begin_run(Say note) {
  note_ = std::move(note);
  noted_.clear();
  for (const std::string &line : loading_) this->note(line);
}

void GpuJpegs::note(const std::string &line) {
  if (!note_) return;
  const std::lock_guard lock(mutex_);
  if (noted_.insert(line).second) note_(line);
}

std::shared_ptr<JpegBackends> GpuJpegs::on(int device) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<JpegBackends> backends = backends_[device].lock();
  if (backends) return backends;
  backends = std::make_shared<JpegBackends>();
  if (by_ != DecodeBy::kernels) backends->emplace_back(*this, device, kHardware, "gpu-engines");
  if (by_ != DecodeBy::engines) backends->emplace_back(*this, device, kHybrid, "gpu-kernels");
  backends_[device] = backends;
  return backends;
}

JpegBackend::JpegBackend(GpuJpegs &shared, int device, int kind, const char *name)
    : shared_(shared), device_(device), kind_(kind), name_(name) {}

JpegBackend::~JpegBackend() {
  batches_.reset();
  if (handle_) shared_.functions().destroy(handle_);
}

const std::string &JpegBackend::open() {
  const std::lock_guard lock(mutex_);
  if (!is_tried_) try_to_open();
  shared_.note(line_);
  return problem_;
}

void JpegBackend::try_to_open() {
  is_tried_ = true;
  if (const int status = shared_.functions().create(kind_, nullptr, nullptr, 0, &handle_)) {
    handle_ = nullptr;
    problem_ = call_failed("nvjpegCreateEx", status);
  } else if (kind_ == kHardware) {
    try {
      batches_ = std::make_unique<JpegBatches>(shared_, device_, handle_);
    } catch (const std::exception &error) {
      problem_ = error.what();
    }
  }
  line_ = "GPU " + std::to_string(device_) + ": " + name_;
  if (!problem_.empty())
    line_ += " cannot be used: " + problem_;
  else if (batches_)
    line_ += " decode JPEG, " + std::to_string(batches_->engines()) + " at a time";
  else
    line_ += " decode JPEG";
}

GpuJpeg::GpuJpeg(GpuJpegs &shared, int device) : shared_(shared), backends_(shared.on(device)) {
  for (JpegBackend &backend : *backends_) ways_.push_back({&backend});
}

GpuJpeg::~GpuJpeg() {
  const NvjpegFunctions &f = shared_.functions();
  for (const Way &way : ways_) {
    if (way.stream) f.destroy_stream(way.stream);
    if (way.state) f.destroy_state(way.state);
  }
}

/// @return why the engines do not take the page, or ""
std::string GpuJpeg::check(Way &way, const CodedPage &page) {
  const NvjpegFunctions &f = shared_.functions();
  void *const handle = way.backend->handle();
  if (!way.stream) {
    if (const int status = f.create_stream(handle, &way.stream)) {
      way.stream = nullptr;
      return call_failed("nvjpegJpegStreamCreate", status);
    }
  }
  int refused = 0;
  if (const int status = f.parse_header(handle, page.data(), page.size(), way.stream))
    return call_failed("nvjpegJpegStreamParseHeader", status);
  if (const int status = f.check(handle, way.stream, &refused))
    return call_failed("nvjpegDecodeBatchedSupported", status);
  return refused != 0 ? "they do not take such pictures" : "";
}

/// @return why the page is not decoded, or ""
std::string GpuJpeg::try_decode(Way &way, const CodedPage &page, const Plane<std::uint8_t> &to,
                                CUstream_st *stream, const cuda::Event &free) {
  JpegBackend &backend = *way.backend;
  if (const std::string &problem = backend.open(); !problem.empty()) return problem;
  if (JpegBatches *const batches = backend.batches()) {
    std::string problem = check(way, page);
    return problem.empty() ? batches->decode(page, to, free) : problem;
  }
  // The kernels decode Huffman codes on the calling thread, and say so if they do not take a page.
  const NvjpegFunctions &f = shared_.functions();
  if (!way.state) {
    if (const int status = f.create_state(backend.handle(), &way.state)) {
      way.state = nullptr;
      return call_failed("nvjpegJpegStateCreate", status);
    }
  }
  if (!way.is_ready) {
    if (const int status = f.initialize(backend.handle(), way.state, 1, 1, kNvjpegY))
      return call_failed("nvjpegDecodeBatchedInitialize", status);
    way.is_ready = true;
  }
  const unsigned char *const data = page.data();
  const std::size_t size = page.size();
  NvjpegImage image = image_of(to);
  if (const int status = f.decode(backend.handle(), way.state, &data, &size, &image, stream)) {
    way.is_ready = false;
    return call_failed("nvjpegDecodeBatched", status);
  }
  return "";
}

bool GpuJpeg::decode(const CodedPage &page, const Plane<std::uint8_t> &to, CUstream_st *stream,
                     const cuda::Event &free, std::string &decoder, std::string &why_not) {
  why_not.clear();
  for (Way &way : ways_) {
    const std::string name = way.backend->name();
    const std::string problem = try_decode(way, page, to, stream, free);
    if (problem.empty()) {
      decoder = name;
      why_not.clear();
      return true;
    }
    why_not += (why_not.empty() ? "" : "; ") + name + ": " + problem;
    shared_.note(name + ": " + problem);
  }
  return false;
}

}  // namespace cudascan::scan
