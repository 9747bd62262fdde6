// SPDX-License-Identifier: Apache-2.0
import Terminal

/// The build configuration of this executable. Only release builds give valid figures.
package enum BuildKind: String, Encodable {
  case debug, release

  #if DEBUG
    package static let current = debug
  #else
    package static let current = release
  #endif

  /// Prints a warning on stderr if this is a debug build.
  package static func warnUnlessRelease() {
    guard current == .debug else { return }
    note("This is a debug build, its figures are not valid: use `make bench`.")
  }
}
