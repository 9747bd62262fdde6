import Crypto

/// What one pass over a key file found.
struct ExportReading {
  /// Of the whole export.bin.
  let digest: SHA256Digest
  let signatures: SignatureList
  /// What the export holds, or why it could not be read to its end.
  ///
  /// Both may be known of one file: a malformed export whose signature does not hold was changed on
  /// its way, and that is the answer that helps.
  let facts: Result<KeyFileFacts, KeyFileError>
}
