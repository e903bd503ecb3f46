// SPDX-License-Identifier: MIT
// zlib, for the CRC-32 of each log line.
#include <zlib.h>
