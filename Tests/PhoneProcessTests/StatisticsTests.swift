// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import SealedStorage
import Synchronization
import TestSupport
import Testing
import World

@testable import ExposureApp
@testable import PhoneProcess

@Suite("Statistics of the health authority")
struct StatisticsTests {
  /// A server with documents by their names, which records the requested names.
  private final class Server: Network {
    let connection = NetworkConnection.wifi
    private let state = Mutex<(documents: [String: String], names: [String])>(([:], []))

    /// The requested names since the last call.
    func takeNames() -> [String] {
      state.withLock { state in
        defer { state.names = [] }
        return state.names
      }
    }

    func publish(_ name: String, _ json: String?) {
      state.withLock { $0.documents["\(name).json"] = json }
    }

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      let name = request.url.lastPathComponent
      let body = state.withLock { state in
        state.names.append(name)
        return state.documents[name]
      }
      guard let body else { throw NetworkFailure.unreachable }
      return NetworkResponse(status: 200, body: Data(body.utf8))
    }

    func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
      throw NetworkFailure.unreachable
    }
  }

  private let temporary: TemporaryFolder
  private let folder: PhoneFolder
  private let key = SealingKey(from: SystemRandomness())
  private let clock = ManualClock(Date(timeIntervalSince1970: 1_600_000_000))
  private let server = Server()

  init() throws {
    temporary = try TemporaryFolder()
    folder = try PhoneFolder(creating: temporary.path("phone").path)
    publish(updated: 1_599_990_000)
    for name in ["dashboard", "details", "districts"] {
      server.publish(name, #"{"updated":1}"#)
    }
  }

  private func publish(updated: Int, dashboard: Int? = nil, next: Int = 1_600_080_000) {
    server.publish(
      "timestamps",
      """
      {"nextUpdate":\(next),"dashboardUpdated":\(dashboard ?? updated),\
      "detailsUpdated":\(updated),"districtsUpdated":\(updated)}
      """)
  }

  /// The statistics, opened again with each call.
  private func statistics() throws -> Statistics {
    Statistics(
      of: try #require(URL(string: "http://numbers.test")), network: server, in: folder, key: key,
      clock: clock, randomness: SystemRandomness(),
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
  }

  @Test("A document is requested once until the time that the server states, also after a restart")
  func cached() async throws {
    let statistics = try statistics()
    #expect(await statistics.json(of: .dashboard) == #"{"updated":1}"#)
    #expect(await statistics.json(of: .dashboard) != nil)
    #expect(server.takeNames() == ["timestamps.json", "dashboard.json"])
    #expect(await statistics.json(of: .details) != nil)
    #expect(server.takeNames() == ["details.json"])
    clock.advance(by: 79_999)
    #expect(try await self.statistics().json(of: .dashboard) != nil)
    #expect(server.takeNames().isEmpty)
  }

  @Test("After that time only documents that have changed are requested")
  func changed() async throws {
    let statistics = try statistics()
    for document in Statistics.Document.allCases { _ = await statistics.json(of: document) }
    _ = server.takeNames()
    clock.advance(by: 80_000)
    publish(updated: 1_599_990_000, dashboard: 1_600_079_000, next: 1_600_170_000)
    server.publish("dashboard", #"{"updated":2}"#)
    #expect(await statistics.json(of: .dashboard) == #"{"updated":2}"#)
    #expect(await statistics.json(of: .details) == #"{"updated":1}"#)
    #expect(server.takeNames() == ["timestamps.json", "dashboard.json"])
  }

  @Test("Without a connection the last document stays, and the server is not asked at once again")
  func offline() async throws {
    let statistics = try statistics()
    _ = await statistics.json(of: .dashboard)
    clock.advance(by: 80_000)
    server.publish("timestamps", nil)
    _ = server.takeNames()
    for _ in 0..<3 { #expect(await statistics.json(of: .dashboard) == #"{"updated":1}"#) }
    #expect(server.takeNames() == ["timestamps.json"])
    clock.advance(by: StatisticsLimit.retrySeconds)
    _ = await statistics.json(of: .dashboard)
    #expect(server.takeNames() == ["timestamps.json"])
  }

  @Test("A time in the far future does not stop updates for longer than two days")
  func farFuture() async throws {
    publish(updated: 1_599_990_000, next: 9_999_999_999)
    let statistics = try statistics()
    _ = await statistics.json(of: .dashboard)
    _ = server.takeNames()
    clock.advance(by: StatisticsLimit.cacheSecondsMax)
    _ = await statistics.json(of: .dashboard)
    #expect(server.takeNames() == ["timestamps.json"])
  }

  @Test(
    "A document that is not a JSON object is not used",
    arguments: ["", "[1]", "<html>", #"{"a":1,"a":2}"#, #"{"a":1"#])
  func invalid(_ body: String) async throws {
    server.publish("dashboard", body)
    #expect(try await statistics().json(of: .dashboard) == nil)
  }

  @Test("Followed districts are stored sealed, once each, up to a limit, and removed")
  func districts() async throws {
    let statistics = try statistics()
    for district in [7, 8, 7] { try await statistics.setFollowed(true, district: district) }
    #expect(await statistics.districts == [8, 7])
    try await statistics.setFollowed(false, district: 8)
    #expect(try await self.statistics().districts == [7])
    for district in 0...StatisticsLimit.districtsMax {
      try await statistics.setFollowed(true, district: 1_000 + district)
    }
    #expect(await statistics.districts.count == StatisticsLimit.districtsMax)
    #expect(server.takeNames().isEmpty)
    try await statistics.removeAll()
    #expect(await statistics.districts.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: folder.statistics.path))
  }
}
