// SPDX-License-Identifier: Apache-2.0
/// A batch of keys of a file whose signature has not been verified yet.
///
/// Results from them count only after `UnverifiedKeyFile.verified` has returned. If it throws, discard them.
public struct ProvisionalKeyBatch: Sendable {
  /// The keys, in the file's order.
  public let keys: KeyBatch
  /// True if the keys replace keys that were published before.
  public let areRevised: Bool

  /// Creates a batch of keys that do not come from a file: verified before, or of a benchmark.
  package init(keys: KeyBatch, areRevised: Bool = false) {
    self.keys = keys
    self.areRevised = areRevised
  }
}
