import ExposureKeys

@testable import ExposureNotification

/// A match whose sightings may be in any order.
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
