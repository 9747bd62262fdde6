import ExposureKeys
import Foundation

/// An encounter with another device: successive scans that received beacons of one key, without a long gap.
package struct ExposureIncident: Hashable, Sendable {
  /// The longest gap in seconds within one incident: two scans may miss a device.
  package static let longestGap: TimeInterval = 10 * 60
  /// Seconds between two scans. Half of it is added at each end of an incident.
  package static let scanInterval: TimeInterval = 5 * 60
  /// The longest duration in seconds that is reported to an app.
  package static let longestDuration = 30 * 60

  package let key: DiagnosisKey
  /// The attenuations in the order of time, each with its duration.
  package let spans: [Span]

  package struct Span: Hashable, Sendable {
    package let seconds: TimeInterval
    package let attenuation: Attenuation
  }

  /// Creates an incident; `scans` must be sorted by time and not empty.
  init(key: DiagnosisKey, scans: some Collection<MatchedScan>) {
    let times = scans.map(\.time.timeIntervalSince1970)
    let starts = times.prefix(1).map { $0 - Self.scanInterval / 2 } + times.dropFirst()
    let ends = times.dropFirst() + times.suffix(1).map { $0 + Self.scanInterval / 2 }
    self.key = key
    spans = zip(zip(starts, ends), scans).map { span, scan in
      Span(seconds: span.1 - span.0, attenuation: scan.attenuation)
    }
  }
}

extension ExposureIncident {
  /// The incidents of `match` in the order of time.
  package static func incidents(of match: KeyMatch) -> [ExposureIncident] {
    let scans = match.sightings.scans
    let starts = scans.indices.filter { index in
      index == 0 || scans[index].time.timeIntervalSince(scans[index - 1].time) > longestGap
    }
    return zip(starts, starts.dropFirst() + [scans.count]).map { start, end in
      ExposureIncident(key: match.key, scans: scans[start..<end])
    }
  }

  /// The duration in seconds, including half a scan interval before the first scan and after the last.
  package var exactDuration: TimeInterval { spans.reduce(0) { $0 + $1.seconds } }

  /// The duration in minutes, rounded up.
  package var minutes: Int { Int((exactDuration / 60).rounded(.up)) }

  /// The reported duration: seconds, rounded up to a multiple of `step` minutes, at most `longestDuration`.
  package func duration(step: Int = 1) -> Int {
    let steps = (minutes + step - 1) / step
    return min(steps * step * 60, Self.longestDuration)
  }

  /// The mean attenuation, weighted by duration.
  package var attenuation: Attenuation {
    let sum = spans.reduce(0) { $0 + $1.seconds * Double($1.attenuation.decibels) }
    let mean = (sum / exactDuration).rounded(.toNearestOrAwayFromZero)
    return Attenuation(decibels: UInt8(clamping: Int(mean)))
  }

  /// Seconds of the first `longestDuration` in each attenuation range, from near to far.
  package func durations(at thresholds: [UInt8]) -> [Int] {
    var rest = TimeInterval(Self.longestDuration)
    var seconds = [TimeInterval](repeating: 0, count: thresholds.count + 1)
    for span in spans {
      seconds[AttenuationRange.index(of: span.attenuation.decibels, thresholds: thresholds)] +=
        min(span.seconds, rest)
      rest -= min(span.seconds, rest)
    }
    return seconds.map { Int($0.rounded(.down)) }
  }
}

/// An exposure of version 1 with its score.
package struct ScoredIncident: Hashable, Sendable {
  /// Midnight UTC of the key's day.
  package var date = Date(timeIntervalSince1970: 0)
  /// Whole minutes in seconds, at most 1,800.
  package var duration = 0
  /// The mean attenuation, weighted by duration.
  package var attenuation = Attenuation(decibels: 0)
  /// Seconds in each attenuation range, from near to far.
  package var attenuationDurations: [Int] = []
  /// The key's level, 0...7.
  package var transmissionRiskLevel: UInt8 = 0
  package var diagnosisReportType = ENDiagnosisReportType.unknown
  package var daysSinceOnsetOfSymptoms: Int?
  package var score = RiskScore(fullRange: 0)

  package init() {}
}
