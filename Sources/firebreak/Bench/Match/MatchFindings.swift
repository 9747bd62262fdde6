import ExposureKeys
import Foundation

/// What a matcher found, told so that it can be compared with what was planted.
struct MatchFindings {
  /// A key that was heard: its bytes in hex, the identifier's interval, the moment in Unix seconds.
  struct Found: Hashable {
    let key: String
    let interval: UInt32
    let second: Int
  }

  var keysRead = 0
  /// Keys that no sighting could match, by their time alone: they were not derived.
  var keysSkipped = 0
  var found: Set<Found> = []
  /// How many matches there were; more than are in `found` where one came twice.
  var count = 0

  /// Refuses findings that are not exactly what was planted in `workload`.
  func check(against workload: MatchWorkload) throws {
    let planted = workload.plantedMatches
    let missing = planted.subtracting(found).count
    let surplus = count - (planted.count - missing)
    guard keysRead == workload.keyCount, missing == 0, surplus == 0 else {
      throw CommandFailure(
        status: .no,
        sentence: "Of \(workload.keyCount) keys \(keysRead) were read; of \(planted.count) planted "
          + "matches \(missing) were not found, and \(surplus) were found that are none.")
    }
  }
}

extension MatchWorkload {
  /// All that a right matcher finds.
  var plantedMatches: Set<MatchFindings.Found> {
    Set((0..<sightingCount).compactMap(plantedMatch))
  }
}
