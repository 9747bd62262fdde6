// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("The checksums of a release", .needs(.process))
struct ReleaseChecksumTests {
  private let folder: TemporaryFolder
  private var release: URL { folder.path("release") }

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(at: release, withIntermediateDirectories: true)
    try Data("package".utf8).write(to: release.appendingPathComponent("firebreak_1.deb"))
    try Data("list".utf8).write(to: release.appendingPathComponent("sbom 1.json"))
  }

  private func checksums(_ arguments: String...) async throws -> ChildProcess.Result {
    try await ChildProcess.run(
      SharedData.projectRoot.appendingPathComponent("scripts/checksums"), arguments,
      environment: ProcessInfo.processInfo.environment)
  }

  /// A new key, and its public part.
  private func key(_ name: String, _ algorithm: String) async throws -> (own: String, shown: String)
  {
    let (own, shown) = (folder.path(name).path, folder.path(name + ".pem").path)
    let made = try await Shell.run(
      "openssl genpkey -algorithm \(algorithm) -out '\(own)'"
        + " && openssl pkey -in '\(own)' -pubout -out '\(shown)'")
    #expect(made.status == 0, "\(made.errors)")
    return (own, shown)
  }

  @Test(
    "The signature of each kind of key is accepted by its public key only",
    arguments: ["ed25519", "EC -pkeyopt ec_paramgen_curve:P-256"])
  func signed(algorithm: String) async throws {
    let (key, other) = (try await key("a", algorithm), try await key("b", algorithm))
    #expect(try await checksums(release.path, key.own).status == 0)
    #expect(try await checksums("--verify", release.path, key.shown).status == 0)
    let wrong = try await checksums("--verify", release.path, other.shown)
    #expect(wrong.status == 1 && wrong.errors.contains("not of this key"), "\(wrong.errors)")
  }

  @Test("If a file cannot be read, the earlier list and its signature stay")
  func unreadable() async throws {
    let key = try await key("a", "ed25519")
    #expect(try await checksums(release.path, key.own).status == 0)
    let before = try names()
    let link = release.appendingPathComponent("gone")
    try FileManager.default.createSymbolicLink(
      atPath: link.path, withDestinationPath: folder.path("nowhere").path)
    let failed = try await checksums(release.path, key.own)
    #expect(failed.status == 2 && failed.errors.contains("nothing was written"), "\(failed.errors)")
    try FileManager.default.removeItem(at: link)
    #expect(try names() == before)
    #expect(try await checksums("--verify", release.path, key.shown).status == 0)
  }

  @Test("On a full disk the earlier list and its signature stay", .needs(.smallDisk))
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 64 << 10)
    try Data("package".utf8).write(to: disk.url.appendingPathComponent("firebreak_1.deb"))
    let key = try await key("a", "ed25519")
    #expect(try await checksums(disk.url.path, key.own).status == 0)
    let ballast = disk.fill()
    let failed = try await checksums(disk.url.path, key.own)
    #expect(failed.status == 2 && failed.errors.contains("nothing was replaced"))
    try FileManager.default.removeItem(at: ballast)
    #expect(try await checksums("--verify", disk.url.path, key.shown).status == 0)
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: release.path).sorted()
  }

  @Test("A changed, an additional and a removed file are found, and so is a changed list")
  func changed() async throws {
    let key = try await key("a", "ed25519")
    let package = release.appendingPathComponent("firebreak_1.deb")
    let sums = release.appendingPathComponent("SHA256SUMS")
    let changes: [() throws -> Void] = [
      { try Data("packagE".utf8).write(to: package) },
      { try Data().write(to: release.appendingPathComponent("more")) },
      { try FileManager.default.removeItem(at: package) },
      { try (try Data(contentsOf: sums) + Data("\n".utf8)).write(to: sums) },
    ]
    for change in changes {
      try Data("package".utf8).write(to: package)
      // Only one of the changes makes it.
      try? FileManager.default.removeItem(at: release.appendingPathComponent("more"))
      #expect(try await checksums(release.path, key.own).status == 0)
      try change()
      #expect(try await checksums("--verify", release.path, key.shown).status == 1)
    }
  }

  @Test("A missing list, a missing signature and a file without a public key are named as such")
  func causes() async throws {
    let key = try await key("a", "ed25519")
    #expect(try await checksums(release.path, key.own).status == 0)
    for (shown, fault) in [
      (folder.path("none.pem").path, "there is no file"), (key.own, "is no public key"),
      (release.appendingPathComponent("SHA256SUMS").path, "is no public key"),
    ] {
      let run = try await checksums("--verify", release.path, shown)
      #expect(run.status == 2 && run.errors.contains(fault), "\(run.errors)")
      #expect(!run.errors.contains("genpkey"), "\(run.errors)")
    }
    for name in ["SHA256SUMS", "SHA256SUMS.sig"] {
      #expect(try await checksums(release.path, key.own).status == 0)
      try FileManager.default.removeItem(at: release.appendingPathComponent(name))
      let run = try await checksums("--verify", release.path, key.shown)
      #expect(run.status == 2 && run.errors.contains("has no \(name):"), "\(run.errors)")
    }
  }

  @Test("Without a key nothing of an earlier signature stays; a key that cannot sign is refused")
  func refused() async throws {
    let (key, rsa) = (try await key("a", "ed25519"), try await key("b", "RSA"))
    #expect(try await checksums(release.path, key.own).status == 0)
    #expect(try await checksums(release.path).status == 0)
    let unsigned = try await checksums("--verify", release.path, key.shown)
    #expect(unsigned.status == 2 && unsigned.errors.contains("not signed"), "\(unsigned.errors)")
    let text = release.appendingPathComponent("sbom 1.json").path
    for (own, fault) in [
      (rsa.own, "Ed25519"), (text, "is no key"), (folder.path("none").path, "there is no file"),
    ] {
      let run = try await checksums(release.path, own)
      #expect(run.status == 2 && run.errors.contains(fault), "\(run.errors)")
    }
    let inside = release.appendingPathComponent("key").path
    try FileManager.default.copyItem(atPath: key.own, toPath: inside)
    let published = try await checksums(release.path, inside)
    #expect(
      published.status == 2 && published.errors.contains("must not be"), "\(published.errors)")
  }
}
