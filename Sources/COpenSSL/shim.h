// SPDX-License-Identifier: MIT
// OpenSSL's libcrypto: digests, keys and signatures, by its EVP interface (3.0 or newer).
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
