import Foundation

/// What a server answered.
public struct NetworkAnswer: Sendable {
  /// The HTTP status.
  public var status: Int
  /// The body; empty after a download.
  public var body: Data
  /// For how many seconds the server asks to be left alone, where it said so.
  public var retryAfterSeconds: Int?

  /// An answer of `status`.
  public init(status: Int, body: Data = Data(), retryAfterSeconds: Int? = nil) {
    self.status = status
    self.body = body
    self.retryAfterSeconds = retryAfterSeconds
  }
}

extension NetworkAnswer: CustomStringConvertible, CustomReflectable {
  /// The body may hold a token.
  public var description: String { "HTTP status \(status)" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
