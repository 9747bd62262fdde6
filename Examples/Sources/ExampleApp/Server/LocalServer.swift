// SPDX-License-Identifier: Apache-2.0
import App
import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation

/// A health authority in a folder: codes, keys and signed key files. It replaces the two servers of
/// Firebreak, which do this over HTTP with separate databases.
final class LocalServer {
  /// The region and the key ID of its files.
  static let region = (name: "PL", keyID: "260", keyVersion: "v1")

  private struct State: Codable {
    /// The issued codes; true if used.
    var codes: [String: Bool] = [:]
    /// The uploads of the used codes, so that a repeated upload gets the same response.
    var uploads: [String: [PublishedKey]] = [:]
    /// Keys that are not published until their beacons are no longer valid.
    var waiting: [PublishedKey] = []
    /// The keys of all files.
    var published: [PublishedKey] = []
    var fileCount = 0
  }

  private let folder: URL
  private let signer: KeyFileSigner
  private let now: () -> Date
  private var state: State

  /// Opens the authority in `folder`, or creates it with a new signing key.
  init(in folder: URL, now: @escaping () -> Date) throws {
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("files"), withIntermediateDirectories: true)
    self.folder = folder
    self.now = now
    signer = try AuthorityKey.signer(in: folder)
    let stored = try? Data(contentsOf: folder.appendingPathComponent("book.json"))
    state = try stored.map { try JSONDecoder().decode(State.self, from: $0) } ?? State()
    try publishDueKeys()
  }

  /// Issues a code for one positive test.
  func issueCode() throws -> String {
    let code = (0..<6).map { _ in String(Int.random(in: 0...9)) }.joined()
    state.codes[code] = false
    try save()
    return code
  }

  /// The start of each published key.
  var publishedDays: [Date] { state.published.map { Self.interval($0).date } }

  /// Removes all keys and files.
  func removeKeys() throws {
    for number in 1..<(state.fileCount + 1) {
      try? FileManager.default.removeItem(at: file(number))
    }
    state = State(codes: state.codes)
    try save()
  }

  func isUnused(_ code: String) -> Bool { state.codes[code] == false }

  /// Accepts new keys and uses the code. The same upload succeeds again.
  func take(_ keys: [PublishedKey], code: String) throws {
    guard state.uploads[code] != keys else { return }
    guard isUnused(code) else { throw LocalServerError.codeNotValid }
    for key in keys where !(state.waiting + state.published).contains(key) {
      state.waiting.append(key)
    }
    state.codes[code] = true
    state.uploads[code] = keys
    try save()
  }

  func fileNumbers(from number: Int) -> [Int] {
    Array((1..<(state.fileCount + 1)).drop { $0 < number })
  }

  /// Copies one file for the app, which deletes the copy.
  func copy(ofFile number: Int) throws -> URL {
    guard fileNumbers(from: 1).contains(number) else { throw LocalServerError.noSuchFile }
    let copy = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(UUID().uuidString).zip")
    try FileManager.default.copyItem(at: file(number), to: copy)
    return copy
  }

  /// Publishes a signed file with the keys that ended at least two hours ago.
  private func publishDueKeys() throws {
    let due = state.waiting.filter {
      let end = Double($0.rollingStartNumber + $0.rollingPeriod) * IntervalNumber.seconds
      return end + 7_200 <= now().timeIntervalSince1970
    }
    let keys = due.compactMap(Self.diagnosisKey)
    guard !keys.isEmpty else { return }
    let end = UInt64(now().timeIntervalSince1970)
    try KeyFileWriter.write(
      to: file(state.fileCount + 1), start: end - 86_400, end: end, region: Self.region.name,
      keys: keys.sorted(by: DiagnosisKey.inFileOrder), signers: [signer])
    state.waiting.removeAll(where: due.contains)
    state.published += due
    state.fileCount += 1
    try save()
  }

  private func file(_ number: Int) -> URL {
    folder.appendingPathComponent("files/\(number).zip")
  }

  private func save() throws {
    let data = try JSONEncoder().encode(state)
    try data.write(to: folder.appendingPathComponent("book.json"), options: .atomic)
  }

  private static func interval(_ key: PublishedKey) -> IntervalNumber {
    IntervalNumber(rawValue: key.rollingStartNumber)
  }

  /// Converts a key; `nil` if it is invalid.
  private static func diagnosisKey(_ key: PublishedKey) -> DiagnosisKey? {
    TemporaryExposureKey(
      bytes: key.keyData, rollingStart: interval(key), rollingPeriod: key.rollingPeriod
    ).flatMap {
      DiagnosisKey(
        key: $0, transmissionRiskLevel: key.transmissionRiskLevel, reportType: .confirmedTest)
    }
  }
}

/// An error of the server.
enum LocalServerError: LocalizedError {
  case codeNotValid
  case noSuchFile

  var errorDescription: String? {
    switch self {
    case .codeNotValid: return "The code is not known or has been used; ask for a new one."
    case .noSuchFile: return "The server has no such key file; ask for the list again."
    }
  }
}

/// The signing key of the server and the region configuration with its public key.
enum AuthorityKey {
  /// The region configuration for phones.
  static func regionFile(in folder: URL) -> URL { folder.appendingPathComponent("region.json") }

  /// The signer of the server in `folder`; created at first use.
  static func signer(in folder: URL) throws -> KeyFileSigner {
    let file = folder.appendingPathComponent("signing-key.pem")
    let pem: String
    if let stored = try? String(contentsOf: file, encoding: .utf8) {
      pem = stored
    } else {
      pem = P256.Signing.PrivateKey().pemRepresentation
      try PrivateFile.write(Data(pem.utf8), to: file)
    }
    let signer = try KeyFileSigner(
      privateKeyPEM: pem, keyID: LocalServer.region.keyID,
      keyVersion: LocalServer.region.keyVersion)
    try JSONEncoder().encode([
      "countryCode": LocalServer.region.name, "regionIdentifier": LocalServer.region.keyID,
      "publicKeyVersion": LocalServer.region.keyVersion, "publicKey": signer.publicKeyPEM,
    ]).write(to: regionFile(in: folder), options: .atomic)
    return signer
  }
}

/// Files that only their owner can read.
enum PrivateFile {
  /// Writes `data` to a new file.
  static func write(_ data: Data, to file: URL) throws {
    let isMade = FileManager.default.createFile(
      atPath: file.path, contents: data, attributes: [.posixPermissions: 0o600])
    guard isMade else { throw CocoaError(.fileWriteUnknown) }
  }
}
