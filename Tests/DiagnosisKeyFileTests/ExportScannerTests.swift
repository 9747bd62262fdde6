// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import SwiftProtobuf
import TestSupport
import Testing

@testable import DiagnosisKeyFile

@Suite("Export scanner")
struct ExportScannerTests {
  /// The result of scanning an export.
  private struct Scan: Equatable {
    var header: KeyFileHeader
    var keys: [ReadKey] = []
    var revisedKeys: [ReadKey] = []
  }

  /// Scans `export` in chunks of random sizes up to `chunkMax`.
  private func scan(
    _ export: [UInt8], chunkMax: Int, using generator: inout SeededGenerator
  ) throws -> Scan {
    var scanner = ExportScanner()
    var (keys, revisedKeys): ([ReadKey], [ReadKey]) = ([], [])
    var rest = export[...]
    while !rest.isEmpty {
      let chunk = Array(rest.prefix(Int.random(in: 1...chunkMax, using: &generator)))
      rest = rest.dropFirst(chunk.count)
      try chunk.withUnsafeBytes { bytes in
        try scanner.scan(bytes) { key, isRevised in
          if isRevised { revisedKeys.append(ReadKey(key)) } else { keys.append(ReadKey(key)) }
        }
      }
      #expect(scanner.unread.count <= KeyFileLimit.headerByteCountMax + 20)
    }
    return Scan(header: try scanner.finish(), keys: keys, revisedKeys: revisedKeys)
  }

  /// SwiftProtobuf's result for the same bytes.
  private func decoded(_ export: [UInt8]) throws -> Scan {
    let wire = try WireTemporaryExposureKeyExport(serializedBytes: Array(export.dropFirst(16)))
    return Scan(
      header: KeyFileHeader(wire: wire), keys: wire.keys.map(ReadKey.init(wire:)),
      revisedKeys: wire.revisedKeys.map(ReadKey.init(wire:)))
  }

  private func randomExport(using generator: inout SeededGenerator) throws -> [UInt8] {
    var wire = WireTemporaryExposureKeyExport()
    wire.startTimestamp = .random(in: 0 ... .max, using: &generator)
    wire.region = ["PL", "", "żółw"].randomElement(using: &generator) ?? ""
    if Bool.random(using: &generator) { wire.batchNum = .random(in: -1...3, using: &generator) }
    wire.signatureInfos = (0..<Int.random(in: 0...3, using: &generator)).map { number in
      .with { $0.verificationKeyID = "\(number)" }
    }
    wire.keys = randomKeys(using: &generator)
    wire.revisedKeys = randomKeys(using: &generator)
    return ExportFormat.magic + (try wire.serializedBytes() as [UInt8])
  }

  private func randomKeys(using generator: inout SeededGenerator) -> [WireTemporaryExposureKey] {
    (0..<Int.random(in: 0...12, using: &generator)).map { _ in
      var key = WireTemporaryExposureKey()
      func sometimes() -> Bool { Bool.random(using: &generator) }
      // Every second key has the common form, with short numbers too: the fast parser reads these.
      let isCommon = sometimes()
      func number() -> Int32 {
        guard isCommon else { return .random(in: .min ... .max, using: &generator) }
        let largest = Int32.max >> Int32.random(in: 0...30, using: &generator)
        return .random(in: 0...largest, using: &generator)
      }
      if isCommon || sometimes() {
        let count = isCommon || sometimes() ? 16 : Int.random(in: 0...40, using: &generator)
        key.keyData = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
      }
      if sometimes() { key.transmissionRiskLevel = number() }
      if sometimes() { key.rollingStartIntervalNumber = number() }
      if sometimes() { key.rollingPeriod = number() }
      if sometimes() { key.reportType = .confirmedClinicalDiagnosis }
      if sometimes() { key.daysSinceOnsetOfSymptoms = number() }
      if sometimes() { key.variantOfConcern = .highSeverity }
      return key
    }
  }

  @Test("For any chunk size, the scanner reads the same as SwiftProtobuf", arguments: 0..<150)
  func agrees(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let export = try randomExport(using: &generator)
    let expected = try decoded(export)
    for chunkMax in [1, 7, 1000] {
      #expect(try scan(export, chunkMax: chunkMax, using: &generator) == expected)
    }
  }

  /// An export with a few bytes after the magic changed, removed or inserted.
  private func spoiledExport(using generator: inout SeededGenerator) throws -> [UInt8] {
    var export = try randomExport(using: &generator)
    for _ in 0..<Int.random(in: 1...4, using: &generator) where export.count > 17 {
      let position = Int.random(in: 16..<export.count, using: &generator)
      switch Int.random(in: 0...2, using: &generator) {
      case 0: export[position] = .random(in: 0...255, using: &generator)
      case 1: export.remove(at: position)
      default: export.insert(.random(in: 0...255, using: &generator), at: position)
      }
    }
    return export
  }

  // In chunks of 50 bytes no key has the room after it that the fast parser needs; in chunks of 5,000 nearly
  // all have.
  @Test(
    "A corrupted export is rejected, or read as SwiftProtobuf reads it", arguments: 0..<400,
    [50, 5000])
  func mutated(seed: UInt64, chunkMax: Int) throws {
    var generator = SeededGenerator(seed: seed)
    let export = try spoiledExport(using: &generator)
    let scanned = try? scan(export, chunkMax: chunkMax, using: &generator)
    let expected = try? decoded(export)
    // The scanner may be stricter than SwiftProtobuf (groups, limits), but never read anything else.
    if let scanned { #expect(scanned == expected) }
  }

  @Test("The scanner rejects hardly any corrupted export that SwiftProtobuf reads")
  func strictness() throws {
    var (read, refused) = (0, 0)
    for seed in 0..<UInt64(1_000) {
      var generator = SeededGenerator(seed: seed)
      let export = try spoiledExport(using: &generator)
      guard (try? decoded(export)) != nil else { continue }
      let isRead = (try? scan(export, chunkMax: 5000, using: &generator)) != nil
      (read, refused) = (read + (isRead ? 1 : 0), refused + (isRead ? 0 : 1))
    }
    #expect(read > 30)
    #expect(refused < read / 20, "\(refused) refused, \(read) read")
  }

  @Test("Fields in any order are read, and unknown ones are skipped")
  func anyOrder() throws {
    var generator = SeededGenerator(seed: 3)
    let export = try randomExport(using: &generator)
    let expected = try decoded(export)
    var strange = ExportFormat.magic
    strange.appendField(99, [UInt8](repeating: 0xff, count: 100_000))
    for key in expected.revisedKeys { strange.appendField(8, key.encoded) }
    strange.appendField(50, -1)
    for key in expected.keys { strange.appendField(7, key.encoded) }
    strange += try expected.header.wire.serializedBytes() as [UInt8]
    #expect(try scan(strange, chunkMax: 5000, using: &generator) == expected)
  }

  @Test(
    "A key of exactly the size limit is read, one byte more is rejected", arguments: [-1, 0, 1])
  func keySize(difference: Int) throws {
    var filling: [UInt8] = []
    filling.appendField(15, [UInt8](repeating: 0, count: 256 + difference - 3))
    #expect(filling.count == KeyFileLimit.keyMessageByteCountMax + difference)
    var export = ExportFormat.magic
    export.appendField(7, filling)
    var generator = SeededGenerator(seed: 0)
    let keyCount = try? scan(export, chunkMax: 100, using: &generator).keys.count
    #expect(keyCount == (difference > 0 ? nil : 1))
  }

  @Test("An endless header is rejected before it fills the memory")
  func endlessHeader() throws {
    var export = ExportFormat.magic
    for _ in 0..<9000 { export.appendField(4, 1) }
    var generator = SeededGenerator(seed: 0)
    #expect(throws: KeyFileError.malformedExport) {
      try scan(export, chunkMax: 1000, using: &generator)
    }
  }

  @Test("750,000 keys are read and one more is rejected")
  func tooManyKeys() throws {
    var scanner = ExportScanner()
    let oneKey: [UInt8] = [0x3a, 0]
    let keys = Array(repeatElement(oneKey, count: KeyFileLimit.keyCountMax).joined())
    try (ExportFormat.magic + keys).withUnsafeBytes { try scanner.scan($0) { _, _ in } }
    #expect(scanner.keyCount == KeyFileLimit.keyCountMax)
    #expect(throws: KeyFileError.tooManyKeys) {
      try oneKey.withUnsafeBytes { try scanner.scan($0) { _, _ in } }
    }
  }

  @Test(
    "A key that no phone can have had is no diagnosis key",
    arguments: [
      KeyMessage(keyData: Array(0..<15)), KeyMessage(keyData: Array(0..<17)), KeyMessage(),
      KeyMessage(keyData: Array(0..<16), rollingPeriod: 0),
      KeyMessage(keyData: Array(0..<16), rollingPeriod: 145),
      KeyMessage(keyData: Array(0..<16), rollingStartIntervalNumber: -1),
      KeyMessage(keyData: Array(0..<16), transmissionRiskLevel: 9),
    ])
  func unusable(message: KeyMessage) {
    #expect(row(of: message) == nil)
  }

  @Test("Missing fields have the defaults of the format")
  func defaults() throws {
    let key = try #require(row(of: KeyMessage(keyData: Array(0..<16)))).diagnosisKey
    #expect((key.key.rollingStart.rawValue, key.key.rollingPeriod) == (0, 144))
    #expect((key.transmissionRiskLevel, key.reportType) == (0, nil))
    #expect(key.daysSinceOnsetOfSymptoms == nil && key.variantOfConcern == nil)
  }

  private func row(of message: KeyMessage) -> KeyRow? {
    message.encoded.withUnsafeBytes { bytes in KeyFields(bytes).flatMap { KeyRow($0) } }
  }
}
