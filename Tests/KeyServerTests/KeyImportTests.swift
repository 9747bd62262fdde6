// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import World

@testable import KeyServer

/// Another authority, with its signing key and its files.
private struct OtherAuthority {
  let key = P256.Signing.PrivateKey()
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  var signer: TrustedSigner { TrustedSigner(publicKeyPEM: key.publicKey.pemRepresentation) }

  /// A key of two days before the test with 16 times `byte`.
  static func key(
    _ byte: UInt8, _ type: ReportType? = .confirmedTest, daysAgo: UInt32 = 2
  ) throws -> DiagnosisKey {
    let today = try #require(IntervalNumber(StoreScene.now)).startOfDay.rawValue
    let key = try #require(
      TemporaryExposureKey(
        bytes: [UInt8](repeating: byte, count: 16),
        rollingStart: IntervalNumber(rawValue: today - 144 * daysAgo)))
    return try #require(DiagnosisKey(key: key, transmissionRiskLevel: 3, reportType: type))
  }

  /// Writes a file for the period that begins `hours` after the start.
  @discardableResult
  func write(
    _ keys: [DiagnosisKey], revised: [DiagnosisKey] = [], hours: Int64 = 0, region: String = "DE",
    in subfolder: String = "."
  ) throws -> URL {
    let start = StoreScene.now.unixSecond + hours * 3_600
    let name = try #require(KeyFileName(start: start, end: start + 3_600))
    let folder = folder.url.appendingPathComponent(subfolder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent(name.text)
    try KeyFileWriter.write(
      to: file, start: UInt64(start), end: UInt64(start + 3_600), region: region, keys: keys,
      revisedKeys: revised,
      signers: [
        KeyFileSigner(privateKeyPEM: key.pemRepresentation, keyID: "262", keyVersion: "v1")
      ])
    return file
  }
}

@Suite("Import of other servers' files")
struct KeyImportTests {
  private typealias Implementation = StoreImplementation

  private func importer(
    _ scene: StoreScene, _ authority: OtherAuthority, _ rules: KeyImport.Rules = .init(),
    signer: TrustedSigner? = nil
  ) throws -> KeyImport {
    try KeyImport(
      store: scene.store, signer: signer ?? authority.signer, rules: rules,
      clock: ManualClock(StoreScene.now))
  }

  private func source(_ files: URL...) throws -> KeyFileSource {
    try KeyFileSource(files.map(\.path))
  }

  @Test(
    "Imported keys are in the next file of the exports that include their region",
    arguments: StoreImplementation.allCases)
  func published(_ implementation: StoreImplementation) async throws {
    let exports = [StoreScene.export(), StoreScene.export("eu", ["PL", "DE"])]
    let (scene, authority) = (
      try await StoreScene(implementation, exports: exports), try OtherAuthority()
    )
    let file = try authority.write([1, 2, 3].map { try OtherAuthority.key($0) })
    let report = try await importer(scene, authority).run(source(file))
    #expect((report.files, report.inserted, report.skipped) == (1, 3, 0))
    #expect(report.regions == ["DE"])
    try await scene.close(at: StoreScene.now + 4 * StoreScene.hour)
    #expect(try await scene.files().isEmpty)
    let published = try await scene.files(of: "eu")
    #expect(published.map(\.names) == [[1, 2, 3]])
    #expect(published.first?.keys.first == (try OtherAuthority.key(1)))
  }

  @Test(
    "The rules give all keys another region, and let them count as travellers'",
    arguments: StoreImplementation.allCases)
  func rules(_ implementation: StoreImplementation) async throws {
    var everywhere = StoreScene.export("everywhere", ["CZ"])
    everywhere.travellers = .fromAnywhere
    var only = StoreScene.export("only", ["AT"])
    only.travellers = .excluded
    let (scene, authority) = (
      try await StoreScene(implementation, exports: [everywhere, only]), try OtherAuthority()
    )
    let file = try authority.write([try OtherAuthority.key(1)], region: "EU-GATEWAY")
    await #expect(throws: KeyImportFailure.self) {
      try await importer(scene, authority).run(source(file))
    }
    _ = try await importer(scene, authority, .init(region: "AT", travels: true)).run(source(file))
    try await scene.close(at: StoreScene.now + 4 * StoreScene.hour)
    #expect(try await scene.files(of: "everywhere").map(\.names) == [[1]])
    #expect(try await scene.files(of: "only").isEmpty)
  }

  @Test(
    "A repeated import changes nothing, and a key in two files or uploaded before is stored once",
    arguments: StoreImplementation.allCases)
  func noDouble(_ implementation: StoreImplementation) async throws {
    let (scene, authority) = (
      try await StoreScene(implementation, exports: [StoreScene.export("", ["PL", "DE"])]),
      try OtherAuthority()
    )
    try await scene.accept([try StoreScene.key(1)])
    let first = try authority.write([1, 2].map { try OtherAuthority.key($0) })
    let second = try authority.write([2, 3].map { try OtherAuthority.key($0) }, hours: 1)
    let importer = try importer(scene, authority)
    let report = try await importer.run(source(first, second))
    #expect((report.files, report.inserted, report.known) == (2, 2, 2))
    let again = try await importer.run(source(second, first))
    #expect((again.files, again.filesKnown, again.inserted) == (0, 2, 0))
    try await scene.close(at: StoreScene.now + 4 * StoreScene.hour)
    #expect(try await scene.files().map(\.names) == [[1, 2, 3]])
  }

  @Test(
    "An import that fails keeps the files before the failing one, and continues there",
    arguments: StoreImplementation.allCases)
  func resumed(_ implementation: StoreImplementation) async throws {
    let (scene, authority) = (try await StoreScene(implementation), try OtherAuthority())
    let first = try authority.write([try OtherAuthority.key(1)], region: "PL")
    let second = try authority.write([try OtherAuthority.key(2)], hours: 1, region: "PL")
    let good = try Data(contentsOf: second)
    try good.dropLast(9).write(to: second)
    let importer = try importer(scene, authority)
    await #expect(throws: KeyImportFailure.self) {
      try await importer.run(source(first, second))
    }
    try good.write(to: second)
    let report = try await importer.run(source(first, second))
    #expect((report.files, report.filesKnown, report.inserted) == (1, 1, 1))
    try await scene.close(at: StoreScene.now + 4 * StoreScene.hour)
    #expect(try await scene.files().map(\.names) == [[1, 2]])
  }

  @Test("Nothing of a file that the key has not signed is stored")
  func unsigned() async throws {
    let (scene, authority, other) = (
      try await StoreScene(.sqlite), try OtherAuthority(), try OtherAuthority()
    )
    let file = try other.write([try OtherAuthority.key(1)], region: "PL")
    do {
      try await importer(scene, authority).run(source(file))
      Issue.record("imported")
    } catch KeyImportFailure.unsigned(let name, _) {
      #expect(name == file.path)
    }
    let wrongVersion = TrustedSigner(
      publicKeyPEM: other.key.publicKey.pemRepresentation, keyID: "262", keyVersion: "v2")
    await #expect(throws: KeyImportFailure.self) {
      try await importer(scene, authority, signer: wrongVersion).run(source(file))
    }
    try await scene.close(at: StoreScene.now + 4 * StoreScene.hour)
    #expect(try await scene.files().isEmpty)
  }

  @Test(
    "A revision applies once to a stored key, and a revoked key that is not stored is not inserted",
    arguments: StoreImplementation.allCases)
  func revised(_ implementation: StoreImplementation) async throws {
    let (scene, authority) = (try await StoreScene(implementation), try OtherAuthority())
    let first = try authority.write(
      [try OtherAuthority.key(1, .confirmedClinicalDiagnosis)], region: "PL")
    let importer = try importer(scene, authority)
    _ = try await importer.run(source(first))
    try await scene.close(at: StoreScene.now + 4 * StoreScene.hour)
    let second = try authority.write(
      [], revised: [try OtherAuthority.key(1, .revoked), try OtherAuthority.key(2, .revoked)],
      hours: 5, region: "PL")
    let report = try await importer.run(source(second))
    #expect((report.revised, report.inserted) == (1, 0))
    try await scene.close(at: StoreScene.now + 8 * StoreScene.hour)
    let files = try await scene.files()
    #expect(files.map(\.names) == [[1], []])
    #expect(files.map(\.revisedNames) == [[], [1]])
  }

  @Test("Keys older than 15 days and keys of the future are skipped")
  func window() async throws {
    let (scene, authority) = (try await StoreScene(.sqlite), try OtherAuthority())
    let file = try authority.write(
      try [(1, 0), (2, 14), (3, 16)].map { try OtherAuthority.key($0.0, daysAgo: $0.1) },
      region: "PL")
    let report = try await importer(scene, authority).run(source(file))
    #expect((report.inserted, report.skipped) == (2, 1))
  }

  @Test("Imported files are forgotten after four weeks")
  func forgotten() async throws {
    let (scene, authority) = (try await StoreScene(.sqlite), try OtherAuthority())
    let file = try authority.write([try OtherAuthority.key(1)], region: "PL")
    _ = try await importer(scene, authority).run(source(file))
    let seconds = KeyServerLimit.importRetentionSeconds
    try await scene.store.removeOld(RetentionLimits(at: StoreScene.now + seconds))
    #expect(try await scene.store.importedFiles().hashes.count == 1)
    try await scene.store.removeOld(RetentionLimits(at: StoreScene.now + seconds + 1))
    #expect(try await scene.store.importedFiles().hashes.isEmpty)
  }
}

@Suite("Addresses of other servers' files")
struct KeyFileSourceTests {
  @Test("An address must be encrypted unless it is on this machine")
  func unencrypted() throws {
    #expect(throws: KeyImportFailure.self) { try KeyFileSource(["http://example.org/"]) }
    #expect(throws: KeyImportFailure.self) { try KeyFileSource(["https://"]) }
    #expect(throws: Never.self) { try KeyFileSource(["http://127.0.0.1:1/", "https://a.example"]) }
  }

  @Test("Files are listed by the index of another server, in both layouts, and copied with it")
  func mirrored() async throws {
    let authority = Authority()
    try await RunningKeyServer.run(
      authority: authority,
      {
        $0.furtherExports = [ExportConfiguration(filenameRoot: "eu", region: "PL")]
        $0.furtherExports[0].minimumKeys = 0
        $0.furtherExports[0].paddingRange = 0
      }
    ) { server in
      for _ in 0..<2 {
        try await server.upload(server.request(server.keys(3)))
        server.clock.advance(by: 14_400)
        try await server.server.exportDue()
        try await server.untilIdle()
      }
      for root in ["", "eu"] {
        let address = "http://127.0.0.1:\(server.port)/\(root)"
        let folder = try TemporaryFolder()
        let pem = authority.exportKeys[0].publicKey.pemRepresentation
        let mirror = try KeyMirror(
          of: KeyFileSource([address]), in: folder.path("copy"),
          signer: TrustedSigner(publicKeyPEM: pem))
        #expect(try await mirror.run() == KeyMirror.Report(copied: 2, known: 0, removed: 0))
        #expect(try await mirror.run() == KeyMirror.Report(copied: 0, known: 2, removed: 0))
        let own = server.configuration.exportFolder.appendingPathComponent(root)
        let copies = try FileManager.default.contentsOfDirectory(
          atPath: folder.path("copy").path)
        #expect(copies.count == 3)
        for name in copies where name.hasSuffix(".zip") {
          let copy = try Data(contentsOf: folder.path("copy").appendingPathComponent(name))
          #expect(try copy == Data(contentsOf: own.appendingPathComponent(name)))
        }
      }
    }
  }
}
