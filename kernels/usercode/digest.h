// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "common/api.h"

struct evp_md_ctx_st;

namespace cudascan::gswo {

/// SHA-256 of a list of texts. Where one text ends and the next begins is part of it.
class CUDASCAN_API Digest {
 public:
  Digest();
  Digest &add(std::string_view text);
  Digest &add(long long number) { return add(std::string_view(std::to_string(number))); }
  /// 64 hexadecimal digits. The last call.
  std::string hex();

 private:
  struct Free {
    void operator()(evp_md_ctx_st *context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

}  // namespace cudascan::gswo
