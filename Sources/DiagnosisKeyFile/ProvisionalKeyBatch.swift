import ExposureKeys

/// Some keys of a file whose signature has not been checked yet.
///
/// What is learned from them counts only once `UnverifiedKeyFile.verified` has returned; where it
/// throws, it is to be forgotten.
public struct ProvisionalKeyBatch: Sendable {
  /// The keys, in the file's order.
  public let keys: KeyBatch
  /// Whether they replace what was published of them before.
  public let areRevised: Bool

  /// A batch of `keys` that come from elsewhere than a file: keys that were verified before, or those
  /// of a tool that measures.
  package init(keys: KeyBatch, areRevised: Bool = false) {
    self.keys = keys
    self.areRevised = areRevised
  }
}
