// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The reason why a key file was rejected or could not be written.
public struct KeyFileError: Error, Hashable, Sendable {
  /// The kind of an error. Later versions may add kinds, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    fileprivate enum Kind: String {
      case cannotRead, cannotWrite, diskFull, notAKeyFile, damagedZip, wrongEntryCount
      case unexpectedEntry, duplicateEntry, notAPlainEntry, unsupportedCompression
      case encryptedEntry, linkedEntry, unusablePath, missingExport, tooLarge
      case expandsTooMuch, wrongExportVersion, malformedExport, tooManyKeys, malformedSignatures
      case tooManySignatures, signatureCountMismatch, wrongBatchNumbers, unsigned
      case noSignatureByTheseKeys, unsupportedAlgorithm, signatureMismatch, notAPublicKey
      case notAPrivateKey, cannotSign, unusableName, unusablePeriod, wrongSignerCount
    }

    fileprivate let kind: Kind

    /// The file or its folder could not be read; `systemError` says why.
    public static let cannotRead = Self(kind: .cannotRead)
    /// The file or its folder could not be written; `systemError` says why.
    public static let cannotWrite = Self(kind: .cannotWrite)
    /// No space is left on the disk.
    public static let diskFull = Self(kind: .diskFull)
    /// Neither a zip nor an export.
    public static let notAKeyFile = Self(kind: .notAKeyFile)
    /// The zip is truncated, changed or of a kind that no key server writes.
    public static let damagedZip = Self(kind: .damagedZip)
    /// The zip has more than `KeyFileLimit.entryCountMax` entries, or none.
    public static let wrongEntryCount = Self(kind: .wrongEntryCount)
    /// An entry has another name than `export.bin` or `export.sig`.
    public static let unexpectedEntry = Self(kind: .unexpectedEntry)
    /// Two entries have the same name.
    public static let duplicateEntry = Self(kind: .duplicateEntry)
    /// An entry is a folder, a link or encrypted.
    public static let notAPlainEntry = Self(kind: .notAPlainEntry)
    /// An entry is compressed by a method other than deflate: `compressionMethod`. Only tools report it.
    public static let unsupportedCompression = Self(kind: .unsupportedCompression)
    /// `export.bin` or `export.sig` is encrypted. Only tools report it.
    public static let encryptedEntry = Self(kind: .encryptedEntry)
    /// `export.bin` or `export.sig` is a symbolic link. Only tools report it.
    public static let linkedEntry = Self(kind: .linkedEntry)
    /// The path of `export.bin` is absolute or leads out of the zip's folder. Only tools report it.
    public static let unusablePath = Self(kind: .unusablePath)
    /// The zip holds no `export.bin`.
    public static let missingExport = Self(kind: .missingExport)
    /// The file or its content is larger than `KeyFileLimit` allows.
    public static let tooLarge = Self(kind: .tooLarge)
    /// The content is more than `KeyFileLimit.expansionMax` times as large as the zip.
    public static let expandsTooMuch = Self(kind: .expandsTooMuch)
    /// `export.bin` does not begin with the 16 bytes of version 1.
    public static let wrongExportVersion = Self(kind: .wrongExportVersion)
    /// `export.bin` is not a valid message.
    public static let malformedExport = Self(kind: .malformedExport)
    /// More than `KeyFileLimit.keyCountMax` keys.
    public static let tooManyKeys = Self(kind: .tooManyKeys)
    /// `export.sig` is not a valid message.
    public static let malformedSignatures = Self(kind: .malformedSignatures)
    /// More than `KeyFileLimit.signatureCountMax` signatures.
    public static let tooManySignatures = Self(kind: .tooManySignatures)
    /// The number of signature infos in `export.bin` differs from the number of signatures in `export.sig`.
    public static let signatureCountMismatch = Self(kind: .signatureCountMismatch)
    /// The batch number is outside 1...size, or export and signature have different ones.
    public static let wrongBatchNumbers = Self(kind: .wrongBatchNumbers)
    /// The file has no signature.
    public static let unsigned = Self(kind: .unsigned)
    /// No signature is by one of the given keys.
    public static let noSignatureByTheseKeys = Self(kind: .noSignatureByTheseKeys)
    /// The signature by one of the given keys is not ECDSA with SHA-256.
    public static let unsupportedAlgorithm = Self(kind: .unsupportedAlgorithm)
    /// The signature is not valid for these bytes and this key.
    public static let signatureMismatch = Self(kind: .signatureMismatch)
    /// Not a P-256 public key in PEM.
    public static let notAPublicKey = Self(kind: .notAPublicKey)
    /// Not a P-256 private key in PEM, SEC1 or PKCS#8.
    public static let notAPrivateKey = Self(kind: .notAPrivateKey)
    /// A key cannot sign, for example because its token is missing; `signingFault` says why.
    public static let cannotSign = Self(kind: .cannotSign)
    /// A region, key id or version that is empty or longer than `KeyFileLimit` allows.
    public static let unusableName = Self(kind: .unusableName)
    /// The period ends before it starts.
    public static let unusablePeriod = Self(kind: .unusablePeriod)
    /// No signer, or more than `KeyFileLimit.signatureCountMax`.
    public static let wrongSignerCount = Self(kind: .wrongSignerCount)

    /// The name of the code.
    public var description: String { kind.rawValue }
  }

  /// The kind of error.
  public let code: Code
  /// The `errno` of the codes `cannotRead` and `cannotWrite`, nil for the others.
  public let systemError: Int32?
  /// The number of the method in APPNOTE.TXT 4.4.5 of the code `unsupportedCompression`, nil for the others.
  public let compressionMethod: Int?
  /// The sentence of the key that cannot sign, for the code `cannotSign`, nil for the others.
  public let signingFault: String?

  private init(
    _ code: Code, systemError: Int32? = nil, compressionMethod: Int? = nil,
    signingFault: String? = nil
  ) {
    self.code = code
    self.systemError = systemError
    self.compressionMethod = compressionMethod
    self.signingFault = signingFault
  }

  /// The file or its folder could not be read, with this `errno`.
  public static func cannotRead(_ systemError: Int32) -> Self {
    Self(.cannotRead, systemError: systemError)
  }
  /// The file or its folder could not be written, with this `errno`.
  public static func cannotWrite(_ systemError: Int32) -> Self {
    Self(.cannotWrite, systemError: systemError)
  }
  /// No space is left on the disk.
  public static let diskFull = Self(.diskFull)
  /// Neither a zip nor an export.
  public static let notAKeyFile = Self(.notAKeyFile)
  /// The zip is truncated, changed or of a kind that no key server writes.
  public static let damagedZip = Self(.damagedZip)
  /// The zip has more than `KeyFileLimit.entryCountMax` entries, or none.
  public static let wrongEntryCount = Self(.wrongEntryCount)
  /// An entry has another name than `export.bin` or `export.sig`.
  public static let unexpectedEntry = Self(.unexpectedEntry)
  /// Two entries have the same name.
  public static let duplicateEntry = Self(.duplicateEntry)
  /// An entry is a folder, a link or encrypted.
  public static let notAPlainEntry = Self(.notAPlainEntry)
  /// An entry is compressed by this method, which is not deflate. Only tools report it.
  public static func unsupportedCompression(_ method: Int) -> Self {
    Self(.unsupportedCompression, compressionMethod: method)
  }
  /// `export.bin` or `export.sig` is encrypted. Only tools report it.
  public static let encryptedEntry = Self(.encryptedEntry)
  /// `export.bin` or `export.sig` is a symbolic link. Only tools report it.
  public static let linkedEntry = Self(.linkedEntry)
  /// The path of `export.bin` is absolute or leads out of the zip's folder. Only tools report it.
  public static let unusablePath = Self(.unusablePath)
  /// The zip holds no `export.bin`.
  public static let missingExport = Self(.missingExport)
  /// The file or its content is larger than `KeyFileLimit` allows.
  public static let tooLarge = Self(.tooLarge)
  /// The content is more than `KeyFileLimit.expansionMax` times as large as the zip.
  public static let expandsTooMuch = Self(.expandsTooMuch)
  /// `export.bin` does not begin with the 16 bytes of version 1.
  public static let wrongExportVersion = Self(.wrongExportVersion)
  /// `export.bin` is not a valid message.
  public static let malformedExport = Self(.malformedExport)
  /// More than `KeyFileLimit.keyCountMax` keys.
  public static let tooManyKeys = Self(.tooManyKeys)
  /// `export.sig` is not a valid message.
  public static let malformedSignatures = Self(.malformedSignatures)
  /// More than `KeyFileLimit.signatureCountMax` signatures.
  public static let tooManySignatures = Self(.tooManySignatures)
  /// The number of signature infos in `export.bin` differs from the number of signatures in `export.sig`.
  public static let signatureCountMismatch = Self(.signatureCountMismatch)
  /// The batch number is outside 1...size, or export and signature have different ones.
  public static let wrongBatchNumbers = Self(.wrongBatchNumbers)
  /// The file has no signature.
  public static let unsigned = Self(.unsigned)
  /// No signature is by one of the given keys.
  public static let noSignatureByTheseKeys = Self(.noSignatureByTheseKeys)
  /// The signature by one of the given keys is not ECDSA with SHA-256.
  public static let unsupportedAlgorithm = Self(.unsupportedAlgorithm)
  /// The signature is not valid for these bytes and this key.
  public static let signatureMismatch = Self(.signatureMismatch)
  /// Not a P-256 public key in PEM.
  public static let notAPublicKey = Self(.notAPublicKey)
  /// Not a P-256 private key in PEM, SEC1 or PKCS#8.
  public static let notAPrivateKey = Self(.notAPrivateKey)
  /// A key cannot sign; the text says why, and what to do.
  public static func cannotSign(_ fault: String) -> Self {
    Self(.cannotSign, signingFault: fault)
  }
  /// A region, key id or version that is empty or longer than `KeyFileLimit` allows.
  public static let unusableName = Self(.unusableName)
  /// The period ends before it starts.
  public static let unusablePeriod = Self(.unusablePeriod)
  /// No signer, or more than `KeyFileLimit.signatureCountMax`.
  public static let wrongSignerCount = Self(.wrongSignerCount)
}

extension KeyFileError: CustomStringConvertible {
  /// One sentence: what is wrong, and what to do. It contains nothing of the file's content.
  public var description: String {
    switch code.kind {
    case .cannotRead:
      "The file could not be read (\(reason)): check its name and its permissions."
    case .cannotWrite:
      "The file could not be written (\(reason)): check the folder and its permissions."
    case .diskFull: "The disk is full: free some space and try again."
    case .notAKeyFile: "This is neither a zip nor an export.bin: check the file name."
    case .damagedZip: "The zip is truncated or damaged: download it again."
    case .wrongEntryCount:
      "The zip has no entries or too many of them: ask its publisher for a valid one."
    case .unexpectedEntry:
      "The zip holds an entry that is neither export.bin nor export.sig: do not use this file."
    case .duplicateEntry: "The zip holds the same entry twice: do not use this file."
    case .notAPlainEntry:
      "The zip holds a folder, a link or an encrypted entry: do not use this file."
    case .encryptedEntry:
      "The zip is encrypted: unpack it with its password, and pack it again without one."
    case .linkedEntry: "The zip holds a link in place of a file: pack the file itself."
    case .unusablePath:
      "The path of export.bin is absolute or leads out of the zip: pack it again without the path."
    case .unsupportedCompression:
      "The zip is compressed with \(Self.compressionName(compressionMethod ?? 0)): pack it again with deflate."
    case .missingExport: "The zip holds no export.bin: ask its publisher for a valid one."
    case .tooLarge: "The file is larger than a key file may be: ask for smaller files."
    case .expandsTooMuch:
      "The zip expands to far more than keys can be compressed to: do not use this file."
    case .wrongExportVersion:
      "The export does not begin with \"EK Export v1\", it is of another version or was changed as text: ask for"
        + " version 1 of the format."
    case .malformedExport: "The export is truncated or malformed: download it again."
    default: signatureDescription
    }
  }

  private var signatureDescription: String {
    switch code.kind {
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
    case .cannotSign: signingFault ?? "A key cannot sign: check it."
    case .unusableName: "A region, a key id or a version is empty or too long: give a shorter one."
    case .unusablePeriod: "The period ends before it starts: give an end that is not earlier."
    case .wrongSignerCount:
      "A key file needs 1 to \(KeyFileLimit.signatureCountMax) signing keys: change their number."
    default: "The key file was rejected."
    }
  }

  /// The name of a compression method of a zip.
  private static func compressionName(_ method: Int) -> String {
    let names = [
      1: "shrink", 6: "implode", 9: "deflate64", 12: "bzip2", 14: "lzma", 93: "zstandard",
      95: "xz", 98: "ppmd",
    ]
    return names[method] ?? "method \(method)"
  }

  private var reason: String {
    String(cString: strerror(systemError ?? 0)).lowercased()
  }
}

extension KeyFileError {
  /// The error for a failed write with this `errno`.
  init(writing code: Int32) {
    self = FileError.isDiskFull(code) ? .diskFull : .cannotWrite(code)
  }
}
