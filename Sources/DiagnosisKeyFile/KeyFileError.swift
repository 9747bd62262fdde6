/// Why a key file was refused, or could not be written. One case for each thing to do about it.
public enum KeyFileError: Error, Hashable, Sendable {
  /// The file or its folder could not be read; the system's error number.
  case cannotRead(Int32)
  /// The file or its folder could not be written; the system's error number.
  case cannotWrite(Int32)
  /// There is no room left on the disk.
  case diskFull
  /// Neither a zip nor an export.
  case notAKeyFile
  /// The zip is cut off, changed or of a kind that no key server writes.
  case damagedZip
  /// The zip holds more than `KeyFileLimit.entryCountMax` entries, or none.
  case wrongEntryCount
  /// An entry has another name than `export.bin` or `export.sig`.
  case unexpectedEntry
  /// Two entries have the same name.
  case duplicateEntry
  /// An entry is a folder, a link or encrypted.
  case notAPlainEntry
  /// The zip holds no `export.bin`.
  case missingExport
  /// The file or what it holds is larger than `KeyFileLimit` allows.
  case tooLarge
  /// The content is more than `KeyFileLimit.expansionMax` times as large as the zip.
  case expandsTooMuch
  /// `export.bin` does not begin with the 16 bytes of version 1.
  case wrongExportVersion
  /// `export.bin` is not the message it should be.
  case malformedExport
  /// More than `KeyFileLimit.keyCountMax` keys.
  case tooManyKeys
  /// `export.sig` is not the message it should be.
  case malformedSignatures
  /// More than `KeyFileLimit.signatureCountMax` signatures.
  case tooManySignatures
  /// The export announces another number of signatures than there are.
  case signatureCountMismatch
  /// The batch number lies outside 1...size, or export and signature name different ones.
  case wrongBatchNumbers
  /// There is no signature at all.
  case unsigned
  /// No signature is by one of the keys given.
  case noSignatureByTheseKeys
  /// The signature by one of the keys given is not ECDSA with SHA-256.
  case unsupportedAlgorithm
  /// The signature does not hold for these bytes and this key.
  case signatureMismatch
  /// Not a P-256 public key in PEM.
  case notAPublicKey
  /// Not a P-256 private key in PEM, SEC1 or PKCS#8.
  case notAPrivateKey
  /// A region, key id or version that is empty or longer than `KeyFileLimit` allows.
  case unusableName
  /// The period ends before it starts.
  case unusablePeriod
  /// No signer, or more than `KeyFileLimit.signatureCountMax`.
  case wrongSignerCount
}
