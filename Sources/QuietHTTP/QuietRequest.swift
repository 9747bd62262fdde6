import Hummingbird
import Logging

/// A request whose body has been read and understood.
public struct QuietRequest<Body: Sendable>: Sendable {
  /// What is asked.
  public let body: Body
  /// The headers it came with.
  public let headers: HTTPFields
  /// What else is known, such as whose budget it draws on.
  public let context: QuietContext
}
