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
}
