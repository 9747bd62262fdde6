// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import SwiftProtobuf
import Testing

@testable import DiagnosisKeyFile

@Suite("Key field encoder")
struct KeyFieldEncoderTests {
  /// The fields as SwiftProtobuf encodes them.
  private func reference(_ keys: [DiagnosisKey], isRevised: Bool) throws -> [UInt8] {
    try WireTemporaryExposureKeyExport.with {
      let messages = keys.map { key in
        WireTemporaryExposureKey.with {
          $0.keyData = Data(key.key.secretBytes)
          if key.transmissionRiskLevel != 0 {
            $0.transmissionRiskLevel = Int32(key.transmissionRiskLevel)
          }
          if key.key.rollingStart.rawValue != 0 {
            $0.rollingStartIntervalNumber = Int32(key.key.rollingStart.rawValue)
          }
          if key.key.rollingPeriod != 144 { $0.rollingPeriod = Int32(key.key.rollingPeriod) }
          if let type = key.reportType {
            $0.reportType = .init(rawValue: Int(type.rawValue)) ?? .unknown
          }
          if let days = key.daysSinceOnsetOfSymptoms { $0.daysSinceOnsetOfSymptoms = days }
          if let variant = key.variantOfConcern {
            $0.variantOfConcern = .init(rawValue: Int(variant.rawValue)) ?? .variantUnknown
          }
        }
      }
      if isRevised { $0.revisedKeys = messages } else { $0.keys = messages }
    }.serializedBytes()
  }

  private func encoded(
    _ keys: [DiagnosisKey], isRevised: Bool, capacity: Int = 1 << 16
  ) -> [UInt8] {
    var encoder = KeyFieldEncoder(capacity: capacity)
    var bytes: [UInt8] = []
    for key in keys {
      if encoder.isFull { encoder.empty { bytes += $0 } }
      let isWritten = encoder.append(key, isRevised: isRevised)
      #expect(isWritten)
    }
    encoder.empty { bytes += $0 }
    return bytes
  }

  @Test(
    "Keys with all fields and without are encoded byte by byte like SwiftProtobuf",
    arguments: [false, true])
  func sameBytes(isRevised: Bool) throws {
    let keys = testKeys(2_000)
    let expected = try reference(keys, isRevised: isRevised)
    #expect(encoded(keys, isRevised: isRevised) == expected)
    #expect(encoded(keys, isRevised: isRevised, capacity: 1) == expected)
  }

  @Test(
    "The smallest and largest values are encoded like SwiftProtobuf",
    arguments: [
      (UInt32(0), UInt32(1), UInt8(0), Int32(0)), (1, 143, 8, -14), (127, 144, 1, 14),
      (128, 127, 4, Int32.min), (0x7fff_ff00, 128, 8, Int32.max),
    ])
  func edges(start: UInt32, period: UInt32, risk: UInt8, days: Int32) throws {
    for type in ReportType.allCases {
      let key = try #require(
        TemporaryExposureKey(
          bytes: [UInt8](repeating: 0xff, count: 16), rollingStart: IntervalNumber(rawValue: start),
          rollingPeriod: period
        ).flatMap {
          DiagnosisKey(
            key: $0, transmissionRiskLevel: risk, reportType: type, daysSinceOnsetOfSymptoms: days)
        })
      let expected = try reference([key], isRevised: false)
      #expect(encoded([key], isRevised: false) == expected)
    }
  }

  @Test("A start beyond the format's 31 bits is rejected, and nothing of the key is written")
  func start() throws {
    let key = try #require(
      TemporaryExposureKey(
        bytes: [UInt8](repeating: 1, count: 16),
        rollingStart: IntervalNumber(rawValue: 0x8000_0000)
      ).flatMap { DiagnosisKey(key: $0) })
    var encoder = KeyFieldEncoder(capacity: 100)
    let isWritten = encoder.append(key, isRevised: false)
    #expect(!isWritten)
    #expect(encoder.count == 0)
  }
}
