// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import ServerMetrics
import World

/// The requests and responses of one server as metrics.
///
/// Real requests and decoys count alike, but some servers get no decoys, and no decoy is refused. So routes, classes
/// and durations are shown in coarse counts only.
package final class RequestMetrics: Sendable {
  /// The upper bounds of the durations in seconds.
  static let bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

  /// The labels of the bounds, and of longer durations.
  private static let boundLabels = bounds.map { "\($0)" } + ["+Inf"]

  private let classes: CoarseCounts
  private let routes: CoarseCounts
  /// Requests by the first bound that is not below their duration.
  private let durations: CoarseCounts

  package init(clock: any WallClock, randomness: any Randomness) {
    classes = CoarseCounts(
      ResponseClass.allCases.map(\.rawValue), clock: clock, randomness: randomness)
    routes = CoarseCounts([], clock: clock, randomness: randomness)
    durations = CoarseCounts(Self.boundLabels, clock: clock, randomness: randomness)
  }

  /// Records a request with its response. The `route` is a pattern, never a path, which may contain user input.
  func record(route: String, status: HTTPResponse.Status, duration: Duration) {
    let seconds = duration / .seconds(1)
    classes.add(ResponseClass(status).rawValue)
    routes.add(route)
    let bound = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
    durations.add(Self.boundLabels[bound])
  }

  /// The counts as metrics.
  package var families: [MetricFamily] {
    [
      MetricFamily(
        "firebreak_http_requests_total", .counter,
        help: "Requests by route, decoys included, in steps of ten, up to ten minutes late.",
        by: "route", routes.shown),
      MetricFamily(
        "firebreak_http_responses_total", .counter,
        help: "Responses by class, in steps of ten, up to ten minutes late.",
        by: "class", classes.shown),
      Self.histogram(durations.shown),
    ]
  }

  private static func histogram(_ counts: [String: Int]) -> MetricFamily {
    var (samples, count, seconds): ([MetricSample], Int, Double) = ([], 0, 0)
    for (number, label) in boundLabels.enumerated() {
      let own = counts[label] ?? 0
      count += own
      samples.append(
        MetricSample(Double(count), [MetricLabel("le", label)], suffix: "_bucket"))
      // The exact sum would tell a single request. Each counts with the middle of its bucket.
      let upper = bounds[min(number, bounds.count - 1)]
      let lower = number == 0 ? 0 : bounds[number - 1]
      seconds += Double(own) * (lower + upper) / 2
    }
    samples.append(MetricSample(seconds, suffix: "_sum"))
    samples.append(MetricSample(Double(count), suffix: "_count"))
    return MetricFamily(
      "firebreak_http_request_duration_seconds", .histogram,
      help:
        "The time from the head of a request to that of its response, in steps of ten requests, up to"
        + " ten minutes late; the sum is approximate.", samples)
  }
}

/// The classes of responses that an operator has to tell apart.
private enum ResponseClass: String, CaseIterable {
  case success, redirection, refused, tooMany = "too_many", failed, unavailable

  init(_ status: HTTPResponse.Status) {
    switch status.code {
    case ..<300: self = .success
    case ..<400: self = .redirection
    case 429: self = .tooMany
    case ..<500: self = .refused
    case 503: self = .unavailable
    default: self = .failed
    }
  }
}
