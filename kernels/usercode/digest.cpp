// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/digest.h"

#include <openssl/evp.h>

#include "common/error.h"

namespace cudascan::gswo {
namespace {

void check(int done) {
  if (done != 1) throw Error("OpenSSL's SHA-256 failed; check the installation of OpenSSL");
}

}  // namespace

void Digest::Free::operator()(evp_md_ctx_st *context) const {
  EVP_MD_CTX_free(context);
}

Digest::Digest() : context_(EVP_MD_CTX_new()) {
  check(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
}

Digest &Digest::add(std::string_view text) {
  const std::string length = std::to_string(text.size()) + ':';
  check(EVP_DigestUpdate(context_.get(), length.data(), length.size()));
  check(EVP_DigestUpdate(context_.get(), text.data(), text.size()));
  return *this;
}

std::string Digest::hex() {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  check(EVP_DigestFinal_ex(context_.get(), bytes, &size));
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    hex += "0123456789abcdef"[bytes[i] / 16];
    hex += "0123456789abcdef"[bytes[i] % 16];
  }
  return hex;
}

}  // namespace cudascan::gswo
