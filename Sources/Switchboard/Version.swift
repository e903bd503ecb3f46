// SPDX-License-Identifier: MIT
//
// In a file of its own, since a release changes this line and no other.

/// The version of this program, as `switchboard version` prints it.
package let switchboardVersion = "0.1.0"
