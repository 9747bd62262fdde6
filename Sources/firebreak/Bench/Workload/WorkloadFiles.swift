import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation

/// Writes a workload as files: signed key files, the public key, and the sightings as a CSV.
///
/// The key that signs is made here and forgotten. Whatever the size of the workload, one chunk of it is
/// in memory.
struct WorkloadFiles {
  static let keyID = "260"
  static let keyVersion = "v1"
  static let region = "PL"
  static let publicKeyName = "public.pem"
  static let sightingsName = "sightings.csv"

  /// The key files, in order.
  private(set) var keyFiles: [URL] = []
  /// The public half of the key that signed them, in PEM.
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

  /// Writes all keys: zips, or unzipped exports with their signatures beside them.
  mutating func writeKeys(
    of workload: MatchWorkload, unzipped: Bool, progress: (Int) -> Void
  ) throws {
    for (index, keys) in workload.files.enumerated() {
      keyFiles.append(
        try write(keys, of: workload, number: index + 1, unzipped: unzipped, progress: progress))
    }
  }

  /// Writes the public key and the sightings beside the keys, for other matchers.
  func writeSightings(of workload: MatchWorkload, progress: (Int) -> Void) throws {
    try Data(publicKeyPEM.utf8).write(to: try folder.place(of: Self.publicKeyName))
    let place = try folder.place(of: Self.sightingsName)
    try Data().write(to: place)
    let file = try FileHandle(forWritingTo: place)
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

  /// The public half as a phone is configured with it.
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
    let url = try folder.place(of: stem + (unzipped ? ".bin" : ".zip"))
    return try withoutActuallyEscaping(progress) { progress in
      let keys = numbers.lazy.compactMap { number in
        if number.isMultiple(of: Self.keysPerProgress) { progress(number) }
        return workload.key(number)
      }
      // No two files of a batch say the same period: a second apart, as Google's server does it.
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
