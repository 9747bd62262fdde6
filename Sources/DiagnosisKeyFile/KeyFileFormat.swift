/// What the reader is willing to carry; everything else is refused at the door.
///
/// See Documentation/KeyFiles.md 4 for where each figure comes from.
public enum KeyFileLimit {
  /// The whole file as it is downloaded, in bytes.
  public static let fileByteCountMax = 32 << 20
  /// `export.bin` after decompression, in bytes.
  public static let exportByteCountMax = 48 << 20
  /// `export.sig` after decompression, in bytes.
  public static let signatureFileByteCountMax = 16 << 10
  /// How many times larger than the zip its content may be. Keys are random and do not compress,
  /// so that an honest file stays under 3.
  public static let expansionMax = 20
  /// `export.bin` and `export.sig`.
  public static let entryCountMax = 2
  /// The zip's list of entries, in bytes: two short names and their dates.
  public static let zipDirectoryByteCountMax = 4 << 10
  /// Keys and revised keys of one file. Servers split at 500,000; half as many again is room enough.
  public static let keyCountMax = 750_000
  /// One key with all its fields, in bytes; 39 are in use.
  public static let keyMessageByteCountMax = 256
  /// All that is not a key: period, region, batch and signature infos, in bytes.
  public static let headerByteCountMax = 16 << 10
  /// Signatures, and signature infos.
  public static let signatureCountMax = 10
  /// The name of a region, in bytes of UTF-8.
  public static let regionByteCountMax = 64
  /// A verification key's id or version, in bytes of UTF-8.
  public static let verificationKeyNameByteCountMax = 64
  /// Keys handed out at once.
  public static let batchSizes = 1...65_536
  /// Bytes of a file held in memory at once.
  public static let chunkByteCount = 64 << 10
}

/// Constants of `export.bin`.
enum ExportFormat {
  /// The first 16 bytes, which name version 1.
  static let magic = Array("EK Export v1    ".utf8)
  /// Fields of the message other than keys.
  static let headerFields: ClosedRange<UInt64> = 1...6
  static let keyField: UInt64 = 7
  static let revisedKeyField: UInt64 = 8

  static func keyField(isRevised: Bool) -> UInt64 {
    isRevised ? revisedKeyField : keyField
  }
}

/// The two halves of a key file.
enum ExportPart: String, CaseIterable {
  /// The header and the keys.
  case export = "export.bin"
  /// The signatures over them.
  case signatures = "export.sig"

  /// How large the half may be, in bytes.
  var byteCountMax: Int {
    switch self {
    case .export: KeyFileLimit.exportByteCountMax
    case .signatures: KeyFileLimit.signatureFileByteCountMax
    }
  }
}
