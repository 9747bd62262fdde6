import Foundation

/// Where a figure stands in a bench's JSON object.
enum BenchFigure: String, Sendable {
  case cpu = "nanosecondsPerKey.cpu"
  case wall = "nanosecondsPerKey.wall"
  case limit = "limitNanosecondsPerKey.total"
  case schedule = "limitNanosecondsPerKey.schedule"
  case blocks = "limitNanosecondsPerKey.blocks"
  case gainOverOneThread
  case limitScaling = "limitOnThreads.scaling"
  case medianLimitScaling = "limitOnThreads.medianScaling"
  case peak = "peakMemoryMiB"
  case baseline = "baselineMiB"
  case requestsPerSecond
  case errors
  case realMedian = "chaff.p50Milliseconds.real"
  case chaffMedian = "chaff.p50Milliseconds.chaff"
  case seconds

  /// The figure in `object`; nil where it is not there.
  func value(in object: [String: Any]) -> Double? {
    let path = rawValue.split(separator: ".").map(String.init)
    let parent = path.dropLast().reduce(object as [String: Any]?) { object, name in
      object?[name] as? [String: Any]
    }
    return (parent?[path.last ?? ""] as? NSNumber)?.doubleValue
  }
}
