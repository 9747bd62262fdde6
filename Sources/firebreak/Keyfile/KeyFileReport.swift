import DiagnosisKeyFile

/// The facts of a key file as `--json` prints them.
struct KeyFileReport: Encodable {
  /// One signature, with its algorithm as written.
  struct Signature: Encodable {
    let keyID: String
    let keyVersion: String
    let algorithm: String
  }

  let start: UInt64
  let end: UInt64
  let region: String
  let batchNum: Int32
  let batchSize: Int32
  let keyCount: Int
  let revisedKeyCount: Int
  let keysSkipped: Int
  let signatures: [Signature]
  let exportSHA256: String

  init(_ facts: KeyFileFacts) {
    start = facts.header.start
    end = facts.header.end
    region = facts.header.region
    batchNum = facts.header.batchNumber
    batchSize = facts.header.batchSize
    keyCount = facts.keyCount
    revisedKeyCount = facts.revisedKeyCount
    keysSkipped = facts.keysSkipped
    signatures = facts.signatures.map {
      Signature(
        keyID: $0.verificationKeyID, keyVersion: $0.verificationKeyVersion,
        algorithm: $0.signatureAlgorithm)
    }
    exportSHA256 = facts.exportSHA256.lowerCaseHex
  }
}
