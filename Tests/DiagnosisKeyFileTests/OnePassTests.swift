// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import DiagnosisKeyFile

@Suite("Reading in one pass")
struct OnePassTests {
  /// A source that counts its reads.
  private final class CountedSource: ExportSource {
    private let source: any ExportSource
    private(set) var passes = 0
    private(set) var byteCount = 0
    private(set) var hash = SHA256()

    init(_ source: any ExportSource) {
      self.source = source
    }

    func read(_ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void) throws {
      passes += 1
      try source.read { part, chunk in
        if part == .export {
          byteCount += chunk.count
          hash.update(bufferPointer: chunk)
        }
        try receive(part, chunk)
      }
    }
  }

  private let folder: TemporaryFolder
  private let source: CountedSource
  private let written: KeyFileSummary
  private let keys = testKeys(20_000)

  init() throws {
    folder = try TemporaryFolder()
    let zip = folder.path("1.zip")
    written = try KeyFileWriter.write(
      to: zip, start: 1_600_000_000, end: 1_600_014_400, region: "PL", keys: keys,
      signers: [try Authority().signer()])
    source = CountedSource(try ZipSource.source(at: zip))
  }

  @Test("Keys are passed on while the export is hashed, and the digest covers the same bytes")
  func run() throws {
    var read: [DiagnosisKey] = []
    var hashed: [Int] = []
    let reading = try ExportPass.run(over: source, batchSize: 1_000) { batch in
      read += batch.keys
      hashed.append(source.byteCount)
    }
    #expect(source.passes == 1)
    #expect(source.byteCount == written.exportByteCount)
    #expect(reading.digest == source.hash.finalize())
    #expect(try reading.facts.get() == written)
    #expect(read == keys)
    // The first batch arrives long before the last byte.
    #expect(hashed.first ?? .max <= source.byteCount / 2)
    #expect(Set(hashed).count > 1)
  }

  @Test("A scan without hashing takes one pass as well")
  func scan() throws {
    var count = 0
    let scanned = try ExportPass.scan(source, batchSize: 1_000) { count += $0.keys.count }
    #expect((source.passes, source.byteCount) == (1, written.exportByteCount))
    #expect((scanned, count) == (keys.count, keys.count))
  }
}
