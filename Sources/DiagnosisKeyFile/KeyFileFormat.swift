// SPDX-License-Identifier: Apache-2.0
import SwiftProtobuf

/// The id of a signing key and its algorithm, as stated in both export.bin and export.sig.
public struct SignatureInfo: Hashable, Sendable {
  /// ECDSA over P-256 with SHA-256, as an object identifier.
  public static let ecdsaWithSHA256 = "1.2.840.10045.4.3.2"

  /// The key's id, usually the mobile country code, such as `260`; empty if the file has none.
  public let verificationKeyID: String
  /// The key's version, such as `v1`; empty if the file has none.
  public let verificationKeyVersion: String
  /// The algorithm as written, usually an object identifier; empty if the file has none.
  public let signatureAlgorithm: String

  /// Creates an info of these three parts.
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

/// Constants of `export.bin`.
enum ExportFormat {
  /// The first 16 bytes, which name version 1.
  static let magic = Array("EK Export v1    ".utf8)
  /// The fields that are not keys.
  static let headerFields: ClosedRange<UInt64> = 1...6
  static let keyField: UInt64 = 7
  static let revisedKeyField: UInt64 = 8

  static func keyField(isRevised: Bool) -> UInt64 {
    isRevised ? revisedKeyField : keyField
  }
}

/// The two halves of a key file.
enum ExportPart: String, CaseIterable {
  case export = "export.bin"
  case signatures = "export.sig"

  /// The maximum size of this half, in bytes.
  var byteCountMax: Int {
    switch self {
    case .export: KeyFileLimit.exportByteCountMax
    case .signatures: KeyFileLimit.signatureFileByteCountMax
    }
  }
}
