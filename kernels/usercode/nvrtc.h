// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace cudascan::gswo {

/// NVRTC, CUDA's compiler in a library: its functions, by the names and types of NVIDIA's
/// documentation (docs.nvidia.com/cuda/nvrtc), without the prefix. It is loaded at run time, so
/// that neither building nor loading this library needs it.
struct Nvrtc {
  using Program = struct _nvrtcProgram *;
  enum Result {
    success = 0,
    error_invalid_option = 5,
    error_compilation = 6,
    error_cancelled = 16
  };

  Result (*version)(int *major, int *minor);
  Result (*get_num_supported_archs)(int *n);
  Result (*get_supported_archs)(int *architectures);
  const char *(*get_error_string)(Result);
  Result (*create_program)(Program *, const char *text, const char *name, int n_headers,
                           const char *const *headers, const char *const *header_names);
  Result (*destroy_program)(Program *);
  Result (*compile_program)(Program, int n_options, const char *const *options);
  Result (*get_program_log_size)(Program, std::size_t *);
  Result (*get_program_log)(Program, char *);
  Result (*get_ptx_size)(Program, std::size_t *);
  Result (*get_ptx)(Program, char *);
  Result (*get_cubin_size)(Program, std::size_t *);
  Result (*get_cubin)(Program, char *);
  /// Null in older versions.
  Result (*set_flow_callback)(Program, int (*callback)(void *, void *), void *);

  int major, minor;
  std::string path;                ///< of the library
  std::vector<int> architectures;  ///< supported ones, 90 for sm_90, in ascending order
};

/// @throws Error with the remedy if there is no usable one; the next call tries again
const Nvrtc &nvrtc();

}  // namespace cudascan::gswo
