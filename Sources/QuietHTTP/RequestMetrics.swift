// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import ServerMetrics
import Synchronization
import World

/// The requests and responses of one server as metrics.
///
/// Real requests and decoys count alike, and their durations look alike to clients. The route of a request may tell
/// that a code was issued, and the class of a response that it was no decoy, because no decoy is refused: both are
/// shown in coarse counts only.
package final class RequestMetrics: Sendable {
  /// The upper bounds of the durations in seconds.
  static let bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

  private struct State {
    /// Requests by the first bound that is not below their duration; the last element is for longer ones.
    var durations = Array(repeating: 0, count: bounds.count + 1)
    var seconds = 0.0
  }

  private let classes: CoarseCounts
  private let routes: CoarseCounts
  private let state = Mutex(State())

  package init(clock: any WallClock, randomness: any Randomness) {
    classes = CoarseCounts(
      ResponseClass.allCases.map(\.rawValue), clock: clock, randomness: randomness)
    routes = CoarseCounts([], clock: clock, randomness: randomness)
  }

  /// Records a request with its response. The `route` is a pattern, never a path, which may contain user input.
  func record(route: String, status: HTTPResponse.Status, duration: Duration) {
    let seconds = duration / .seconds(1)
    classes.add(ResponseClass(status).rawValue)
    routes.add(route)
    state.withLock { state in
      let bucket = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
      state.durations[bucket] += 1
      state.seconds += seconds
    }
  }

  /// The counts as metrics.
  package var families: [MetricFamily] {
    let state = state.withLock { $0 }
    return [
      MetricFamily(
        "firebreak_http_requests_total", .counter,
        help: "Requests by route, decoys included, in steps of ten, up to ten minutes late.",
        by: "route", routes.shown),
      MetricFamily(
        "firebreak_http_responses_total", .counter,
        help: "Responses by class, in steps of ten, up to ten minutes late.",
        by: "class", classes.shown),
      Self.histogram(state),
    ]
  }

  private static func histogram(_ state: State) -> MetricFamily {
    var (samples, sum): ([MetricSample], Int) = ([], 0)
    for (bound, count) in zip(bounds.map { "\($0)" } + ["+Inf"], state.durations) {
      sum += count
      samples.append(
        MetricSample(Double(sum), [MetricLabel("le", bound)], suffix: "_bucket"))
    }
    samples.append(MetricSample(state.seconds, suffix: "_sum"))
    samples.append(MetricSample(Double(sum), suffix: "_count"))
    return MetricFamily(
      "firebreak_http_request_duration_seconds", .histogram,
      help: "The time from the head of a request to that of its response.", samples)
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
