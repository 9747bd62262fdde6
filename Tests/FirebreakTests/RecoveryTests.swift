// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing
import World

/// Recoveries that SECURITY.md lists, each of them twice. After it every file of every index verifies with the device
/// configuration that the server serves.
@Suite("Recoveries of the servers", .needs(.process))
struct RecoveryTests {
  private static func start(in place: TemporaryFolder? = nil) async throws -> ServedAuthority {
    try await ServedAuthority(ServedAuthority.frequentExports, in: place)
  }

  /// Stops the servers, and moves their folder away.
  private func abandon(_ authority: ServedAuthority, _ name: String) async throws {
    #expect(try await authority.servers.stop() == 0)
    try FileManager.default.moveItem(
      at: authority.folder.path("data"), to: authority.folder.path(name))
  }

  @Test("After a restored backup every file is written and signed again")
  func restoredBackup() async throws {
    var authority = try await Self.start()
    let place = authority.folder
    for _ in 1...2 { try await authority.publishKey() }
    let withdrawn = try #require(
      KeyFileHash(ofFile: place.path("data/exports/\(try await authority.indexLines()[0])")))
    #expect(
      try await authority.run("key-server", "withdraw", withdrawn.description).status == 0)
    let both = try await authority.servedDocument().withdrawn
    for round in 1...2 {
      let lines = try await authority.indexLines()
      let document = try await authority.servedDocument()
      let backup = place.path("backup \(round)").path
      #expect(try await authority.run("backup", backup).status == 0)
      try await abandon(authority, "damaged \(round)")
      let restored = try await Run("restore", backup, "--data", authority.servers.data)
      #expect(restored.status == 0, "\(restored.errors)")
      authority = try await Self.start(in: place)
      // All but the withdrawn file in both exports, which would have another hash.
      let count = lines.count - (round == 1 ? 2 : 0)
      try #require(count > 0)
      try await Patience.until { try await authority.indexLines().count == count }
      #expect(try await authority.verifiedFileCount() == count)
      // Caches keep the earlier files under their names.
      #expect(Set(try await authority.indexLines()).isDisjoint(with: lines))
      let now = try await authority.servedDocument()
      #expect(now.keys == document.keys && now.withdrawn == both && now.version > document.version)
      try await authority.publishKey()
      #expect(try await authority.verifiedFileCount() >= count + 2)
    }
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("Restorations of one backup within seconds give files other names, if no folder is left")
  func restoredWithinSeconds() async throws {
    var authority = try await Self.start()
    let place = authority.folder
    try await authority.publishKey()
    let backup = place.path("backup").path
    #expect(try await authority.run("backup", backup).status == 0)
    var names = Set(try await authority.indexLines())
    let count = names.count
    try #require(count > 0)
    for _ in 1...3 {
      #expect(try await authority.servers.stop() == 0)
      try FileManager.default.removeItem(at: place.path("data"))
      let restored = try await Run("restore", backup, "--data", authority.servers.data)
      #expect(restored.status == 0, "\(restored.errors)")
      authority = try await Self.start(in: place)
      try await Patience.until { try await authority.indexLines().count == count }
      let now = Set(try await authority.indexLines())
      #expect(now.isDisjoint(with: names), "\(now)")
      names.formUnion(now)
      #expect(try await authority.verifiedFileCount() == count)
    }
    #expect(try await authority.servers.stop() == 0)
  }

  @Test(
    "After a lost device configuration, found by the running server or at its start, all files verify"
  )
  func lostDeviceConfiguration() async throws {
    var authority = try await Self.start()
    try await authority.publishKey()
    let document = authority.folder.path("data/keys/device-configuration.json")
    let line = try #require(try await authority.indexLines().first)
    let file = try #require(KeyFileHash(ofFile: authority.folder.path("data/exports/\(line)")))
    let withdraw = try await authority.run("key-server", "withdraw", file.description)
    #expect(withdraw.status == 0, "\(withdraw.errors)")
    #expect(try await authority.run("key-server", "pause", "--until", "4000000000").status == 0)
    for isRunning in [true, false] {
      let before = try await authority.servedDocument()
      #expect(before.withdrawn.count == 2 && before.withdrawn.contains(file))
      // The versions of several changes in one second are ahead of the time, which a new document begins with.
      try await Patience.until { Int(SystemClock().now.timeIntervalSince1970) > before.version }
      if !isRunning { #expect(try await authority.servers.stop() == 0) }
      try FileManager.default.removeItem(at: document)
      let published = try await authority.run(
        "key-server", "device-configuration", "publish", "--json")
      #expect(published.status == 0, "\(published.errors)")
      let version = try #require(try published.json()?["version"] as? Int)
      if !isRunning { authority = try await Self.start(in: authority.folder) }
      let after = try await authority.servedDocument()
      // Phones accept it.
      #expect(after.version == version && version > before.version)
      #expect(after.keys == before.keys && after.withdrawn == before.withdrawn)
      #expect(after.withdrawnSince == before.withdrawnSince)
      #expect(after.pause == before.pause && after.pause?.until == 4_000_000_000)
      try await authority.publishKey()
      #expect(try await authority.verifiedFileCount() >= 4)
    }
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("One hash withdraws a file, its copy and all hashes that both had, and one undoes it")
  func withdrawnCopies() async throws {
    let authority = try await Self.start()
    try await authority.publishKey()
    func hashes() async throws -> [KeyFileHash] {
      try await authority.indexLines().map {
        try #require(KeyFileHash(ofFile: authority.folder.path("data/exports/\($0)")))
      }
    }
    let first = try await hashes()
    #expect(try await authority.run("key-server", "signing-key", "revoke").status == 0)
    let all = Set(first + (try await hashes()))
    #expect(first.count == 2 && all.count == 4)
    for hash in all {
      let run = try await authority.run("key-server", "withdraw", hash.description)
      #expect(run.status == 0, "\(run.errors)")
      // After the end of a withdrawal the server may have written the files again.
      #expect(all.isSubset(of: try await authority.servedDocument().withdrawn))
      let undone = try await authority.run("key-server", "withdraw", "--undo", hash.description)
      #expect(undone.status == 0, "\(undone.errors)")
      #expect(try await authority.servedDocument().withdrawn.isEmpty)
    }
    // The files are removed when they would be signed again, so that one hash has to find the copies without them.
    let hash = first[0].description
    for words in [
      ["withdraw", hash], ["signing-key", "revoke"], ["withdraw", "--undo", hash],
    ] {
      let run = try await Run(["key-server"] + words + ["--data", authority.servers.data])
      #expect(run.status == 0, "\(run.errors)")
    }
    #expect(try await authority.servedDocument().withdrawn.isEmpty)
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("If a document has no space for all hashes of a file, the present ones are withdrawn")
  func withdrawnLimit() async throws {
    let authority = try await Self.start()
    try await authority.publishKey()
    #expect(try await authority.run("key-server", "signing-key", "revoke").status == 0)
    let present = try await authority.indexLines().map {
      try #require(KeyFileHash(ofFile: authority.folder.path("data/exports/\($0)")))
    }
    #expect(present.count == 2)
    func withdraw(_ hashes: [KeyFileHash]) async throws -> Run {
      try await Run(
        ["key-server", "withdraw"] + hashes.map(\.description)
          + ["--data", authority.servers.data])
    }
    let others = try (0..<DeviceConfigurationLimit.withdrawnMax - 3).map {
      try #require(KeyFileHash(Data(SHA256.hash(data: Data("\($0)".utf8)))))
    }
    #expect(try await withdraw(others).status == 0)
    // Two present hashes and two earlier ones, for which there is space for one.
    let most = try await withdraw([present[0]])
    #expect(most.status == 0 && most.errors.contains("1 of the hashes"), "\(most.errors)")
    let document = try await authority.servedDocument()
    #expect(document.withdrawn.count == DeviceConfigurationLimit.withdrawnMax)
    #expect(Set(present).isSubset(of: document.withdrawn))
    let full = try await withdraw([try #require(KeyFileHash(Data(repeating: 1, count: 32)))])
    #expect(full.status == 2 && full.errors.contains("at most"), "\(full.errors)")
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("A file that was removed or changed by accident is written again by one export")
  func damagedFiles() async throws {
    let authority = try await Self.start()
    try await authority.publishKey()
    for isRemoved in [true, false] {
      let lines = try await authority.indexLines()
      for line in lines {
        let file = authority.folder.path("data/exports/\(line)")
        if isRemoved {
          try FileManager.default.removeItem(at: file)
        } else {
          try Data("no key file".utf8).write(to: file)
        }
      }
      let exported = try await authority.run("key-server", "export", "--now")
      #expect(exported.status == 0, "\(exported.errors)")
      try await Patience.until {
        Set(try await authority.indexLines()).isDisjoint(with: lines)
      }
      #expect(try await authority.verifiedFileCount() == lines.count)
    }
    #expect(try await authority.servers.stop() == 0)
  }
}
