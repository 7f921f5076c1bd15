// SPDX-License-Identifier: LGPL-2.1-or-later
#include "digest.h"

#include <fcntl.h>
#include <openssl/evp.h>

#include <array>

#include "common/error.h"
#include "open_file.h"

namespace cudascan::scan {
namespace {

void check(int done) {
  if (done != 1) throw Error("OpenSSL cannot compute a SHA-256");
}

}  // namespace

void Digest::Free::operator()(evp_md_ctx_st *context) const {
  EVP_MD_CTX_free(context);
}

Digest::Digest() : context_(EVP_MD_CTX_new()) {
  check(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
}

void Digest::add(std::string_view bytes) {
  check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

std::string Digest::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum;
  unsigned size = 0;
  check(EVP_DigestFinal_ex(context_.get(), sum.data(), &size));
  std::string digits;
  for (unsigned i = 0; i < size; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    digits += {kDigits[sum[i] >> 4], kDigits[sum[i] & 15]};
  }
  return digits;
}

std::string digest_of(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.finish();
}

std::string digest_of_file(const std::filesystem::path &path) {
  try {
    OpenFile file = open_regular(path, O_RDONLY);
    return file ? digest_of(file.read()) : "";
  } catch (const Error &) {
    return "";
  }
}

}  // namespace cudascan::scan
