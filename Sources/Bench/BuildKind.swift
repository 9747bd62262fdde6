// SPDX-License-Identifier: Apache-2.0
import Terminal

/// The build configuration of this executable. Only release builds give valid figures.
enum BuildKind: String, Encodable {
  case debug, release

  #if DEBUG
    static let current = debug
  #else
    static let current = release
  #endif

  /// Prints a warning on stderr if this is a debug build.
  static func warnUnlessRelease() {
    guard current == .debug else { return }
    note("This is a debug build, its figures are not valid: use `make bench`.")
  }
}
