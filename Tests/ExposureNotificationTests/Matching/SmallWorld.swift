import ExposureKeys
import Foundation
import TestSupport

@testable import ExposureNotification

/// A few keys and what a phone heard, with everything that may go wrong at an edge.
struct SmallWorld {
  private(set) var keys: [DiagnosisKey] = []
  private(set) var sightings: [ScannedSighting] = []
  private var dice: SeededGenerator

  /// The world of `seed`: up to `keyCount` keys of strangers, about as many heard.
  ///
  /// They lie around one of `bases`: some at the ends of what an interval number can say.
  init(
    seed: UInt64, keyCount: Int = 4,
    bases: [UInt32] = [0, 2_642_976, 2_642_976, 2_642_976, .max - 300]
  ) throws {
    dice = SeededGenerator(seed: seed)
    let base = try required(bases.randomElement(using: &dice))
    for _ in 0..<number(1...keyCount) { keys.append(try key(near: base)) }
    for _ in 0..<number(0...2) { try repeatOne() }
    for _ in 0..<number(0...keyCount) { hear(try required(keys.randomElement(using: &dice)).key) }
    for _ in 0..<number(0...3) { try hearStranger(near: base) }
    for _ in 0..<number(0...2) { try hearAgain() }
    sightings.shuffle(using: &dice)
  }

  private mutating func number<Number: FixedWidthInteger>(_ range: ClosedRange<Number>) -> Number {
    .random(in: range, using: &dice)
  }

  private mutating func bytes() -> [UInt8] { (0..<16).map { _ in number(0...255) } }

  /// A key of one of a few days, at midnight or not, of any period.
  private mutating func key(near base: UInt32) throws -> DiagnosisKey {
    let periods: [UInt32] = [1, 2, 143, 144, number(1...144)]
    let period = try required(periods.randomElement(using: &dice))
    let offset: UInt32 = 144 * number(0...2) + (number(0...1) == 0 ? 0 : number(0...143))
    let start = UInt32(min(UInt64(base) + UInt64(offset), UInt64(UInt32.max - period)))
    let key = TemporaryExposureKey(
      bytes: bytes(), rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period)
    return try required(
      DiagnosisKey(key: try required(key), transmissionRiskLevel: number(0...8)))
  }

  /// The same key again, or the same bytes with another start and period.
  private mutating func repeatOne() throws {
    let known = try required(keys.randomElement(using: &dice))
    let start = known.key.rollingStart.rawValue
    let earlier = start - min(start, number(0...20))
    let other = TemporaryExposureKey(
      bytes: known.key.secretBytes, rollingStart: IntervalNumber(rawValue: earlier),
      rollingPeriod: min(number(1...144), .max - earlier))
    keys.append(
      try required(DiagnosisKey(key: number(0...1) == 0 ? known.key : try required(other))))
  }

  /// A beacon of the key, in its time or just outside, heard at the edges of the tolerance too.
  private mutating func hear(_ key: TemporaryExposureKey) {
    let (first, last) = (key.rollingStart.rawValue, key.rollingEnd.rawValue - 1)
    let sents: [UInt32] = [first, last, first - min(first, 1), last + 1, number(first...last)]
    let sent = sents.randomElement(using: &dice) ?? first
    let schedule = KeySchedule(key)
    let identifier = schedule.identifier(at: IntervalNumber(rawValue: sent))
    let metadata = schedule.seal(BluetoothMetadata(transmitPower: 8), beside: identifier)
    for _ in 0..<number(1...3) {
      let distances: [Int] = [-13, -12, 0, 12, 13, number(-20...20)]
      let seconds: [TimeInterval] = [0, 599, 599.9]
      let distance = distances.randomElement(using: &dice) ?? 0
      let second = seconds.randomElement(using: &dice) ?? 0
      add(
        Advertisement(identifier: identifier, metadata: metadata),
        at: Double(Int(sent) + distance) * 600 + second)
    }
  }

  private mutating func hearStranger(near base: UInt32) throws {
    let advertisement = Advertisement(
      identifier: try required(RollingProximityIdentifier(bytes: bytes())),
      metadata: try required(AssociatedEncryptedMetadata(bytes: [1, 2, 3, 4])))
    let distance: Int = number(-500...500)
    add(advertisement, at: Double(Int(base) + distance) * 600)
  }

  /// The same beacon again, somewhere else in time.
  private mutating func hearAgain() throws {
    guard let known = sightings.randomElement(using: &dice)?.sighting else { return }
    let distance: Int = number(-90_000...90_000)
    add(known.advertisement, at: known.time.timeIntervalSince1970 + Double(distance))
  }

  private mutating func add(_ advertisement: Advertisement, at second: TimeInterval) {
    sightings.append(
      ScannedSighting(
        Sighting(
          advertisement: advertisement, time: Date(timeIntervalSince1970: second),
          signalStrength: number(-90 ... -30))))
  }
}
