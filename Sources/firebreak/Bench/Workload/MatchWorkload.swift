import ExposureKeys
import Foundation

/// The published keys and the sightings of a bench, each by its number.
///
/// Documentation/Performance.md 2. Nothing is held: any key and any sighting can be told at any
/// time, so a workload of any size takes no memory, and the same seed is the same workload.
struct MatchWorkload: Sendable {
  static let days = 14
  static let keysPerFile = 500_000
  /// One key in so many was heard.
  static let keysPerMatch = 10_000
  /// The first interval of the first day, 2020-08-26.
  static let firstInterval: UInt32 = 18_500 * IntervalNumber.perDay

  let keyCount: Int
  let sightingCount: Int
  let chance: NumberedChance

  /// Counts as `BenchLimit` allows them.
  init(keys: Int, sightings: Int, seed: UInt64) {
    keyCount = keys
    sightingCount = sightings
    chance = NumberedChance(seed: seed)
  }

  /// How many keys were heard: one at least, else finding nothing would pass for finding all.
  var plantedCount: Int { Self.plantedCount(ofKeys: keyCount) }

  static func plantedCount(ofKeys count: Int) -> Int { max(1, count / keysPerMatch) }
}

extension MatchWorkload {
  /// The numbers of the keys in each file.
  var files: [Range<Int>] {
    stride(from: 0, to: keyCount, by: Self.keysPerFile).map {
      $0..<min($0 + Self.keysPerFile, keyCount)
    }
  }

  /// The key with this number. In each file keys ascend, as a key server sorts them.
  func key(_ number: Int) -> DiagnosisKey? {
    TemporaryExposureKey(bytes: keyBytes(number), rollingStart: rollingStart(ofKey: number))
      .flatMap { key in
        let risk = chance.bits(.risk, number)
        return DiagnosisKey(
          key: key, transmissionRiskLevel: 1 + UInt8(risk % 8), reportType: .confirmedTest,
          daysSinceOnsetOfSymptoms: Int32(risk >> 8 & 15) - 3)
      }
  }

  func rollingStart(ofKey number: Int) -> IntervalNumber {
    IntervalNumber(
      rawValue: Self.firstInterval + UInt32(day(ofKey: number)) * IntervalNumber.perDay)
  }

  /// The day of the key: any fourteen in a row have each day once, in an order that changes.
  func day(ofKey number: Int) -> Int {
    let (row, place) = number.quotientAndRemainder(dividingBy: Self.days)
    let bits = chance.bits(.day, row)
    let step = Self.steps[Int(bits % UInt64(Self.steps.count))]
    return (step * place + Int(bits >> 32 % UInt64(Self.days))) % Self.days
  }

  /// What has no divisor in common with the number of days.
  private static let steps = [1, 3, 5, 9, 11, 13]

  private func keyBytes(_ number: Int) -> [UInt8] {
    let file = number / Self.keysPerFile * Self.keysPerFile
    let width = UInt64.max / UInt64(min(Self.keysPerFile, keyCount - file))
    let head = UInt64(number - file) * width + chance.bits(.keyHead, number) % width
    return Self.bytes(head, chance.bits(.keyTail, number))
  }

  static func bytes(_ head: UInt64, _ tail: UInt64) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
      let raw = UnsafeMutableRawBufferPointer(buffer)
      raw.storeBytes(of: head.bigEndian, toByteOffset: 0, as: UInt64.self)
      raw.storeBytes(of: tail.bigEndian, toByteOffset: 8, as: UInt64.self)
      count = 16
    }
  }
}
