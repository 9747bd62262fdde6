// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import ServerStorage
import Synchronization
import TestSupport
import Testing
import World

@testable import KeyServer

@Suite("Key server: readiness")
struct KeyServerReadinessTests {
  private static func untilReady(_ server: RunningKeyServer, _ expected: String) async throws {
    try await Patience.until {
      String(decoding: try await server.get("/ready").body, as: UTF8.self) == expected
    }
  }

  @Test("A server that is well is ready, also after its periods were closed in time")
  func ready() async throws {
    try await RunningKeyServer.run { server in
      try await Self.untilReady(server, #"{"ready":true}"#)
      for _ in 0..<4 {
        server.clock.advance(by: 14_400)
        try await server.untilIdle()
      }
      try await Self.untilReady(server, #"{"ready":true}"#)
      #expect(try await server.get("/health").status == 200)
    }
  }

  @Test("A server whose database was deleted is alive but not ready")
  func lostDatabase() async throws {
    try await RunningKeyServer.run { server in
      try await server.untilIdle()
      try FileManager.default.removeItem(at: server.configuration.databaseFile)
      server.clock.advance(by: KeyServerLimit.exportRetrySeconds)
      try await Self.untilReady(server, #"{"ready":false,"faults":["database"]}"#)
      #expect(try await server.get("/health").status == 200)
    }
  }

  @Test("A server whose clock was set back is not ready until it is corrected")
  func clock() async throws {
    try await RunningKeyServer.run { server in
      try await server.untilIdle()
      try await Self.untilReady(server, #"{"ready":true}"#)
      server.clock.jump(by: -86_400)
      try await Self.untilReady(server, #"{"ready":false,"faults":["clock"]}"#)
      server.clock.jump(by: 86_400)
      try await Self.untilReady(server, #"{"ready":true}"#)
    }
  }

  @Test("A server without signing keys is not ready")
  func secrets() async throws {
    let hasSigners = Mutex(true)
    let authority = Authority()
    try await RunningKeyServer.run(
      authority: authority,
      { $0.readExportSigners = { hasSigners.withLock { $0 } ? authority.signers : [] } }
    ) { server in
      try await server.untilIdle()
      try await Self.untilReady(server, #"{"ready":true}"#)
      hasSigners.withLock { $0 = false }
      try await Self.untilReady(server, #"{"ready":false,"faults":["secrets"]}"#)
    }
  }

  @Test(
    "While changes of other processes may be unknown, only indexes and files are served, in every spelling"
  )
  func sharedState() async throws {
    let isCurrent = Mutex(true)
    try await RunningKeyServer.run({ $0.isCurrent = { isCurrent.withLock { $0 } } }) { server in
      try await server.untilIdle()
      try await Self.untilReady(server, #"{"ready":true}"#)
      #expect(try await server.get(KeyServerRoute.remoteConfiguration).status == 200)
      isCurrent.withLock { $0 = false }
      try await Self.untilReady(server, #"{"ready":false,"faults":["shared_state"]}"#)
      for path in [KeyServerRoute.remoteConfiguration, KeyServerRoute.deviceConfiguration] {
        for spelling in [path, "/" + path, path + "/"] {
          #expect(try await server.get(spelling).status == 503, "\(spelling)")
        }
      }
      for route in [KeyServerRoute.upload, KeyServerRoute.publish, KeyServerRoute.statistics] {
        #expect(try await server.post(Data("{}".utf8), to: route).status == 503, "\(route)")
      }
      #expect(try await server.get(KeyServerRoute.index).status == 200)
      #expect(try await server.get("/health").status == 200)
      isCurrent.withLock { $0 = true }
      try await Self.untilReady(server, #"{"ready":true}"#)
      #expect(try await server.get(KeyServerRoute.remoteConfiguration).status == 200)
    }
  }

  /// A check without a server: nothing is exported, so nothing else finds a fault.
  private static func readiness(
    of folder: ExportFolder, _ exports: [ExportConfiguration], at clock: ManualClock
  ) -> KeyServerReadiness {
    let (store, authority) = (MemoryKeyStore(), Authority())
    store.begin(exports, at: clock.now)
    return KeyServerReadiness(
      store: store, folder: folder, exports: exports, signers: ExportSigners { authority.signers },
      health: ServerHealth(logger: CollectedLog().logger, server: "KeyServer"), clock: clock,
      time: TrustedTime(clock, store))
  }

  @Test("A server is not ready if a period was not closed within the next one")
  func overdue() async throws {
    let (folder, clock) = (try TemporaryFolder(), ManualClock(RunningKeyServer.start))
    let exports = [StoreScene.export(), StoreScene.export("daily", hours: 24)]
    let readiness = Self.readiness(of: try ExportFolder(folder.path("export")), exports, at: clock)
    #expect(await readiness.faults().isEmpty)
    clock.advance(by: 8 * 3_600 - 1)
    #expect(await readiness.faults().isEmpty)
    clock.advance(by: 1)
    #expect(await readiness.faults() == ["exports"])
  }

  @Test(
    "A server is not ready while a folder of its files is missing or a file, also if another process exports",
    arguments: ["", "daily"])
  func files(root: String) async throws {
    let folder = try TemporaryFolder()
    let (url, kept) = (folder.path("export"), folder.path("kept"))
    let place = root.isEmpty ? url : url.appendingPathComponent(root)
    let exports = [StoreScene.export(), StoreScene.export("daily", hours: 24)]
    let readiness = Self.readiness(
      of: try ExportFolder(url, roots: ["daily"]), exports, at: ManualClock(RunningKeyServer.start))
    #expect(await readiness.faults().isEmpty)
    try FileManager.default.moveItem(at: place, to: kept)
    #expect(await readiness.faults() == ["files"])
    try Data().write(to: place)
    #expect(await readiness.faults() == ["files"])
    try FileManager.default.removeItem(at: place)
    try FileManager.default.createSymbolicLink(at: place, withDestinationURL: kept)
    #expect(await readiness.faults().isEmpty)
  }
}
