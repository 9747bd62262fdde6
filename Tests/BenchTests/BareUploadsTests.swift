// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Terminal
import TestSupport
import Testing
import World

@testable import Bench

@Suite("Uploads without a server")
struct BareUploadsTests {
  @Test("Every upload stores its token and keys in a commit that is synced")
  func rows() async throws {
    let folder = try TemporaryFolder()
    let bare = try BareUploads(
      in: folder.url, keysPerUpload: 3, uploadsPerCommit: 4, randomness: SystemRandomness())
    #expect(try await bare.time(of: 10, ProgressLine("uploads")) > .zero)
    #expect(try await bare.time(of: 1, ProgressLine("uploads")) > .zero)
    // FULL: every commit is synced.
    #expect(
      try await bare.database.read { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == 2)
    // Groups of four, four and two, then one.
    let counts = try await bare.database.read { db in
      try ["upload", "diagnosis_key"].map {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)")
      }
    }
    #expect(counts == [11, 33])
  }

  @Test("A database that cannot be written is reported in one sentence")
  func unwritable() throws {
    let folder = try TemporaryFolder()
    let failure = #expect(throws: CommandFailure.self) {
      try BareUploads(
        in: folder.path("missing"), keysPerUpload: 1, uploadsPerCommit: 1,
        randomness: SystemRandomness())
    }
    #expect(failure?.message.contains("check the free space of the disk") == true)
  }
}
