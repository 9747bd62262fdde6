import Foundation
import World

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

extension KeyFileError: CustomStringConvertible {
  /// One sentence: what is wrong, and what to do. Nothing of the file's content is in it.
  public var description: String {
    switch self {
    case .cannotRead(let code):
      "The file could not be read (\(Self.reason(code))): check its name and its rights."
    case .cannotWrite(let code):
      "The file could not be written (\(Self.reason(code))): check the folder and its rights."
    case .diskFull: "The disk is full: make room and try again."
    case .notAKeyFile: "This is neither a zip nor an export.bin: check which file was meant."
    case .damagedZip: "The zip is cut off or damaged: download it again."
    case .wrongEntryCount:
      "A key file holds export.bin and export.sig and nothing else: ask who made it for another."
    case .unexpectedEntry:
      "The zip holds an entry that is neither export.bin nor export.sig: do not use this file."
    case .duplicateEntry: "The zip holds the same entry twice: do not use this file."
    case .notAPlainEntry:
      "The zip holds a folder, a link or an encrypted entry: do not use this file."
    case .missingExport: "The zip holds no export.bin: ask who made it for another."
    case .tooLarge: "The file is larger than any key file may be: ask for smaller ones."
    case .expandsTooMuch:
      "The zip holds far more than keys can be compressed to: do not use this file."
    case .wrongExportVersion:
      "The export does not begin with \"EK Export v1\": ask for version 1 of the format."
    case .malformedExport: "The export is cut off or malformed: download it again."
    default: signatureDescription
    }
  }

  private var signatureDescription: String {
    switch self {
    case .tooManyKeys:
      "The file holds more than \(KeyFileLimit.keyCountMax) keys: ask for smaller files."
    case .malformedSignatures: "The signatures are cut off or malformed: download the file again."
    case .tooManySignatures:
      "The file has more than \(KeyFileLimit.signatureCountMax) signatures: sign it with fewer keys."
    case .signatureCountMismatch:
      "The export announces another number of signatures than it has: ask who made it for another."
    case .wrongBatchNumbers:
      "The batch numbers make no sense: ask for files that stand alone, batch 1 of 1."
    case .unsigned: "The file is not signed: take keys only from an authority that signs them."
    case .noSignatureByTheseKeys:
      "No signature has the id and version of a key you trust: fetch the authority's current key."
    case .unsupportedAlgorithm:
      "The signature is not ECDSA with SHA-256 over P-256: ask for one that is."
    case .signatureMismatch:
      "The signature does not hold, the file was changed or signed by another: download it again."
    case .notAPublicKey: "This is no P-256 public key in PEM: check which file was meant."
    case .notAPrivateKey:
      "This is no P-256 private key in PEM (SEC1 or PKCS#8): check which file was meant."
    case .unusableName: "A region, a key id or a version is empty or too long: give a short one."
    case .unusablePeriod: "The period ends before it starts: give an end that is not earlier."
    case .wrongSignerCount:
      "A key file takes 1 to \(KeyFileLimit.signatureCountMax) signing keys: give as many."
    default: "The key file was refused."
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
