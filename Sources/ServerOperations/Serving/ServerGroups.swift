// SPDX-License-Identifier: Apache-2.0
import Logging
import ServiceLifecycle

/// Servers that run at the same time and stop together.
///
/// Each server has a `ServiceGroup` of its own, because a group stops its services one after another: a server would
/// keep listening while another finishes its requests.
package struct ServerGroups: Sendable {
  private let groups: [ServiceGroup]

  package init(_ servers: [any Service], logger: Logger) {
    groups = servers.map { ServiceGroup(configuration: .init(services: [$0], logger: logger)) }
  }

  /// Runs the servers until they are told to stop. If one stops, the others do.
  ///
  /// - Throws: The first error of a server.
  package func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for group in groups {
        tasks.addTask {
          do { try await group.run() } catch {
            await stop()
            throw error
          }
          await stop()
        }
      }
      try await tasks.waitForAll()
    }
  }

  /// Triggers a graceful shutdown of all servers. Returns at once.
  package func stop() async {
    for group in groups { await group.triggerGracefulShutdown() }
  }
}
