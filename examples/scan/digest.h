// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace cudascan::scan {

/// SHA-256 (FIPS 180-4).
class Digest {
 public:
  Digest();
  void add(std::string_view bytes);
  /// 64 hexadecimal digits; nothing can be added after it.
  std::string finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st *context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

std::string digest_of(std::string_view bytes);

/// Of a regular file; "" if there is none, or it cannot be read.
std::string digest_of_file(const std::filesystem::path &path);

}  // namespace cudascan::scan
