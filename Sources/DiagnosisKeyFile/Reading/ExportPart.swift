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
