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
    ["key-server", "clock", "--confirm"], ["console", "account", "recover", "--name", "Anna"],
    ["console", "account", "disable", "--name", "Anna"],
  ]
  private static let add = ["console", "account", "add", "--role", "administrator", "--name"]

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
    for name in ["Anna", "Berta"] {
      #expect(try await Run(Self.add + [name, "--data", served.servers.data]).status == 0)
    }
    for command in Self.commands {
      let run = try await Run(command + ["--data", served.servers.data])
      #expect(run.status == 0, "\(command): \(run.errors)")
    }
    #expect(try await served.servers.stop() == 0)
    let prepared = try TemporaryFolder()
    try ServedAuthority.prepare(prepared)
    for name in ["Anna", "Berta"] {
      #expect(try await Run(Self.add + [name, "--data", prepared.path("data").path]).status == 0)
    }
    for command in Self.commands where !command.contains("clock") {
      let run = try await Run(command + ["--data", prepared.path("data").path])
      #expect(run.status == 0, "\(command): \(run.errors)")
    }
  }

  @Test(
    "The first account is added before the first start or after it, each time",
    arguments: [false, true])
  func firstAccount(isEmptyFolder: Bool) async throws {
    let place = try TemporaryFolder()
    let data = place.path("data")
    if isEmptyFolder {
      try FileManager.default.createDirectory(at: data, withIntermediateDirectories: false)
    }
    for name in ["Anna", "Berta"] {
      let run = try await Run(Self.add + [name, "--data", data.path])
      #expect(run.status == 0 && run.output.contains("Password: "), "\(run.errors)")
      let isNew = run.errors.contains("`firebreak serve --data \(data.path)`")
      #expect(isNew == (name == "Anna" && !isEmptyFolder), "\(run.errors)")
    }
    for name in ["Celina", "Dora"] {
      let served = try await ServedAuthority(in: place)
      #expect(try await Run(Self.add + [name, "--data", data.path]).status == 0)
      #expect(try await served.run("console", "audit", "verify").status == 0)
      #expect(try await served.servers.stop() == 0)
    }
  }

  @Test("An account is not added in a folder with other content, and a wrong name creates nothing")
  func otherContent() async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      at: folder.path("other/console"), withIntermediateDirectories: true)
    try Data("mine".utf8).write(to: folder.path("other/console/file"))
    try Data("mine".utf8).write(to: folder.path("file"))
    let before = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).sorted()
    for (data, name, words) in [
      ("other", "Anna", "has no data of a server"), ("file", "Anna", "is a file"),
      ("missing", "a", "--name takes"),
    ] {
      let run = try await Run(Self.add + [name, "--data", data], workingFolder: folder.url)
      #expect(run.status == 2 && run.output.isEmpty && run.errors.contains(words), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1)
    }
    let after = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).sorted()
    #expect(after == before)
  }
}
