import ExposureKeys
import ExposureNotification
import Foundation

extension MatchWorkload {
  /// All sightings, in the order of time.
  var sightings: some Sequence<Sighting> {
    (0..<sightingCount).lazy.map(sighting)
  }

  /// The sighting with this number: a stranger's, or one that a planted key explains.
  func sighting(_ number: Int) -> Sighting {
    if let planted = plantedSighting(number) { return planted }
    let identifier = Self.bytes(
      chance.bits(.identifierHead, number), chance.bits(.identifierTail, number))
    let metadata = Self.bytes(0, chance.bits(.metadata, number)).suffix(4)
    guard let identifier = RollingProximityIdentifier(bytes: identifier),
      let metadata = AssociatedEncryptedMetadata(bytes: metadata)
    else { preconditionFailure("16 and 4 bytes were refused") }
    return sighting(
      number, Advertisement(identifier: identifier, metadata: metadata), at: second(number))
  }

  /// The key that was heard as the sighting `number`; nil where it is a stranger's.
  func plantedKey(ofSighting number: Int) -> Int? {
    // Planted sightings lie in the middle of as many equal parts as there are.
    func part(_ number: Int) -> Int {
      (2 * number * plantedCount + sightingCount) / (2 * sightingCount)
    }
    guard part(number) < part(number + 1) else { return nil }
    return plantedKey(part(number), onDay: Int(second(number)) / Self.secondsPerDay)
  }

  /// Keys come from as many equal parts, too. Within two rows of days one has the day of the sighting,
  /// unless the part is smaller than that.
  private func plantedKey(_ planted: Int, onDay wanted: Int) -> Int {
    let first = planted * keyCount / plantedCount
    let count = (planted + 1) * keyCount / plantedCount - first
    let start = chance.number(.plantedKey, planted, below: count)
    let near = (0..<2 * Self.days).lazy.map { first + (start + $0) % count }
    return near.first { day(ofKey: $0) == wanted } ?? first + start
  }

  private func plantedSighting(_ number: Int) -> Sighting? {
    guard let (key, sent) = planted(number) else { return nil }
    let schedule = KeySchedule(key)
    let identifier = schedule.identifier(at: sent)
    let metadata = schedule.seal(BluetoothMetadata(transmitPower: 8), beside: identifier)
    // Where no key of the part has the sighting's day, the sighting follows the key.
    let isNear = sent.distance(to: heard(number)) <= Matcher.toleranceIntervals
    let moment =
      isNear ? second(number) : UInt64(sent.date.timeIntervalSince1970) - Self.firstSecond
    return sighting(number, Advertisement(identifier: identifier, metadata: metadata), at: moment)
  }

  /// The key that was heard as the sighting `number` and the interval it was sent in; nil where it
  /// is a stranger's.
  private func planted(_ number: Int) -> (key: TemporaryExposureKey, sent: IntervalNumber)? {
    guard let key = plantedKey(ofSighting: number).flatMap(key)?.key else { return nil }
    return (key, interval(of: key, near: heard(number).rawValue, number))
  }

  /// What a right matcher finds of the sighting `number`; nil where it is a stranger's.
  func plantedMatch(_ number: Int) -> MatchFindings.Found? {
    planted(number).map { key, sent in
      MatchFindings.Found(
        key: key.secretBytes.lowerCaseHex, interval: sent.rawValue,
        second: Int(sighting(number).time.timeIntervalSince1970))
    }
  }

  private func heard(_ number: Int) -> IntervalNumber {
    IntervalNumber(
      rawValue: Self.firstInterval + UInt32(second(number) / UInt64(IntervalNumber.seconds)))
  }

  /// An interval of `key` up to two hours before or after it was heard.
  private func interval(
    of key: TemporaryExposureKey, near heard: UInt32, _ number: Int
  ) -> IntervalNumber {
    let reach = Matcher.toleranceIntervals
    let moved =
      heard - reach + UInt32(chance.number(.plantedInterval, number, below: 2 * Int(reach) + 1))
    let first = key.rollingStart.rawValue
    return IntervalNumber(rawValue: min(max(moved, first), key.rollingEnd.rawValue - 1))
  }

  private func sighting(
    _ number: Int, _ advertisement: Advertisement, at second: UInt64
  ) -> Sighting {
    Sighting(
      advertisement: advertisement,
      time: Date(timeIntervalSince1970: TimeInterval(Self.firstSecond + second)),
      signalStrength: -45 - Int8(chance.number(.strength, number, below: 50)))
  }

  /// When a sighting was made, in seconds from the first day's start: at any moment of its share.
  private func second(_ number: Int) -> UInt64 {
    let all = UInt64(Self.days * Self.secondsPerDay) << 20
    let share = all / UInt64(sightingCount)
    return (UInt64(number) * share + chance.bits(.moment, number) % share) >> 20
  }

  static let secondsPerDay = 86_400
  static let firstSecond = UInt64(firstInterval) * UInt64(IntervalNumber.seconds)
}
