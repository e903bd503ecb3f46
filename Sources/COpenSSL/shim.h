// SPDX-License-Identifier: MIT
// OpenSSL (3.0 or newer): of libcrypto digests, keys and signatures by its EVP interface, of libssl TLS. What stands in functions here are
// macros of OpenSSL's, which Swift does not see, and lists of names that must outlive a call.
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/// No renegotiation, whoever asks for it, and no compression (CVE-2012-4929).
static inline uint64_t switchboard_ssl_options(void) { return SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION; }

/// An idle connection keeps no buffers.
static inline long switchboard_ssl_modes(void) { return SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER; }

/// What OpenSSL sets by itself: a read goes on over records without data, however many there are.
static inline long switchboard_ssl_unwanted_modes(void) { return SSL_MODE_AUTO_RETRY; }

/// Makes a MAC one of HMAC with SHA-256 under this key.
static inline int switchboard_set_hmac_key(EVP_MAC_CTX *mac, const unsigned char *key, size_t count) {
    OSSL_PARAM parameters[3];
    parameters[0] = OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)key, count);
    parameters[1] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0);
    parameters[2] = OSSL_PARAM_construct_end();
    return EVP_MAC_CTX_set_params(mac, parameters);
}
