// SPDX-License-Identifier: Apache-2.0
import Hummingbird

/// Rejects requests with 503 while a server does not know what other processes with its database have changed: it would
/// accept what they have revoked.
///
/// The routes for probes are served, and those that `isAlwaysServed` selects.
package struct CurrentStateMiddleware: RouterMiddleware {
  package typealias Context = QuietContext

  private let isCurrent: @Sendable () -> Bool
  private let isAlwaysServed: @Sendable (Request) -> Bool

  /// - Parameters:
  ///   - isCurrent: False while changes of other processes may be unknown.
  ///   - isAlwaysServed: True for requests whose responses cannot be revoked.
  package init(
    isCurrent: @escaping @Sendable () -> Bool,
    isAlwaysServed: @escaping @Sendable (Request) -> Bool = { _ in false }
  ) {
    self.isCurrent = isCurrent
    self.isAlwaysServed = isAlwaysServed
  }

  package func handle(
    _ request: Request, context: QuietContext,
    next: (Request, QuietContext) async throws -> Response
  ) async throws -> Response {
    guard isCurrent() || HealthRoutes.contains(request) || isAlwaysServed(request) else {
      throw QuietRefusal.unavailable(retryAfterSeconds: QuietLimit.retryAfterSeconds)
    }
    return try await next(request, context)
  }
}
