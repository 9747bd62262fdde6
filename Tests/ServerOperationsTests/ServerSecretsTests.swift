// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import ServedSystem
import Settings
import Terminal
import TestSupport
import Testing
import World

@testable import ServerOperations

@Suite(
  "Secrets of the servers that are lost, damaged, shared or of another server", .needs(.process))
struct ServerSecretsTests {
  private let place: TemporaryFolder
  private var data: String { place.path("data").path }

  init() async throws {
    place = try TemporaryFolder()
    for name in ["data", "other"] { try ServedAuthority.prepare(place, name) }
    try await Self.create(place.path("data").path)
  }

  /// Databases and secrets of both servers.
  private static func create(_ data: String) async throws {
    for command in [
      ["verification-server", "api-key", "add", "--type", "device"],
      [
        "key-server", "authority", "add", "--issuer", "lab", "--audience", "keys", "--jwks-url",
        "https://lab.example/",
      ],
    ] {
      let run = try await Run(command + ["--data", data])
      #expect(run.status == 0, "\(run.errors)")
    }
  }

  private func refusal(_ command: [String]) async throws -> String {
    let run = try await Run(command + ["--data", data])
    #expect(run.status == 2 && run.output.isEmpty, "\(command): \(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1, "\(command): \(run.errors)")
    return run.errors
  }

  @Test("A server with a database and without its secrets creates none, and names the file")
  func lost() async throws {
    let commands = [
      "verification": [
        ["serve", "--only", "verification", "--port", "0"], ["verification-server", "api-token"],
        ["verification-server", "api-token", "--add"],
        ["verification-server", "signing-key", "add"],
        ["verification-server", "signing-key", "rotate"],
        ["verification-server", "api-key", "add", "--type", "admin"],
        ["verification-server", "api-key", "list"],
      ],
      "keys": [
        ["serve", "--port", "0"], ["key-server", "signing-key", "add"],
        ["key-server", "signing-key", "list"], ["key-server", "export", "--now"],
        ["key-server", "pause"],
        ["key-server", "app", "add", "org.example", "--region", "PL", "--authority", "lab"],
      ],
    ]
    for (server, commands) in commands {
      let file = place.path("data/\(server)/secrets.json")
      let kept = place.path("kept.json")
      try FileManager.default.moveItem(at: file, to: kept)
      for command in commands {
        #expect(try await refusal(command).contains("\(server)/secrets.json is missing"))
        #expect(!FileManager.default.fileExists(atPath: file.path), "\(command)")
      }
      try FileManager.default.moveItem(at: kept, to: file)
    }
    #expect(try await Run("key-server", "export", "--now", "--data", data).status == 0)
  }

  @Test("Key files without the database are refused, because it would be created without them")
  func lostDatabase() async throws {
    try Data("/1599955200-1599969600.zip\n".utf8).write(
      to: place.path("data/exports/index.txt"))
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(at: place.path("data/keys/keys.sqlite" + suffix))
    }
    let errors = try await refusal(["serve", "--port", "0"])
    #expect(errors.contains("keys.sqlite is missing"), "\(errors)")
  }

  @Test("One flipped bit in a file of secrets is noticed, wherever it is")
  func flippedBits() throws {
    let folder = try ServerFolder(path: data)
    let file = folder.keySecrets.url
    let whole = try Data(contentsOf: file)
    let secrets = try #require(try KeySecrets.stored(in: folder))
    var refused = 0
    for position in stride(from: 0, to: whole.count * 8, by: 11) {
      var changed = whole
      changed[position / 8] ^= 1 << (position % 8)
      try changed.write(to: file)
      do {
        // An unused bit of base64 changes nothing.
        let read = try #require(try KeySecrets.stored(in: folder))
        #expect(read.databaseKey == secrets.databaseKey)
        #expect(read.signingKeys.map(\.privateKeyPEM) == secrets.signingKeys.map(\.privateKeyPEM))
        #expect(read.signingKeys.map(\.validThru) == secrets.signingKeys.map(\.validThru))
      } catch let error as CommandFailure {
        refused += 1
        #expect(error.message.contains("keys/secrets.json"))
      }
    }
    #expect(refused > whole.count * 8 / 11 - 10)
  }

  @Test("A private key that does not belong to its public half is refused")
  func otherHalf() throws {
    let (key, other) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    for (half, isAccepted) in [(key, true), (other, false)] {
      let json = try JSONEncoder().encode([
        "keyID": "260", "privateKeyPEM": key.pemRepresentation,
        "publicKeyPEM": half.publicKey.pemRepresentation,
      ])
      #expect(((try? JSONDecoder().decode(SecretSigningKey.self, from: json)) != nil) == isAccepted)
    }
  }

  @Test(
    "A folder or database that others can read or change is refused with its name",
    arguments: [
      ("keys", 0o750), ("verification", 0o701), ("keys/keys.sqlite", 0o640),
      ("verification/verification.sqlite", 0o602), ("keys/secrets.json", 0o604),
      ("verification/secrets.json", 0o620), ("", 0o775), ("exports", 0o757),
    ])
  func shared(name: String, permissions: Int) async throws {
    let path = place.path("data/" + name).path
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    let errors = try await refusal(["serve", "--port", "0"])
    let shown = name.isEmpty ? place.path("data").path : path
    #expect(errors.contains(shown + " can be"), "\(errors)")
    #expect(errors.contains("chmod"))
  }

  @Test("A command that reads secrets disables core dumps first")
  func coreDumps() async throws {
    // The command waits for the lock on the secrets.
    let lock = try FolderLock.hold(on: place.path("data/keys"))
    try await ChildProcess.withRunning(
      try Run.product(), ["backup", place.path("b").path, "--data", data]
    ) { process in
      var words: [Substring] = []
      try await Patience.until {
        let limits = try String(
          contentsOfFile: "/proc/\(process.processIdentifier)/limits", encoding: .utf8)
        words =
          limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }?
          .split(separator: " ") ?? []
        return words.dropFirst(4).prefix(2) == ["0", "0"]
      }
      #expect(words.dropFirst(4).prefix(2) == ["0", "0"])
    }
    withExtendedLifetime(lock) {}
  }

  @Test("Secrets of another server are refused, with the names of both files")
  func ofAnother() async throws {
    let other = place.path("other").path
    try await Self.create(other)
    for (server, command) in [
      ("keys", ["key-server", "export", "--now"]),
      ("verification", ["verification-server", "api-key", "list"]),
    ] {
      let file = place.path("data/\(server)/secrets.json")
      #expect(try await Run(command + ["--data", data]).status == 0)
      try FileManager.default.removeItem(at: file)
      try FileManager.default.copyItem(at: place.path("other/\(server)/secrets.json"), to: file)
      let errors = try await refusal(command)
      #expect(errors.contains("\(server)/secrets.json does not belong to"), "\(errors)")
    }
  }
}
