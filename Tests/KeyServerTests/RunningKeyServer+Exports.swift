import DiagnosisKeyFile
import ExposureKeys
import Foundation
import GRDB
import KeyServer
import KeyServerAPI
import TestSupport
import Testing

/// What a phone gets of one key file.
struct PublishedFile {
  var keys: [DiagnosisKey] = []
  var revisedKeys: [DiagnosisKey] = []
  var signatures: [String] = []

  /// The keys as an upload writes them.
  var texts: Set<String> { Set(keys.map(\.text)) }
}

extension DiagnosisKey {
  /// The bytes as an upload writes them.
  var text: String { Data(key.secretBytes).base64EncodedString() }
}

extension RunningKeyServer {
  /// The lines of the index of the export under `root`.
  func lines(of root: String = "") async throws -> [String] {
    let answer = try await get(KeyServerRoute.index(of: root))
    #expect(answer.status == 200)
    return String(decoding: answer.body, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// The file that a line of an index names, verified by one of the authority's keys.
  func published(_ line: String, by signer: Int = 0) async throws -> PublishedFile {
    let answer = try await get("/" + line)
    #expect(answer.status == 200, "\(line)")
    let file = folder.path("download-\(UUID().uuidString).zip")
    try answer.body.write(to: file)
    var published = PublishedFile()
    let verified = try UnverifiedKeyFile(at: file).verified(
      by: [verificationKeys[signer]], batchSize: 100
    ) { batch in
      if batch.areRevised {
        published.revisedKeys += batch.keys
      } else {
        published.keys += batch.keys
      }
    }
    published.signatures = verified.facts.signatures.map(\.verificationKeyVersion)
    return published
  }

  /// Every file of the export under `root`, oldest first.
  func allPublished(of root: String = "") async throws -> [PublishedFile] {
    var files: [PublishedFile] = []
    for line in try await lines(of: root) { files.append(try await published(line)) }
    return files
  }

  /// Uploads new keys of these regions; returns them as an upload writes them.
  func uploadKeys(
    _ count: Int = 3, regions: [String] = ["PL"], travels: Bool = false
  ) async throws -> Set<String> {
    let keys = keys(count)
    let request = try await request(keys) {
      $0.data.regions = regions
      $0.isInteroperabilityEnabled = travels
    }
    #expect(try await upload(request).status == 200)
    return Set(keys.map(\.key))
  }

  /// Lets a period pass and exports.
  func exportPeriod(seconds: TimeInterval = 14_400) async throws {
    clock.advance(by: seconds)
    try await server.exportDue()
  }

  /// Changes the database as another transaction of the server would.
  func change(_ sql: String, _ arguments: StatementArguments = []) throws {
    try inDatabase { try $0.execute(sql: sql, arguments: arguments) }
  }

  /// Removes every file of the export folder, as a disk that was lost would.
  func loseFiles() throws {
    for file in FileManager.default.enumerator(
      at: configuration.exportFolder, includingPropertiesForKeys: nil)?.allObjects ?? []
    {
      if let url = file as? URL, url.pathExtension == "zip" {
        try FileManager.default.removeItem(at: url)
      }
    }
  }
}
