import ExposureKeys
import Foundation

/// One stay near another phone: sightings of one key without a long gap.
///
/// Documentation/RiskScoring.md 2.
package struct ExposureIncident: Hashable, Sendable {
  /// The longest gap within one incident, in seconds: two scans may miss a phone.
  package static let longestGap: TimeInterval = 10 * 60
  /// How often a phone scans, in seconds. Half of it belongs to each end of an incident.
  package static let scanInterval: TimeInterval = 5 * 60
  /// The longest duration that an app is told, in seconds.
  package static let longestDuration = 30 * 60

  /// The key that was heard.
  package let key: DiagnosisKey
  /// For how long which attenuation held, in the order of time.
  package let spans: [Span]

  /// A time during which one attenuation held.
  package struct Span: Hashable, Sendable {
    /// Seconds.
    package let seconds: TimeInterval
    /// What was lost on the way.
    package let attenuation: Attenuation
  }

  /// The incident of these sightings, which are in the order of time and not empty.
  init(key: DiagnosisKey, sightings: some Collection<MatchedSighting>) {
    let times = sightings.map(\.time.timeIntervalSince1970)
    let starts = times.prefix(1).map { $0 - Self.scanInterval / 2 } + times.dropFirst()
    let ends = times.dropFirst() + times.suffix(1).map { $0 + Self.scanInterval / 2 }
    self.key = key
    spans = zip(zip(starts, ends), sightings).map { span, sighting in
      Span(seconds: span.1 - span.0, attenuation: sighting.attenuation)
    }
  }
}

extension ExposureIncident {
  /// The incidents of `match`, in the order of time.
  package static func incidents(of match: KeyMatch) -> [ExposureIncident] {
    let sightings = match.sightings
    let starts = sightings.indices.filter { index in
      index == 0
        || sightings[index].time.timeIntervalSince(sightings[index - 1].time) > longestGap
    }
    return zip(starts, starts.dropFirst() + [sightings.count]).map { start, end in
      ExposureIncident(key: match.key, sightings: sightings[start..<end])
    }
  }

  /// Seconds from half a scan interval before the first sighting to half of one after the last.
  package var exactDuration: TimeInterval { spans.reduce(0) { $0 + $1.seconds } }

  /// Minutes, rounded up.
  package var minutes: Int { Int((exactDuration / 60).rounded(.up)) }

  /// What an app is told: seconds, up to a multiple of `step` minutes, at most `longestDuration`.
  package func duration(step: Int = 1) -> Int {
    let steps = (minutes + step - 1) / step
    return min(steps * step * 60, Self.longestDuration)
  }

  /// The mean attenuation, each value weighted by how long it held.
  package var attenuation: Attenuation {
    let sum = spans.reduce(0) { $0 + $1.seconds * Double($1.attenuation.decibels) }
    let mean = (sum / exactDuration).rounded(.toNearestOrAwayFromZero)
    return Attenuation(decibels: UInt8(clamping: Int(mean)))
  }

  /// Seconds in each range that `thresholds` cut, from near to far: together the incident, of which
  /// only the first `longestDuration` counts.
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

/// One exposure of version 1 with its score (Documentation/RiskScoring.md 2 to 4).
package struct ScoredIncident: Hashable, Sendable {
  /// Midnight UTC of the day of the key.
  package var date = Date(timeIntervalSince1970: 0)
  /// Seconds: whole minutes, at most 1,800.
  package var duration = 0
  /// The time-weighted mean.
  package var attenuation = Attenuation(decibels: 0)
  /// Seconds in each range of attenuation, from near to far.
  package var attenuationDurations: [Int] = []
  /// The level of the key, 0...7.
  package var transmissionRiskLevel: UInt8 = 0
  /// What the diagnosis rests on.
  package var diagnosisReportType = ENDiagnosisReportType.unknown
  /// Days from the first symptoms, where known.
  package var daysSinceOnsetOfSymptoms: Int?
  /// The product of the four table values.
  package var score = RiskScore(fullRange: 0)

  /// No exposure.
  package init() {}
}

/// The ranges that the authority's thresholds cut, from near to far. A value on a threshold is near.
enum AttenuationRange {
  /// Which range `decibels` falls into: 0 up to the first threshold, and so on.
  static func index(of decibels: UInt8, thresholds: [UInt8]) -> Int {
    thresholds.firstIndex { decibels <= $0 } ?? thresholds.count
  }
}
