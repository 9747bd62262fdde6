// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import SwiftProtobuf
import TestSupport
import Testing

@testable import DiagnosisKeyFile

@Suite("A key in 32 bytes")
struct KeyRowTests {
  @Test("A row has 32 bytes and keeps all fields of the key")
  func everyField() {
    #expect(MemoryLayout<KeyRow>.stride == 32)
    let keys = testKeys(500)
    #expect(Array(KeyBatch(keys)) == keys)
    #expect(KeyBatch(keys).rows.map(\.lastInterval) == keys.map { $0.key.rollingEnd.rawValue - 1 })
  }
}

@Suite("Variant of concern in a key file")
struct VariantOfConcernTests {
  /// The variants in a signed file whose two keys have these bytes added.
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

  @Test("Each number of the format is read as its variant", arguments: 0..<5 as Range<UInt8>)
  func known(_ number: UInt8) throws {
    let variant = try #require(VariantOfConcern(rawValue: number))
    #expect(try read(adding: [0x40, number]) == [variant, variant])
  }

  @Test("A missing variant is read as nil")
  func absent() throws {
    #expect(try read(adding: []) == [nil, nil])
  }

  @Test(
    "An unknown number is read as nil, and the key is still valid",
    arguments: [
      [0x40, 5], [0x40, 0x80, 2], [0x40] + Array(repeating: 0xff, count: 9) + [1],
    ] as [[UInt8]])
  func ofTomorrow(_ field: [UInt8]) throws {
    #expect(try read(adding: field) == [nil, nil])
  }

  /// A diagnosis key without a variant.
  private struct KeyWithoutVariant {
    let key: TemporaryExposureKey
    let transmissionRiskLevel: UInt8
    let reportType: ReportType?
    let daysSinceOnsetOfSymptoms: Int32?
  }

  @Test("A key with a variant takes no more memory than one without")
  func size() {
    #expect(MemoryLayout<DiagnosisKey>.size == MemoryLayout<KeyWithoutVariant>.size)
  }
}
