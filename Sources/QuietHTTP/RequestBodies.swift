import Foundation
import Hummingbird

/// Reads bodies for routes that are no `QuietRoute`, such as the forms of web pages, with the same limits.
public struct RequestBodies: Sendable {
  private let timeouts = BodyTimeouts()

  /// Creates a reader. All routes of a server can share it.
  public init() {}

  /// Reads the body of `request` if its media type is one of `types`, and never holds more than `limit` of it.
  ///
  /// - Throws: `.wrongContentType`, `.bodyTooLarge`, `.bodyTooSlow`, `.malformed` if the client disconnects
  ///   before the end, or `.unavailable` if the server has too much work.
  public func body(
    of request: Request, in context: QuietContext, types: [String], limit: BodyLimit
  ) async throws(QuietRefusal) -> Data {
    let body = try await limit.body(of: request, in: context, timeouts, types: types)
    try context.refuseIfOverloaded()
    return body
  }
}
