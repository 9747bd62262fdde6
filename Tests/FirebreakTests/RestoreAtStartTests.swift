// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing
import World

@Suite("A restoration while servers start", .needs(.process))
struct RestoreAtStartTests {
  @Test("During a restoration no server starts and no command changes anything, but after a kill")
  func refused() async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    let (data, backup) = (folder.path("data"), folder.path("backup").path)
    for command in [
      ["verification-server", "api-key", "add", "--type", "device"], ["backup", backup],
    ] {
      let run = try await Run(command + ["--data", data.path])
      #expect(run.status == 0, "\(run.errors)")
    }
    for round in 1...2 {
      let extraction = data.appendingPathComponent(".extract-\(round)")
      try FileManager.default.createDirectory(at: extraction, withIntermediateDirectories: false)
      var lock = try FolderLock.hold(on: extraction)
      try #require(lock != nil)
      let before = folder.files().map(\.path).sorted()
      for command in [
        ["serve", "--port", "0"], ["verification-server", "signing-key", "rotate"],
        ["backup", folder.path("second").path], ["restore", backup],
        ["restore", backup, "--replace"],
      ] {
        let run = try await Run(command + ["--data", data.path])
        #expect(run.status == 2 && run.errors.contains("in progress"), "\(command): \(run.errors)")
      }
      #expect(folder.files().map(\.path).sorted() == before)
      withExtendedLifetime(lock) {}
      lock = nil
      // A process that another test forks at this moment shares the lock until it calls exec.
      try await Patience.until { try FolderLock.hold(on: extraction) != nil }
      let rotated = try await Run(
        "verification-server", "signing-key", "rotate", "--data", data.path)
      #expect(rotated.status == 0, "\(rotated.errors)")
    }
  }

  @Test("A server that starts during a restoration serves its data, or one of them is refused")
  func race() async throws {
    let authority = try await ServedAuthority(ServedAuthority.frequentExports)
    try await authority.publishKey()
    let backup = authority.folder.path("backup").path
    #expect(try await authority.run("backup", backup).status == 0)
    #expect(try await authority.servers.stop() == 0)
    let secrets = "keys/secrets.json"
    let own = try Data(contentsOf: authority.folder.path("data/\(secrets)"))
    for round in 0..<8 {
      let place = try TemporaryFolder()
      let data = place.path("data").path
      async let restored = Run("restore", backup, "--data", data)
      try await Task.sleep(for: .milliseconds(60 * round))
      let server = try await BackgroundProcess(
        try Run.product(), ["serve", "--data", data, "--port", "0", "--json"])
      let isReady = try await server.process.firstLine()?.contains("ready") == true
      let run = try await restored
      let stored = FileManager.default.contents(atPath: "\(data)/\(secrets)")
      #expect((stored == own) == (run.status == 0), "\(round): \(run.errors)")
      #expect(isReady || stored == nil || run.status == 0)
      if isReady { #expect(try await server.process.terminate() == 0) }
      let left = try FileManager.default.contentsOfDirectory(atPath: data)
      #expect(!left.contains { $0.hasPrefix(".restore-") || $0.hasPrefix(".extract-") }, "\(left)")
    }
  }
}
