// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The reason why a key file was rejected or could not be written.
public enum KeyFileError: Error, Hashable, Sendable {
  /// The file or its folder could not be read; the value is `errno`.
  case cannotRead(Int32)
  /// The file or its folder could not be written; the value is `errno`.
  case cannotWrite(Int32)
  /// No space is left on the disk.
  case diskFull
  /// Neither a zip nor an export.
  case notAKeyFile
  /// The zip is truncated, changed or of a kind that no key server writes.
  case damagedZip
  /// The zip has more than `KeyFileLimit.entryCountMax` entries, or none.
  case wrongEntryCount
  /// An entry has another name than `export.bin` or `export.sig`.
  case unexpectedEntry
  /// Two entries have the same name.
  case duplicateEntry
  /// An entry is a folder, a link or encrypted.
  case notAPlainEntry
  /// The zip holds no `export.bin`.
  case missingExport
  /// The file or its content is larger than `KeyFileLimit` allows.
  case tooLarge
  /// The content is more than `KeyFileLimit.expansionMax` times as large as the zip.
  case expandsTooMuch
  /// `export.bin` does not begin with the 16 bytes of version 1.
  case wrongExportVersion
  /// `export.bin` is not a valid message.
  case malformedExport
  /// More than `KeyFileLimit.keyCountMax` keys.
  case tooManyKeys
  /// `export.sig` is not a valid message.
  case malformedSignatures
  /// More than `KeyFileLimit.signatureCountMax` signatures.
  case tooManySignatures
  /// The number of signature infos in `export.bin` differs from the number of signatures in `export.sig`.
  case signatureCountMismatch
  /// The batch number is outside 1...size, or export and signature have different ones.
  case wrongBatchNumbers
  /// The file has no signature.
  case unsigned
  /// No signature is by one of the given keys.
  case noSignatureByTheseKeys
  /// The signature by one of the given keys is not ECDSA with SHA-256.
  case unsupportedAlgorithm
  /// The signature is not valid for these bytes and this key.
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

extension KeyFileError: CustomStringConvertible {
  /// One sentence: what is wrong, and what to do. It contains nothing of the file's content.
  public var description: String {
    switch self {
    case .cannotRead(let code):
      "The file could not be read (\(Self.reason(code))): check its name and its permissions."
    case .cannotWrite(let code):
      "The file could not be written (\(Self.reason(code))): check the folder and its permissions."
    case .diskFull: "The disk is full: free some space and try again."
    case .notAKeyFile: "This is neither a zip nor an export.bin: check the file name."
    case .damagedZip: "The zip is truncated or damaged: download it again."
    case .wrongEntryCount:
      "A key file holds export.bin and export.sig and nothing else: ask its publisher for a valid one."
    case .unexpectedEntry:
      "The zip holds an entry that is neither export.bin nor export.sig: do not use this file."
    case .duplicateEntry: "The zip holds the same entry twice: do not use this file."
    case .notAPlainEntry:
      "The zip holds a folder, a link or an encrypted entry: do not use this file."
    case .missingExport: "The zip holds no export.bin: ask its publisher for a valid one."
    case .tooLarge: "The file is larger than a key file may be: ask for smaller files."
    case .expandsTooMuch:
      "The zip expands to far more than keys can be compressed to: do not use this file."
    case .wrongExportVersion:
      "The export does not begin with \"EK Export v1\": ask for version 1 of the format."
    case .malformedExport: "The export is truncated or malformed: download it again."
    default: signatureDescription
    }
  }

  private var signatureDescription: String {
    switch self {
    case .tooManyKeys:
      "The file holds more than \(KeyFileLimit.keyCountMax) keys: ask for smaller files."
    case .malformedSignatures: "The signatures are truncated or malformed: download the file again."
    case .tooManySignatures:
      "The file has more than \(KeyFileLimit.signatureCountMax) signatures: sign it with fewer keys."
    case .signatureCountMismatch:
      "The export and its signatures differ in the number of signatures: ask its publisher for a valid file."
    case .wrongBatchNumbers:
      "The batch numbers are invalid: ask for files that stand alone, batch 1 of 1."
    case .unsigned: "The file is not signed: accept keys only from an authority that signs them."
    case .noSignatureByTheseKeys:
      "No signature has the id and version of a key you trust: fetch the authority's current key."
    case .unsupportedAlgorithm:
      "The signature is not ECDSA with SHA-256 over P-256: ask for one that is."
    case .signatureMismatch:
      "The signature is invalid, the file was changed or signed by another key: download it again."
    case .notAPublicKey: "This is not a P-256 public key in PEM: check the file name."
    case .notAPrivateKey:
      "This is not a P-256 private key in PEM (SEC1 or PKCS#8): check the file name."
    case .unusableName: "A region, a key id or a version is empty or too long: give a shorter one."
    case .unusablePeriod: "The period ends before it starts: give an end that is not earlier."
    case .wrongSignerCount:
      "A key file needs 1 to \(KeyFileLimit.signatureCountMax) signing keys: change their number."
    default: "The key file was rejected."
    }
  }

  private static func reason(_ code: Int32) -> String {
    String(cString: strerror(code)).lowercased()
  }
}

extension KeyFileError {
  /// The error for a failed write with this `errno`.
  init(writing code: Int32) {
    self = FileError.isDiskFull(code) ? .diskFull : .cannotWrite(code)
  }
}
