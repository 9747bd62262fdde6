// SPDX-License-Identifier: Apache-2.0
import Logging
import QuietHTTP
import ServiceLifecycle

/// The periodic work of a server of a realm, for which another server listens. An error ends it for a moment only: the
/// servers of other realms must not stop because of it.
struct HostedWork: Service {
  /// The name of the realm.
  let realm: String
  let logger: Logger
  /// The work, which ends when it is cancelled.
  let work: @Sendable () async throws -> Void
  /// Waits before the next attempt.
  var pause: @Sendable () async throws -> Void = {
    try await Task.sleep(for: .seconds(Self.retrySeconds))
  }

  /// The time between two attempts.
  private static let retrySeconds: Int64 = 60

  func run() async throws {
    await cancelWhenGracefulShutdown { await repeatWork() }
  }

  private func repeatWork() async {
    while !Task.isCancelled {
      do { try await work() } catch is CancellationError where Task.isCancelled { return } catch {
        logger.error(
          "the work of a realm's server failed and is tried again",
          metadata: ["realm": "\(realm)", "cause": "\(ErrorCause.text(error))"])
      }
      // Cancellation ends the loop.
      guard (try? await pause()) != nil else { return }
    }
  }
}
