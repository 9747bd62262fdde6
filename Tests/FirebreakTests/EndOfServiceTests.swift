// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing
import World

@Suite("The end of a service", .needs(.process))
struct EndOfServiceTests {
  private func delete(_ authority: ServedAuthority, _ options: String...) async throws -> Run {
    let certificate = authority.folder.path("deletion.json").path
    return try await Run(
      ["end-of-service", "delete", "--certificate", certificate, "--data", authority.servers.data]
        + options)
  }

  private func exists(_ path: String, _ authority: ServedAuthority) -> Bool {
    FileManager.default.fileExists(atPath: authority.folder.path(path).path)
  }

  @Test("Nothing is deleted without --confirm, before phones were told, or while servers run")
  func refused() async throws {
    let authority = try await ServedAuthority()
    #expect(try await delete(authority).errors.contains("--confirm"))
    let early = try await delete(authority, "--confirm")
    #expect(early.status == 2 && early.errors.contains("Phones were not told yet"), "\(early)")
    #expect(try await authority.run("end-of-service", "tell").status == 0)
    let running = try await delete(authority, "--confirm")
    #expect(running.status != 0, "\(running)")
    #expect(try await authority.servers.stop() == 0)
    for path in ["data/keys/secrets.json", "data/keys/keys.sqlite", "data/console/console.sqlite"] {
      #expect(exists(path, authority), "\(path)")
    }
    #expect(!exists("deletion.json", authority))
  }

  @Test(
    "A second run deletes what an interrupted one has left, and keeps the instruction for phones")
  func interrupted() async throws {
    let authority = try await ServedAuthority()
    #expect(try await authority.run("end-of-service", "tell").status == 0)
    #expect(try await authority.servers.stop() == 0)
    for path in ["data/verification", "data/keys/secrets.json", "data/console/secrets.json"] {
      try FileManager.default.removeItem(at: authority.folder.path(path))
    }
    let run = try await delete(authority, "--confirm")
    #expect(run.status == 0, "\(run)")
    for path in ["data/verification", "data/keys", "data/console"] {
      #expect(!exists(path, authority), "\(path)")
    }
    let instruction = try Data(
      contentsOf: authority.folder.path("data/exports/device-configuration.json"))
    let pem = try String(
      contentsOf: authority.folder.path("data/root-public-key.pem"), encoding: .utf8)
    let document = try UnverifiedDeviceConfiguration(decoding: instruction)
      .verified(by: try RootKey(publicKeyPEM: pem), at: SystemClock().now)
    #expect(document.pause == .init(until: nil))
    let certificate = try String(
      contentsOf: authority.folder.path("deletion.json"), encoding: .utf8)
    #expect(certificate.contains("keys/keys.sqlite"))
    #expect(certificate.contains("console/console.sqlite"))
  }

  @Test("The certificate has what interrupted runs have deleted, also if nothing else is left")
  func certified() async throws {
    let authority = try await ServedAuthority()
    #expect(try await authority.run("end-of-service", "tell").status == 0)
    #expect(try await authority.servers.stop() == 0)
    let exports = authority.folder.path("data/exports")
    try Data("keys".utf8).write(to: exports.appendingPathComponent("0.zip"))
    // The run fails after the key files, where it empties the index.
    let index = exports.appendingPathComponent("index.txt")
    if exists("data/exports/index.txt", authority) { try FileManager.default.removeItem(at: index) }
    try FileManager.default.createDirectory(
      at: index.appendingPathComponent("folder"), withIntermediateDirectories: true)
    let failed = try await delete(authority, "--confirm")
    #expect(failed.status != 0 && failed.errors.contains("run the command again"), "\(failed)")
    #expect(!exists("deletion.json", authority) && !exists("data/exports/0.zip", authority))
    let start = try await Run(["serve", "--data", authority.servers.data, "--port", "0"])
    #expect(start.status == 2 && start.errors.contains("was ended"), "\(start)")
    try FileManager.default.removeItem(at: index)
    // A power failure has left half of a line.
    let record = authority.folder.path("data/end-of-service.jsonl")
    let handle = try FileHandle(forWritingTo: record)
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(#"{"deleting":{"path":"ne"#.utf8))
    try handle.close()
    #expect(try await delete(authority, "--confirm").status == 0)
    let first = try Data(contentsOf: authority.folder.path("deletion.json"))
    try FileManager.default.removeItem(at: authority.folder.path("deletion.json"))
    // A certificate that was lost can be made again.
    #expect(try await delete(authority, "--confirm").status == 0)
    for data in [first, try Data(contentsOf: authority.folder.path("deletion.json"))] {
      let certificate = try #require(
        try JSONSerialization.jsonObject(with: data) as? [String: Any])
      let deleted = try #require(certificate["deleted"] as? [[String: Any]])
      let paths = deleted.compactMap { $0["path"] as? String }
      #expect(paths.count == Set(paths).count && !paths.contains("ne"))
      #expect(Set(["exports/0.zip", "keys/secrets.json", "keys/keys.sqlite"]).isSubset(of: paths))
      #expect(deleted.first { $0["path"] as? String == "exports/0.zip" }?["bytes"] as? Int == 4)
      #expect(certificate["servers"] as? [String] == ["console", "keys", "verification"])
    }
  }

  @Test("The instruction to stop is valid for two years, and no server starts after the deletion")
  func ended() async throws {
    let authority = try await ServedAuthority()
    let told = try await authority.run("end-of-service", "tell", "--json")
    let report = try #require(
      try JSONSerialization.jsonObject(with: Data(told.output.utf8)) as? [String: Any])
    let expires = try #require(report["expires"] as? Int)
    #expect(abs(expires - Int(SystemClock().now.unixSecond) - 63_072_000) < 3_600)
    #expect(try await authority.servers.stop() == 0)
    #expect(try await delete(authority, "--confirm").status == 0)
    let start = try await Run(["serve", "--data", authority.servers.data, "--port", "0"])
    #expect(start.status == 2 && start.errors.contains("name another folder"), "\(start)")
    #expect(!exists("data/keys", authority) && !exists("data/verification", authority))
  }

  @Test(
    "Commands of administration and a restoration are refused in an ended folder, and leave it as it is"
  )
  func administered() async throws {
    let authority = try await ServedAuthority()
    let data = authority.servers.data
    let backup = authority.folder.path("backup").path
    #expect(try await authority.run("backup", backup).status == 0)
    #expect(try await authority.run("end-of-service", "tell").status == 0)
    #expect(try await authority.servers.stop() == 0)
    #expect(try await delete(authority, "--confirm").status == 0)
    let names = try FileManager.default.subpathsOfDirectory(atPath: data).sorted()
    for command in [
      ["backup", authority.folder.path("other").path], ["restore", backup], ["clock"],
      ["key-server", "settings"], ["key-server", "signing-key", "list"],
      ["key-server", "app", "list"], ["verification-server", "api-key", "list"],
      ["console", "account", "add", "--role", "issuer", "--name", "Anna"],
      ["console", "audit", "verify"], ["end-of-service", "tell"],
    ] {
      let run = try await Run(command + ["--data", data])
      #expect(run.status == 2 && run.errors.contains("was ended"), "\(command): \(run.errors)")
      #expect(!run.errors.contains("firebreak serve"), "\(command): \(run.errors)")
    }
    #expect(try FileManager.default.subpathsOfDirectory(atPath: data).sorted() == names)
  }

  @Test("A run repeats one that left only the instruction, and wants a place for its certificate")
  func interruptedLate() async throws {
    let authority = try await ServedAuthority()
    #expect(try await authority.run("end-of-service", "tell").status == 0)
    #expect(try await authority.servers.stop() == 0)
    for path in ["verification", "console", "exports", "keys/secrets.json", "keys/keys.sqlite"] {
      try FileManager.default.removeItem(at: authority.folder.path("data/\(path)"))
    }
    let link = authority.folder.path("link")
    try FileManager.default.createSymbolicLink(
      at: link, withDestinationURL: authority.folder.path("data"))
    for place in [link.path + "/keys/x.json", authority.folder.path("none/x.json").path] {
      let run = try await Run([
        "end-of-service", "delete", "--certificate", place, "--data", authority.servers.data,
        "--confirm",
      ])
      #expect(run.status == 2 && run.errors.contains("in an existing folder outside"), "\(run)")
      #expect(exists("data/keys", authority))
    }
    let run = try await delete(authority, "--confirm")
    #expect(run.status == 0, "\(run)")
    #expect(!exists("data/keys", authority))
    #expect(exists("data/exports/device-configuration.json", authority))
  }

  @Test("Key files that an interrupted export has left incomplete are deleted and certified")
  func incomplete() async throws {
    let authority = try await ServedAuthority()
    #expect(try await authority.run("end-of-service", "tell").status == 0)
    #expect(try await authority.servers.stop() == 0)
    let left = ["exports/.0.zip.5E0C", "exports/PL/.0.zip.unfinished-Ab12Cd"]
    for name in left {
      try Data("keys".utf8).write(to: authority.folder.path("data/\(name)"))
    }
    #expect(try await delete(authority, "--confirm").status == 0)
    let certificate = try certificate(of: authority)
    let paths = try #require(certificate["deleted"] as? [[String: Any]]).compactMap { $0["path"] }
    for name in left {
      #expect(!exists("data/\(name)", authority))
      #expect(paths.contains { $0 as? String == name }, "\(paths)")
    }
    #expect(certificate["notDeleted"] as? [String] == [])
  }

  @Test(
    "The store is named and certified in each run, folders beside the folder of the servers until they are gone"
  )
  func notDeleted() async throws {
    let authority = try await ServedAuthority()
    #expect(try await authority.run("end-of-service", "tell").status == 0)
    #expect(try await authority.servers.stop() == 0)
    let replaced = authority.folder.path("data.replaced-1795000000")
    try FileManager.default.createDirectory(at: replaced, withIntermediateDirectories: false)
    let store = "s3://keys/files"
    try Data(#"{"files":"\#(store)"}"#.utf8)
      .write(to: authority.folder.path("data/keys/settings.json"))
    for places in [[replaced.path, store], [replaced.path, store], [store]] {
      if places == [store] { try FileManager.default.removeItem(at: replaced) }
      let run = try await delete(authority, "--confirm")
      #expect(run.status == 0, "\(run)")
      #expect(
        run.errors
          == places.map { "firebreak: \($0) may still have data of the service: delete it, too.\n" }
          .joined())
      #expect(try certificate(of: authority)["notDeleted"] as? [String] == places)
      try FileManager.default.removeItem(at: authority.folder.path("deletion.json"))
    }
  }

  private func certificate(of authority: ServedAuthority) throws -> [String: Any] {
    let data = try Data(contentsOf: authority.folder.path("deletion.json"))
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }
}
