// SPDX-License-Identifier: MIT

/// The version of this program, as `switchboard version` prints it.
package let switchboardVersion = "0.1.0"
