// SPDX-License-Identifier: Apache-2.0
import Logging
import ServiceLifecycle
import Synchronization
import ServerOperations
import TestSupport
import Testing

@Suite("Servers that run and stop together")
struct ServerGroupsTests {
  /// A server that does not finish before `count` servers were told to stop.
  private struct PatientServer: Service {
    let told: Told
    let count: Int

    func run() async throws {
      told.running.add(1, ordering: .relaxed)
      try? await gracefulShutdown()
      told.count.add(1, ordering: .relaxed)
      try await Patience.until { told.count.load(ordering: .relaxed) >= count }
    }
  }

  private final class Told: Sendable {
    let running = Atomic<Int>(0)
    let count = Atomic<Int>(0)
  }

  private struct FailingServer: Service {
    struct Failure: Error {}

    func run() async throws { throw Failure() }
  }

  private func groups(_ servers: [any Service]) -> ServerGroups {
    ServerGroups(servers, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  @Test("A server gets the stop signal while another one still finishes its requests")
  func atOnce() async throws {
    let told = Told()
    let groups = groups([PatientServer(told: told, count: 2), PatientServer(told: told, count: 2)])
    async let run: Void = groups.run()
    try await Patience.until { told.running.load(ordering: .relaxed) == 2 }
    await groups.stop()
    try await run
    #expect(told.count.load(ordering: .relaxed) == 2)
  }

  @Test("If a server fails, the others stop, and its error is thrown")
  func failure() async throws {
    let told = Told()
    let groups = groups([PatientServer(told: told, count: 1), FailingServer()])
    await #expect(throws: FailingServer.Failure.self) { try await groups.run() }
    #expect(told.count.load(ordering: .relaxed) == 1)
  }
}
