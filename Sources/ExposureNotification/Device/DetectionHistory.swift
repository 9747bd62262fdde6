import Foundation

/// What limits the next detection: the calls, files and maps of those before.
///
/// Documentation/Framework.md 6.1 and 6.6.
struct DetectionHistory: Equatable, Sendable {
  var quota = DetectionQuota()
  var files = KeyFileQuota()
  var map = MapHistory()

  /// Counts `call`.
  ///
  /// - Throws: `.rateLimited` where it is too much; then nothing is counted.
  mutating func take(_ call: DetectionCall) throws(ENError) {
    var next = self
    if let map = call.map {
      guard next.map.take(map, at: call.time, isFree: call.changesMapFreely) else {
        throw ENError(.rateLimited, explanation: Self.mapChangedTwice)
      }
    }
    let isWithin =
      switch call.limit {
      case .calls(let limit): next.quota.take(at: call.time, limit: limit)
      case .newFiles(let digests, let limit):
        next.files.take(digests, at: call.time, limit: limit)
      }
    guard isWithin else { throw ENError(.rateLimited) }
    self = next
  }

  private static let mapChangedTwice = """
    infectiousnessForDaysSinceOnsetOfSymptoms may change once a week; go on with the map used last.
    """
}
