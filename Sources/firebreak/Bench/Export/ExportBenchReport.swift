import DiagnosisKeyFile

/// What an export took.
struct ExportBenchReport: Encodable {
  let build = BuildKind.current
  let keys: Int
  let seconds: Double
  let peakMemoryMiB: Double
  /// Of the zip.
  let bytes: Int
  let deflateLevel = KeyFileWriter.deflateLevel
  let database = "sqlite"

  var text: String {
    """
    \(keys) keys from SQLite to a signed zip of \(bytes) bytes (deflate level \(deflateLevel))
    \(seconds) s, at most \(peakMemoryMiB) MiB
    """
  }

  private enum CodingKeys: CodingKey {
    case build, keys, seconds, peakMemoryMiB, bytes, deflateLevel, database
  }
}
