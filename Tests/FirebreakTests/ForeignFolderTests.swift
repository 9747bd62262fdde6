// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("Commands that change a server, with a folder that is not one", .needs(.process))
struct ForeignFolderTests {
  private static let commands = [
    ["verification-server", "api-key", "add", "--type", "admin"],
    ["verification-server", "api-token", "--add"],
    ["verification-server", "signing-key", "add"],
    ["verification-server", "signing-key", "rotate"],
    ["verification-server", "clock", "--confirm"],
    ["key-server", "signing-key", "add"], ["key-server", "signing-key", "rotate"],
    [
      "key-server", "authority", "add", "--issuer", "a", "--audience", "b", "--jwks-url",
      "https://lab.example/",
    ],
    ["key-server", "app", "add", "org.example", "--region", "PL", "--authority", "a"],
    ["key-server", "clock", "--confirm"],
    ["console", "account", "add", "--name", "Anna", "--role", "administrator"],
  ]

  @Test(
    "A mistyped, an empty and another folder are refused with the command that creates a server, and stay as they are",
    arguments: commands)
  func refused(command: [String]) async throws {
    let folder = try TemporaryFolder()
    for name in ["empty", "other/keys", "other/verification", "other/console"] {
      try FileManager.default.createDirectory(
        at: folder.path(name), withIntermediateDirectories: true)
    }
    try Data("mine".utf8).write(to: folder.path("file"))
    let before = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).sorted()
    for (name, cause) in [
      ("mistyped", "There is no folder mistyped"), ("empty", "The folder empty has no data of the"),
      ("other", "The folder other has no data of the"), ("file", "file is a file"),
    ] {
      let run = try await Run(command + ["--data", name], workingFolder: folder.url)
      #expect(run.status == 2 && run.output.isEmpty, "\(name): \(run.output)")
      #expect(run.errors.contains(cause) && run.errors.contains("--data"), "\(run.errors)")
      #expect(run.errors.contains("`firebreak serve --data \(name)`") || name == "file")
      #expect(run.errors.split(separator: "\n").count == 1)
    }
    let after = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).sorted()
    #expect(after == before)
  }

  @Test("The folder that serve has created, and one with prepared settings, are accepted")
  func accepted() async throws {
    let served = try await ServedAuthority()
    for command in Self.commands {
      let run = try await Run(command + ["--data", served.servers.data])
      #expect(run.status == 0, "\(command): \(run.errors)")
    }
    #expect(try await served.servers.stop() == 0)
    let prepared = try TemporaryFolder()
    try ServedAuthority.prepare(prepared)
    for command in Self.commands where !command.contains("clock") {
      let run = try await Run(command + ["--data", prepared.path("data").path])
      #expect(run.status == 0, "\(command): \(run.errors)")
    }
  }
}
