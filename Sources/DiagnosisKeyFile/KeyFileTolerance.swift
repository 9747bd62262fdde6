// SPDX-License-Identifier: Apache-2.0
/// The deviations from the format that a reader of key files accepts.
package enum KeyFileTolerance: Sendable {
  /// None. Phones read like this.
  case none
  /// Those of files that health authorities have published. Tools read like this, and list the deviations.
  case published

  /// Returns `true` if the name of a signature algorithm stands for ECDSA with SHA-256.
  func accepts(algorithm: String) -> Bool {
    switch self {
    case .none: Self.algorithms.contains(algorithm)
    case .published:
      Self.algorithms.contains(algorithm)
        || Self.algorithmNames.contains(algorithm.lowercased().filter { $0 != "-" })
    }
  }

  /// The object identifier, and the name that Apple's sample server writes for it.
  private static let algorithms = [SignatureInfo.ecdsaWithSHA256, "SHA256withECDSA"]
  /// The names of OpenSSL and of Java, in lower case and without hyphens.
  private static let algorithmNames = ["ecdsawithsha256", "sha256withecdsa"]
}
