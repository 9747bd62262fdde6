// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import TestSupport
import Testing

@testable import ServerOperations

/// The copies of a key file in the folders of several exports.
@Suite struct ExportCopiesTests {
  private let folder: TemporaryFolder
  private let signer: KeyFileSigner

  init() throws {
    folder = try TemporaryFolder()
    signer = try KeyFileSigner(
      privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation, keyID: "260", keyVersion: "v1")
  }

  private static let hour: Int64 = 3_600
  private static let start: Int64 = 1_800_000_000

  private static func export(_ root: String, _ region: String, hours: Int64) -> ExportConfiguration
  {
    var export = ExportConfiguration(filenameRoot: root, region: region)
    export.periodSeconds = Int(hours * hour)
    return export
  }

  private static let exports = [
    export("", "PL", hours: 4), export("PL", "PL", hours: 4), export("EU", "EU", hours: 2),
  ]

  /// Writes a file with the keys of these bytes, from and until an hour after the start.
  private func write(
    _ root: String, _ hours: Range<Int64>, edition: Int = 1, _ keys: [UInt8]
  ) throws -> KeyFileHash {
    let (start, end) = (
      Self.start + hours.lowerBound * Self.hour, Self.start + hours.upperBound * Self.hour
    )
    let own = root.isEmpty ? folder.url : folder.path(root)
    try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
    let name = try #require(KeyFileName(start: start, end: end, edition: edition))
    let file = own.appendingPathComponent(name.text)
    let day = try #require(IntervalNumber(Date(timeIntervalSince1970: 1_799_971_200)))
    let diagnosed = try keys.map { byte in
      let bytes = [UInt8](repeating: byte, count: 16)
      let key = try #require(TemporaryExposureKey(bytes: bytes, rollingStart: day))
      return try #require(DiagnosisKey(key: key))
    }
    try KeyFileWriter.write(
      to: file, start: UInt64(start), end: UInt64(end), region: root.isEmpty ? "PL" : root,
      keys: diagnosed, signers: [signer])
    return try #require(KeyFileHash(ofFile: file))
  }

  private func copies(of hash: KeyFileHash) -> Set<KeyFileHash> {
    Set((copies(ofEach: [hash])[hash] ?? []).map(\.hash))
  }

  private func copies(ofEach hashes: Set<KeyFileHash>) -> [KeyFileHash: [KeyFileCopy]] {
    ExportFiles().copies(ofEach: hashes, among: Self.exports, in: folder.url)
  }

  @Test("Copies have the same region and period, or share a key in the same time, in every export")
  func copies() throws {
    let chosen = try write("", 0..<4, [1, 2, 200])
    // The same keys with other padding, and after the file was written again.
    let copy = try write("PL", 0..<4, edition: 2, [1, 2, 201])
    let (early, late) = (try write("EU", 0..<2, [1, 9, 202]), try write("EU", 2..<4, [2, 203]))
    let unrelated = try write("EU", 4..<6, [1, 204])
    let next = try write("", 4..<8, [3, 205])
    #expect(copies(of: chosen) == [chosen, copy, early, late])
    #expect(copies(of: early) == [chosen, copy, early])
    #expect(copies(of: next) == [next] && copies(of: unrelated) == [unrelated])
    // Padding alone is no shared key, but the same file of another export.
    let empty = try write("", 8..<12, [210])
    let padding = try write("PL", 8..<12, [211])
    _ = try write("EU", 8..<10, [212])
    #expect(copies(of: empty) == [empty, padding])
    let unknown = try #require(KeyFileHash(hex: String(repeating: "0a", count: 32)))
    #expect(copies(of: unknown).isEmpty)
    let several = copies(ofEach: [early, next, unknown]).mapValues { Set($0.map(\.hash)) }
    #expect(several == [early: [chosen, copy, early], next: [next]])
  }

  @Test("A damaged file is still withdrawn with the others of its region and period")
  func damaged() throws {
    let chosen = try write("", 0..<4, [1])
    _ = try write("PL", 0..<4, [1])
    let copies = try FileManager.default.contentsOfDirectory(
      at: folder.path("PL"), includingPropertiesForKeys: nil)
    let file = try #require(copies.first)
    try Data("damaged".utf8).write(to: file)
    let damaged = try #require(KeyFileHash(ofFile: file))
    #expect(self.copies(of: chosen) == [chosen, damaged])
  }
}
