// SPDX-License-Identifier: Apache-2.0
/// The failures to sign, and how many of them were followed by a signature: a success that began before the newest
/// failure does not end it.
package struct SigningFailures: Sendable {
  /// The number of failures.
  package var count = 0
  private var ended = 0

  /// No failure yet.
  package init() {}

  /// True if no signature has followed the newest failure.
  package var areOpen: Bool { count > ended }

  /// Ends the failures that were known before a check which succeeded. Returns false if there is a newer one.
  package mutating func end(_ known: SigningFailures) -> Bool {
    guard count == known.count else { return false }
    ended = count
    return true
  }
}
