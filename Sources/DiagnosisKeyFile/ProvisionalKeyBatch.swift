import ExposureKeys

/// Some keys of a file whose signature has not been checked yet.
///
/// What is learned from them counts only once `UnverifiedKeyFile.verified` has returned; where it
/// throws, it is to be forgotten.
public struct ProvisionalKeyBatch: Sendable {
  /// The keys, in the file's order.
  public let keys: [DiagnosisKey]
  /// Whether they replace what was published of them before.
  public let areRevised: Bool
}
