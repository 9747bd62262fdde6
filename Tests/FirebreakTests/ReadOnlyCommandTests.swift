// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("Read-only commands", .needs(.process))
struct ReadOnlyCommandTests {
  private static let commands = [
    ["verification-server", "api-key", "list"],
    ["verification-server", "api-key", "revoke", "0123456789abcdef"],
    ["verification-server", "api-token"], ["verification-server", "settings"],
    ["verification-server", "signing-key", "list"], ["backup", "FILE"],
    ["key-server", "settings"], ["key-server", "signing-key", "list"],
    ["key-server", "signing-key"], ["key-server", "export", "--now"],
    ["key-server", "device-configuration"],
    ["key-server", "device-configuration", "publish"], ["key-server", "pause"],
    ["key-server", "resume"], ["key-server", "withdraw", String(repeating: "0", count: 64)],
    ["console", "audit", "verify"], ["console", "audit", "export"],
  ]

  @Test(
    "With a missing or foreign folder, a read-only command ends with 2 and creates nothing",
    arguments: commands)
  func nothingThere(command: [String]) async throws {
    let folder = try TemporaryFolder()
    let command = command.map { $0 == "FILE" ? folder.path("backup").path : $0 }
    for name in ["none", ""] {
      let data = folder.url.appendingPathComponent(name)
      let run = try await Run(command + ["--data", data.path])
      #expect(run.status == 2 && run.output.isEmpty, "\(command): \(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1 && run.errors.contains("--data"))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }
  }

  @Test(
    "With a server's unused folder, a read-only command reports it and creates no keys and no database"
  )
  func neverUsed() async throws {
    for command in Self.commands where !command.contains("settings") {
      let folder = try TemporaryFolder()
      try ServedAuthority.write([:], in: folder)
      let command = command.map { $0 == "FILE" ? folder.path("backup").path : $0 }
      let run = try await Run(command + ["--data", folder.path("data").path])
      #expect(run.status == 2 && run.errors.split(separator: "\n").count == 1, "\(run.errors)")
      #expect(folder.files().isEmpty, "\(command)")
    }
  }
}
