import ExposureKeys
import Foundation
import SwiftProtobuf
import TestSupport
import Testing

@testable import DiagnosisKeyFile

/// Documentation/Matching.md 10.3.
@Suite("A key in 32 bytes")
struct KeyRowTests {
  @Test("A row is 32 bytes, and says all that the key says")
  func everyField() {
    #expect(MemoryLayout<KeyRow>.stride == 32)
    let keys = testKeys(500)
    #expect(Array(KeyBatch(keys)) == keys)
    #expect(KeyBatch(keys).rows.map(\.lastInterval) == keys.map { $0.key.rollingEnd.rawValue - 1 })
  }
}

/// Documentation/KeyFiles.md 2.3.
@Suite("The variant of concern in a key file")
struct VariantOfConcernTests {
  /// What a signed file, whose two keys have these bytes added, says of their variants.
  private func read(adding bytes: [UInt8]) throws -> [VariantOfConcern?] {
    let authority = Authority()
    let file = try RawKeyFile([authority]) { message in
      for index in message.keys.indices {
        try? message.keys[index].merge(serializedBytes: bytes)
      }
    }
    var variants: [VariantOfConcern?] = []
    let key = try authority.publicKey()
    _ = try onDisk(file.zip.bytes) {
      try $0.verified(by: [key], batchSize: 10) { batch in
        variants += batch.keys.map(\.variantOfConcern)
      }
    }
    return variants
  }

  @Test("Each number of the format has its meaning", arguments: 0..<5 as Range<UInt8>)
  func known(_ number: UInt8) throws {
    let variant = try #require(VariantOfConcern(rawValue: number))
    #expect(try read(adding: [0x40, number]) == [variant, variant])
  }

  @Test("A file that does not say leaves it unsaid")
  func absent() throws {
    #expect(try read(adding: []) == [nil, nil])
  }

  @Test(
    "A number that nobody knows yet is as good as none, and the key counts all the same",
    arguments: [
      [0x40, 5], [0x40, 0x80, 2], [0x40] + Array(repeating: 0xff, count: 9) + [1],
    ] as [[UInt8]])
  func ofTomorrow(_ field: [UInt8]) throws {
    #expect(try read(adding: field) == [nil, nil])
  }

  /// A key as it was before it had a variant.
  private struct KeyWithoutVariant {
    let key: TemporaryExposureKey
    let transmissionRiskLevel: UInt8
    let reportType: ReportType?
    let daysSinceOnsetOfSymptoms: Int32?
  }

  @Test("It makes a key in memory no larger than a key without it")
  func size() {
    #expect(MemoryLayout<DiagnosisKey>.size == MemoryLayout<KeyWithoutVariant>.size)
  }
}
