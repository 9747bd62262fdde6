import Foundation

/// `POST /v1/stats`: the bearer token says whose statistics are asked for. Documentation/KeyServer.md 10.2.
public struct StatisticsRequest: Encodable, Hashable, Sendable {
  /// Random text, thrown away.
  public var padding: String?

  /// A question.
  public init(padding: String? = nil) {
    self.padding = padding
  }

  /// Reads a body strictly; the padding is looked over and not kept.
  public init(strictJSON body: Data) throws(StrictJSONError) {
    var cursor = JSONCursor(Array(body))
    try cursor.object(["padding"]) { (_, cursor) throws(StrictJSONError) in try cursor.skipString()
    }
    try cursor.end()
  }
}
