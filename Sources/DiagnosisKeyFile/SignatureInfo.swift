import SwiftProtobuf

/// Which key signed, and how: what export.bin announces and export.sig repeats.
public struct SignatureInfo: Hashable, Sendable {
  /// ECDSA over P-256 with SHA-256, as an object identifier.
  public static let ecdsaWithSHA256 = "1.2.840.10045.4.3.2"

  /// The key's id, usually the mobile country code, such as `260`; empty where the file has none.
  public let verificationKeyID: String
  /// The key's version, such as `v1`; empty where the file has none.
  public let verificationKeyVersion: String
  /// The algorithm as written, usually an object identifier; empty where the file has none.
  public let signatureAlgorithm: String

  /// An info of these three parts.
  public init(
    verificationKeyID: String, verificationKeyVersion: String,
    signatureAlgorithm: String = SignatureInfo.ecdsaWithSHA256
  ) {
    self.verificationKeyID = verificationKeyID
    self.verificationKeyVersion = verificationKeyVersion
    self.signatureAlgorithm = signatureAlgorithm
  }
}

extension SignatureInfo {
  init(wire: WireSignatureInfo) {
    self.init(
      verificationKeyID: wire.verificationKeyID,
      verificationKeyVersion: wire.verificationKeyVersion,
      signatureAlgorithm: wire.signatureAlgorithm)
  }

  var wire: WireSignatureInfo {
    .with {
      $0.verificationKeyID = verificationKeyID
      $0.verificationKeyVersion = verificationKeyVersion
      $0.signatureAlgorithm = signatureAlgorithm
    }
  }
}
