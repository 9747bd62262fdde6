// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import KeyServer
import KeyServerAPI
import TestSupport
import Testing

@Suite("Exports: key files")
struct ExportTests {
  private static let hour: TimeInterval = 3_600

  @Test(
    "Uploaded keys are in a padded, sorted file that the key of every signer verifies")
  func uploadToFile() async throws {
    try await RunningKeyServer.run { server in
      let sent = server.keys()
      try await server.upload(server.request(sent))
      #expect(try await server.listed().isEmpty)
      server.clock.advance(by: 4 * Self.hour)
      try await server.server.exportDue()
      let name = try #require(try await server.listed().first)
      let start = Int64(RunningKeyServer.start.timeIntervalSince1970)
      #expect(name.text == "\(start)-\(start + 14_400)-00001.zip")
      for signer in server.authority.exportKeys.indices {
        let (keys, header) = try await server.downloadedKeys(name, by: signer)
        #expect((20...25).contains(keys.count))
        #expect(keys == keys.sorted(by: DiagnosisKey.inFileOrder))
        let published = Set(keys.map { Data($0.key.secretBytes).base64EncodedString() })
        #expect(published.isSuperset(of: sent.map(\.key)))
        #expect(
          keys.allSatisfy { $0.transmissionRiskLevel == 8 && $0.reportType == .confirmedTest })
        #expect((header.region, header.batchNumber, header.batchSize) == ("PL", 1, 1))
        #expect((header.start, header.end) == (UInt64(start), UInt64(start + 14_400)))
      }
    }
  }

  @Test("Padding has the report type and the risks of the real keys")
  func paddingShape() async throws {
    try await RunningKeyServer.run { server in
      let sent = server.keys(7)
      try await server.upload(server.request(sent))
      server.clock.advance(by: 4 * Self.hour)
      try await server.server.exportDue()
      let name = try #require(try await server.listed().first)
      let (keys, _) = try await server.downloadedKeys(name)
      let starts = Set(keys.map(\.key.rollingStart.rawValue))
      #expect(starts.isSuperset(of: sent.map(\.rollingStartNumber)))
      #expect(Set(keys.map(\.reportType)) == [.confirmedTest])
      #expect(Set(keys.map(\.transmissionRiskLevel)) == [8])
      #expect(Set(keys.map(\.key)).count == keys.count)
    }
  }

  @Test("A file that is written again contains the same keys and the same padding")
  func paddingPersists() async throws {
    try await RunningKeyServer.run { server in
      try await server.upload(server.request(server.keys()))
      server.clock.advance(by: 4 * Self.hour)
      try await server.server.exportDue()
      let name = try #require(try await server.listed().first)
      let before = try await server.downloadedKeys(name)
      let file = server.configuration.exportFolder.appendingPathComponent(name.text)
      let facts = try UnverifiedKeyFile(at: file).inspect()
      try FileManager.default.removeItem(at: file)
      try await server.server.exportDue()
      let again = try #require(try await server.editions(of: name).first)
      #expect(try await server.listed() == [again] && again != name)
      #expect(try await server.downloadedKeys(again).keys == before.keys)
      let written = server.configuration.exportFolder.appendingPathComponent(again.text)
      #expect(try UnverifiedKeyFile(at: written).inspect().exportSHA256 == facts.exportSHA256)
    }
  }

  @Test(
    "A file with missing or extra bytes is written again with the same keys, an intact one is not",
    arguments: [-1_000_000, -1, 1])
  func damagedFile(bytes: Int) async throws {
    try await RunningKeyServer.run { server in
      for _ in 0..<2 {
        try await server.upload(server.request(server.keys()))
        server.clock.advance(by: 4 * Self.hour)
        try await server.server.exportDue()
      }
      let names = try await server.listed()
      let files = names.map { server.configuration.exportFolder.appendingPathComponent($0.text) }
      #expect(files.count == 2)
      let before = try files.map { try Data(contentsOf: $0) }
      let numbers = try files.map(Self.fileNumber)
      let added = Data(repeating: 0x20, count: max(0, bytes))
      try (before[0].dropLast(max(0, -bytes)) + added).write(to: files[0])
      // Written by this call or by the scheduled export of the server.
      try await server.server.exportDue()
      let again = try await server.listed()
      #expect(again.count == 2 && again[0] != names[0] && again[1] == names[1])
      #expect(try await server.downloadedKeys(again[0]).keys.isEmpty == false)
      let facts = try again.map { name in
        let file = server.configuration.exportFolder.appendingPathComponent(name.text)
        return try UnverifiedKeyFile(at: file).inspect().exportSHA256
      }
      let copies = try before.map { bytes in
        let copy = server.folder.path("copy-\(UUID().uuidString).zip")
        try bytes.write(to: copy)
        return try UnverifiedKeyFile(at: copy).inspect().exportSHA256
      }
      #expect(facts == copies)
      #expect(try Self.fileNumber(files[1]) == numbers[1])
      #expect(try await server.server.exportDue().isEmpty)
    }
  }

  /// The inode number, which changes if the file is written again.
  private static func fileNumber(_ file: URL) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    return (attributes[.systemFileNumber] as? NSNumber)?.intValue
  }

  @Test("A period without keys has no file")
  func emptyPeriod() async throws {
    try await RunningKeyServer.run { server in
      server.clock.advance(by: 24 * Self.hour)
      let written = try await server.server.exportDue()
      let listed = try await server.listed()
      #expect(written.isEmpty && listed.isEmpty)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 0)
    }
  }

  @Test("Missed periods are closed one after the other, and each key is in one file")
  func missedPeriods() async throws {
    try await RunningKeyServer.run { server in
      let first = server.keys(3)
      try await server.upload(server.request(first))
      server.clock.advance(by: 9 * Self.hour)
      let second = server.keys(3)
      try await server.upload(server.request(second))
      server.clock.advance(by: 24 * Self.hour)
      try await server.server.exportDue()
      let names = try await server.listed()
      #expect(names.count == 2)
      #expect(names == names.sorted())
      for (name, sent) in zip(names, [first, second]) {
        let keys = try await server.downloadedKeys(name).keys
        let published = Set(keys.map { Data($0.key.secretBytes).base64EncodedString() })
        #expect(published.intersection((first + second).map(\.key)) == Set(sent.map(\.key)))
      }
    }
  }

  @Test("A key that is still valid is published two hours after its end, an expired one at once")
  func embargo() async throws {
    try await RunningKeyServer.run({ $0.exportPeriodSeconds = 3_600 }) { server in
      let today = UInt32(RunningKeyServer.midnight.timeIntervalSince1970 / 600)
      let valid = UploadKey(
        key: Data(repeating: 1, count: 16).base64EncodedString(), rollingStartNumber: today)
      let finished = UploadKey(
        key: Data(repeating: 2, count: 16).base64EncodedString(), rollingStartNumber: today - 144)
      try await server.upload(server.request([valid, finished]))
      // The key ends at midnight and is released at two, in the period from two to three.
      server.clock.advance(by: 14 * Self.hour)
      try await server.server.exportDue()
      #expect(try await published(server) == [finished.key])
      server.clock.advance(by: Self.hour)
      try await server.server.exportDue()
      #expect(try await published(server) == [finished.key, valid.key])
    }
  }

  /// The recognisable keys in the listed files.
  private func published(_ server: RunningKeyServer) async throws -> Set<String> {
    let recognisable = Set([1, 2].map { Data(repeating: $0, count: 16).base64EncodedString() })
    var found: Set<String> = []
    for name in try await server.listed() {
      let keys = try await server.downloadedKeys(name).keys
      found.formUnion(keys.map { Data($0.key.secretBytes).base64EncodedString() })
    }
    return found.intersection(recognisable)
  }

  @Test("Keys of other regions only are not in the files")
  func otherRegion() async throws {
    try await RunningKeyServer.run { server in
      let czech = server.keys(2)
      let both = server.keys(2)
      try await server.upload(server.request(czech) { $0.data.regions = ["CZ"] })
      try await server.upload(server.request(both) { $0.data.regions = ["CZ", "pl"] })
      server.clock.advance(by: 4 * Self.hour)
      try await server.server.exportDue()
      let name = try #require(try await server.listed().first)
      let keys = try await server.downloadedKeys(name).keys
      let published = Set(keys.map { Data($0.key.secretBytes).base64EncodedString() })
      #expect(published.isSuperset(of: both.map(\.key)))
      #expect(published.isDisjoint(with: czech.map(\.key)))
    }
  }

  @Test(
    "A batch of the maximum size is one file, one key more makes two that end a second apart",
    arguments: [(29, 1), (30, 1), (31, 2)])
  func split(count: Int, files: Int) async throws {
    try await RunningKeyServer.run({
      $0.minimumKeys = 0
      $0.paddingRange = 0
      $0.maximumKeysPerFile = 30
    }) { server in
      var sent: Set<String> = []
      for number in 0..<count {
        let key = server.keys(1)
        sent.formUnion(key.map(\.key))
        #expect(try await server.upload(server.request(key)).status == 200, "upload \(number)")
      }
      server.clock.advance(by: 4 * Self.hour)
      try await server.server.exportDue()
      let names = try await server.listed()
      #expect(names.count == files)
      var published: [String] = []
      for name in names {
        published += try await server.downloadedKeys(name).keys
          .map { Data($0.key.secretBytes).base64EncodedString() }
      }
      #expect(published.count == count)
      #expect(Set(published) == sent)
      let ends = names.map(\.endTimestamp)
      #expect(zip(ends, ends.dropFirst()).allSatisfy { $1 == $0 + 1 })
    }
  }

  @Test("The days since onset come from the token and are omitted if the onset is in the future")
  func onset() async throws {
    try await RunningKeyServer.run { server in
      let today = UInt32(RunningKeyServer.midnight.timeIntervalSince1970 / 600)
      let keys = server.keys(3)
      let token = try await server.authority.token(at: server.clock.now, onset: today - 2 * 144 + 5)
      try await server.upload(server.request(keys, token: token))
      let ahead = try await server.authority.token(at: server.clock.now, onset: today + 144)
      try await server.upload(
        server.request(
          [
            UploadKey(
              key: Data(repeating: 9, count: 16).base64EncodedString(),
              rollingStartNumber: today - 144)
          ],
          token: ahead))
      server.clock.advance(by: 4 * Self.hour)
      try await server.server.exportDue()
      let name = try #require(try await server.listed().first)
      let published = try await server.downloadedKeys(name).keys
      func days(_ text: String) -> Int32? {
        published.first { Data($0.key.secretBytes).base64EncodedString() == text }?
          .daysSinceOnsetOfSymptoms
      }
      #expect(keys.map { days($0.key) } == [1, 0, -1])
      #expect(days(Data(repeating: 9, count: 16).base64EncodedString()) == nil)
    }
  }

  @Test(
    "The file, its index line and its keys are removed after 14 days, a used token after it expired"
  )
  func retention() async throws {
    try await RunningKeyServer.run { server in
      try await server.upload(server.request(server.keys()))
      server.clock.advance(by: 4 * Self.hour)
      try await server.server.exportDue()
      let name = try #require(try await server.listed().first)
      server.clock.advance(by: KeyServerLimit.retentionSeconds - 1)
      try await server.server.removeOld()
      #expect(try await server.listed() == [name])
      #expect(try server.count("SELECT count(*) FROM upload") == 0)
      server.clock.advance(by: 1)
      try await server.server.removeOld()
      #expect(try await server.listed().isEmpty)
      #expect(try await server.get(KeyServerRoute.keyFile(name)).status == 404)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 0)
      let files = try FileManager.default.contentsOfDirectory(
        atPath: server.configuration.exportFolder.path)
      #expect(files == ["index.txt"])
    }
  }

  @Test(
    "After a crash between closing a batch and writing its file, the next export writes the file")
  func crashHeals() async throws {
    let folder = try TemporaryFolder()
    let authority = Authority()
    let clock = ManualClock(RunningKeyServer.start)
    var name: KeyFileName?
    var keys: [DiagnosisKey] = []
    try await RunningKeyServer.run(authority: authority, clock: clock, folder: folder) { server in
      try await server.upload(server.request(server.keys()))
      clock.advance(by: 4 * Self.hour)
      try await server.server.exportDue()
      name = try await server.listed().first
      keys = try await server.downloadedKeys(try #require(name)).keys
    }
    // The batch is closed; of the folder, only temporary files are left.
    let export = folder.path("export")
    try FileManager.default.removeItem(at: export)
    try FileManager.default.createDirectory(at: export, withIntermediateDirectories: true)
    let leftovers = [
      ".index.txt.unfinished-a1b2c3", ".\(try #require(name)).unfinished-a1b2c3",
      ".\(try #require(name))-a1b2c3",
    ]
    .map(export.appendingPathComponent)
    for file in leftovers { try Data("PK".utf8).write(to: file) }
    try await RunningKeyServer.run(authority: authority, clock: clock, folder: folder) { server in
      try await server.server.exportDue()
      try await server.server.removeOld()
      let first = try #require(name)
      let again = try #require(try await server.editions(of: first).first)
      #expect(try await server.listed() == [again])
      #expect(try await server.downloadedKeys(again).keys == keys)
      #expect(leftovers.allSatisfy { !FileManager.default.fileExists(atPath: $0.path) })
    }
  }

  @Test("The server exports at the end of each period by itself")
  func exportByItself() async throws {
    try await RunningKeyServer.run { server in
      try await server.upload(server.request(server.keys()))
      server.clock.advance(by: 4 * Self.hour)
      var names: [KeyFileName] = []
      try await Patience.until {
        names = try await server.listed()
        return !names.isEmpty
      }
      #expect(names.count == 1)
    }
  }
}
