import ExposureKeys

@testable import ExposureNotification

/// A match without an order among its sightings.
struct NaiveMatch: Equatable {
  let key: DiagnosisKey
  private let counts: [MatchedSighting: Int]

  init(key: DiagnosisKey, sightings: [MatchedSighting]) {
    self.key = key
    counts = Dictionary(sightings.map { ($0, 1) }, uniquingKeysWith: +)
  }

  init(_ match: KeyMatch) {
    self.init(key: match.key, sightings: match.sightings)
  }
}
