// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation

@testable import ExposureNotification

/// The reference implementation: compares all pairs with swift-crypto and no index.
struct NaiveMatcher {
  let sightings: [ScannedSighting]

  /// The keys with a sighting, each as often as it occurs.
  func matches(of keys: [DiagnosisKey]) -> [NaiveMatch] {
    let found = Dictionary(grouping: sightings, by: \.sighting.advertisement.identifier)
    return keys.compactMap { key in
      let schedule = KeySchedule(key.key)
      var explained: [MatchedSighting] = []
      for number in key.key.rollingStart.rawValue..<key.key.rollingEnd.rawValue {
        let interval = IntervalNumber(rawValue: number)
        let identifier = schedule.identifier(at: interval)
        for scanned in found[identifier] ?? [] where isNear(scanned, interval) {
          let metadata = schedule.open(
            scanned.sighting.advertisement.metadata, beside: identifier)
          explained.append(MatchedSighting(scanned, sentIn: interval, metadata: metadata))
        }
      }
      return explained.isEmpty ? nil : NaiveMatch(key: key, sightings: explained)
    }
  }

  private func isNear(_ scanned: ScannedSighting, _ interval: IntervalNumber) -> Bool {
    let number = (scanned.sighting.time.timeIntervalSince1970 / 600).rounded(.down)
    guard number >= 0, number <= Double(UInt32.max) else { return false }
    return Int(interval.rawValue) - 12 <= Int(number) && Int(number) < Int(interval.rawValue) + 13
  }
}

/// A match that ignores the order of sightings in comparisons.
struct NaiveMatch: Equatable {
  let key: DiagnosisKey
  let sightings: [MatchedSighting]
  private let counts: [MatchedSighting: Int]

  init(key: DiagnosisKey, sightings: [MatchedSighting]) {
    self.key = key
    self.sightings = sightings
    counts = Dictionary(sightings.map { ($0, 1) }, uniquingKeysWith: +)
  }

  init(_ match: KeyMatch) {
    self.init(key: match.key, sightings: match.sightings)
  }

  static func == (left: NaiveMatch, right: NaiveMatch) -> Bool {
    left.key == right.key && left.counts == right.counts
  }
}
