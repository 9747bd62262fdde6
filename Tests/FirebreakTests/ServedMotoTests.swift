// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

/// `firebreak serve --files` with moto's server as its object store.
@Suite(
  "Proof: a served key server with moto's server", .enabled(if: Proof.isRunning), .needs(.process))
struct ServedMotoTests {
  private func serve(
    _ store: MotoServer, in place: TemporaryFolder? = nil
  ) async throws -> ServedAuthority {
    try await ServedAuthority(
      ServedAuthority.frequentExports, arguments: ["--files", store.address("files")],
      environment: store.environment, in: place)
  }

  private func expectEqual(_ authority: ServedAuthority, _ store: MotoServer) async throws {
    try await authority.expectStored { try await store.object("files" + $0) }
  }

  @Test(
    "The store has what the server publishes, also after a restart",
    .timeLimit(.minutes(Patience.minutes)))
  func restart() async throws {
    let store = try await MotoServer()
    let authority = try await serve(store)
    try await authority.publishKey()
    try await expectEqual(authority, store)
    #expect(try await authority.servers.stop() == 0)
    let again = try await serve(store, in: authority.folder)
    try await again.publishKey()
    try await expectEqual(again, store)
    #expect(try await again.indexLines().count >= 4)
    #expect(try await again.servers.stop() == 0)
  }

  @Test(
    "A server with the database and a new folder takes the files from the store",
    .timeLimit(.minutes(Patience.minutes)))
  func otherMachine() async throws {
    let store = try await MotoServer()
    let authority = try await serve(store)
    try await authority.publishKey()
    try await expectEqual(authority, store)
    let lines = try await authority.indexLines()
    #expect(try await authority.servers.stop() == 0)
    let exports = authority.folder.path("data/exports")
    try FileManager.default.removeItem(at: exports)
    let other = try await serve(store, in: authority.folder)
    try await expectEqual(other, store)
    #expect(try await Set(other.indexLines()).isSuperset(of: lines))
    #expect(try await other.servers.stop() == 0)
  }

  @Test(
    "Uploads continue while the store is away; their keys are published when it is back, and empty",
    .timeLimit(.minutes(Patience.minutes)))
  func away() async throws {
    let store = try await MotoServer()
    let authority = try await serve(store)
    try await authority.publishKey()
    try await store.stop()
    let upload = try await authority.upload(token: try await authority.token())
    #expect(upload.status == 200)
    try await authority.untilFilesFail()
    #expect(try await authority.indexLines().count == 2)
    try await store.start()
    try await Patience.until { try await authority.indexLines().count == 4 }
    try await expectEqual(authority, store)
    #expect(try await authority.servers.stop() == 0)
  }
}
