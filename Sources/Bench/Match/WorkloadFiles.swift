import ArgumentParser
import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import Terminal

/// Writes a workload as files: signed key files, the public key, and the sightings as a CSV.
///
/// The signing key is generated and not stored. Memory does not grow with the workload.
struct WorkloadFiles {
  static let keyID = "260"
  static let keyVersion = "v1"
  static let region = "PL"
  static let publicKeyName = "public.pem"
  static let sightingsName = "sightings.csv"

  /// The key files, in order.
  private(set) var keyFiles: [URL] = []
  /// The public key of the signatures, in PEM.
  let publicKeyPEM: String

  private let folder: BenchFolder
  private let signer: KeyFileSigner

  init(in folder: BenchFolder) throws {
    self.folder = folder
    signer = try KeyFileSigner(
      privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation, keyID: Self.keyID,
      keyVersion: Self.keyVersion)
    publicKeyPEM = signer.publicKeyPEM
  }

  /// Writes all keys as zips, or as unzipped exports with detached signatures.
  mutating func writeKeys(
    of workload: MatchWorkload, unzipped: Bool, progress: (Int) -> Void
  ) throws {
    for (index, keys) in workload.files.enumerated() {
      keyFiles.append(
        try write(keys, of: workload, number: index + 1, unzipped: unzipped, progress: progress))
    }
  }

  /// Writes the public key and the sightings, for other matchers.
  func writeSightings(of workload: MatchWorkload, progress: (Int) -> Void) throws {
    try Data(publicKeyPEM.utf8).write(to: try folder.newFile(Self.publicKeyName))
    let sightings = try folder.newFile(Self.sightingsName)
    try Data().write(to: sightings)
    let file = try FileHandle(forWritingTo: sightings)
    defer { try? file.close() }
    var text = SightingsCSV.header + "\n"
    for (count, sighting) in workload.sightings.enumerated() {
      text += SightingsCSV.row(sighting) + "\n"
      guard text.utf8.count >= Self.chunkByteCount else { continue }
      try file.write(contentsOf: Data(text.utf8))
      text = ""
      progress(count)
    }
    try file.write(contentsOf: Data(text.utf8))
  }

  /// The public key in the form of a phone's configuration.
  var verificationKey: VerificationPublicKey {
    get throws {
      try VerificationPublicKey(
        keyID: Self.keyID, keyVersion: Self.keyVersion, publicKeyPEM: publicKeyPEM)
    }
  }

  private static let chunkByteCount = 64 << 10

  private func write(
    _ numbers: Range<Int>, of workload: MatchWorkload, number: Int, unzipped: Bool,
    progress: (Int) -> Void
  ) throws -> URL {
    let stem = "keys-" + String(repeating: "0", count: max(0, 5 - "\(number)".count)) + "\(number)"
    let url = try folder.newFile(stem + (unzipped ? ".bin" : ".zip"))
    return try withoutActuallyEscaping(progress) { progress in
      let keys = numbers.lazy.compactMap { number in
        if number.isMultiple(of: Self.keysPerProgress) { progress(number) }
        return workload.key(number)
      }
      // Files of one batch have different end times, as those of Google's server.
      let start = MatchWorkload.firstSecond
      let end = start + UInt64(MatchWorkload.days * MatchWorkload.secondsPerDay + number)
      if unzipped {
        try KeyFileWriter.writePair(
          to: url, start: start, end: end, region: Self.region, keys: keys, signers: [signer])
      } else {
        try KeyFileWriter.write(
          to: url, start: start, end: end, region: Self.region, keys: keys, signers: [signer])
      }
      return url
    }
  }

  private static let keysPerProgress = 20_000
}

/// The source of the matcher's keys.
enum KeySource: String, CaseIterable, ExpressibleByArgument, Encodable {
  /// Batches in memory: matching only.
  case memory
  /// An unzipped export: scanned and matched without checking the signature.
  case file
  /// A zip as a phone downloads it: inflated, CRC checked, hashed, scanned, matched and verified.
  case zip
}
