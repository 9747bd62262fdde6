import ArgumentParser

/// Where the matcher gets its keys from.
enum KeySource: String, CaseIterable, ExpressibleByArgument, Encodable {
  /// Batches in memory: matching alone.
  case memory
  /// An unzipped export: scanned and matched, the signature not looked at.
  case file
  /// A zip as a phone downloads it: inflated, checked (CRC), hashed, scanned, matched and verified.
  case zip
}
