// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Settings
import Synchronization
import ServedSystem
import TestSupport
import Testing
import World

@testable import ServerOperations

@Suite("A device configuration or root key that is lost", .needs(.process))
struct LostDeviceConfigurationTests {
  private let place: TemporaryFolder
  private let folder: ServerFolder

  init() async throws {
    place = try TemporaryFolder()
    try ServedAuthority.prepare(place)
    folder = try ServerFolder(path: place.path("data").path)
    for server in ["key-server", "verification-server"] {
      let run = try await Run(server, "signing-key", "add", "--data", folder.url.path)
      #expect(run.status == 0, "\(run.errors)")
    }
  }

  private func refusal(_ command: String...) async throws -> String {
    let run = try await Run(["key-server"] + command + ["--data", folder.url.path])
    #expect(run.status == 2)
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    return run.errors
  }

  private var files: DeviceConfigurationFiles {
    ServerSetup(folder: folder) { _ in }.deviceConfiguration
  }

  @Test(
    "If the document is missing, commands fail with its file name; a new one has no lower version")
  func lost() async throws {
    let before = try files.existing()
    try FileManager.default.removeItem(at: folder.deviceConfiguration)
    for command in [["export", "--now"], ["pause"], ["signing-key", "rotate"]] {
      let run = try await Run(["key-server"] + command + ["--data", folder.url.path])
      #expect(run.status == 2 && run.errors.contains("device-configuration.json is missing"))
      #expect(run.errors.contains("device-configuration publish"), "\(run.errors)")
    }
    let published = try await Run(
      "key-server", "device-configuration", "publish", "--data", folder.url.path)
    #expect(published.status == 0, "\(published.errors)")
    let after = try files.existing()
    #expect(after.version >= before.version && after.version >= Int(after.issued))
    #expect(after.keys == before.keys)
  }

  @Test("A document that cannot be read is refused with its file name, and is not replaced")
  func unreadable() async throws {
    try FileManager.default.removeItem(at: folder.deviceConfiguration)
    try FileManager.default.createDirectory(
      at: folder.deviceConfiguration, withIntermediateDirectories: false)
    #expect(try await refusal("pause").contains("device-configuration.json cannot be read"))
    #expect(try await refusal("export", "--now").contains("device-configuration.json"))
  }

  @Test("Data without a root key is refused with both names, and no root key is created")
  func rootKey() async throws {
    try FileManager.default.removeItem(at: folder.rootPublicKey)
    let offline = place.path("safe.pem")
    try FileManager.default.moveItem(at: folder.rootPrivateKey.url, to: offline)
    let errors = try await refusal("export", "--now")
    #expect(errors.contains("root-public-key.pem") && errors.contains("root-key.pem"))
    #expect(!FileManager.default.fileExists(atPath: folder.rootPrivateKey.url.path))
    #expect(!FileManager.default.fileExists(atPath: folder.rootPublicKey.path))
    let run = try await Run(
      "key-server", "device-configuration", "publish", "--root-key", offline.path, "--data",
      folder.url.path)
    #expect(run.status == 0, "\(run.errors)")
    #expect(FileManager.default.fileExists(atPath: folder.rootPublicKey.path))
  }

  @Test("After a failed renewal the previous document is served, with one warning an hour")
  func renewal() async throws {
    let document = try files.existing()
    let half = Double(document.issued + (document.expires - document.issued) / 2)
    let clock = ManualClock(Date(timeIntervalSince1970: half))
    let log = WarningLog()
    let served = ServedDeviceConfiguration(
      DeviceConfigurationFiles(folder: folder, clock: clock, warn: { log.add($0) }))
    let old = try Data(contentsOf: folder.deviceConfiguration)
    let offline = place.path("safe.pem")
    try FileManager.default.moveItem(at: folder.rootPrivateKey.url, to: offline)
    for _ in 0..<3 { #expect(try served.data() == old) }
    #expect(log.sentences.count == 1 && log.sentences[0].contains("--root-key"))
    clock.advance(by: 3_600)
    try Data("no key".utf8).write(to: folder.rootPrivateKey.url)
    for _ in 0..<3 { #expect(try served.data() == old) }
    #expect(log.sentences.count == 2 && log.sentences[1].contains("root-key.pem"))
    clock.advance(by: 3_600)
    try FileManager.default.removeItem(at: folder.rootPrivateKey.url)
    try FileManager.default.moveItem(at: offline, to: folder.rootPrivateKey.url)
    #expect(try served.data() != old)
    #expect(log.sentences.count == 2)
  }
}

/// The warnings of a served document.
private final class WarningLog: Sendable {
  private let all = Mutex<[String]>([])

  var sentences: [String] { all.withLock { $0 } }

  func add(_ message: String) {
    all.withLock { $0.append(message) }
  }
}
