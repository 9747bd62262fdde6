import Crypto
import Foundation
import SwiftProtobuf

/// The signatures of a key file, parsed from export.sig.
struct SignatureList {
  private let signatures: [WireTEKSignature]

  /// Parses export.sig; an empty file has no signatures.
  init(decoding bytes: [UInt8]) throws(KeyFileError) {
    guard let list = try? WireTEKSignatureList(serializedBytes: bytes) else {
      throw .malformedSignatures
    }
    guard list.signatures.count <= KeyFileLimit.signatureCountMax else { throw .tooManySignatures }
    signatures = list.signatures
  }

  var infos: [SignatureInfo] {
    signatures.map { SignatureInfo(wire: $0.signatureInfo) }
  }

  /// Returns the first of `keys` with a valid signature over `digest`.
  ///
  /// Signatures by other keys are ignored: an authority that replaces its key signs with both for a while.
  func signer(
    among keys: [VerificationPublicKey], of digest: SHA256Digest
  ) throws(KeyFileError) -> VerificationPublicKey {
    guard !signatures.isEmpty else { throw .unsigned }
    var refusal = KeyFileError.noSignatureByTheseKeys
    for signature in signatures {
      for key in keys where names(signature.signatureInfo, key) {
        guard Self.algorithms.contains(signature.signatureInfo.signatureAlgorithm) else {
          refusal = .unsupportedAlgorithm
          continue
        }
        if key.isValid(signature.signature, for: digest) { return key }
        refusal = .signatureMismatch
      }
    }
    throw refusal
  }

  /// Throws if export and signatures disagree on the number of signatures or on the batch.
  func check(against header: KeyFileHeader) throws(KeyFileError) {
    guard signatures.count == header.signatureInfos.count else { throw .signatureCountMismatch }
    guard header.batchNumber >= 1, header.batchNumber <= header.batchSize,
      signatures.allSatisfy({
        $0.batchNum == header.batchNumber && $0.batchSize == header.batchSize
      })
    else { throw .wrongBatchNumbers }
  }

  /// The object identifier, and the name that Apple's sample server writes for it.
  private static let algorithms = [SignatureInfo.ecdsaWithSHA256, "SHA256withECDSA"]

  /// Returns `true` if the signature names `key`. Only a single signature may omit the id.
  private func names(_ info: WireSignatureInfo, _ key: VerificationPublicKey) -> Bool {
    let isAnonymous = info.verificationKeyID.isEmpty && signatures.count == 1
    return (isAnonymous || info.verificationKeyID == key.keyID)
      && info.verificationKeyVersion == key.keyVersion
  }
}
