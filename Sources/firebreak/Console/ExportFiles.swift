import DiagnosisKeyFile
import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import Synchronization
import World

/// The facts about key files for the console. A file is read once and again when it has changed.
final class ExportFiles: Sendable {
  /// The files of an export that are shown.
  static let shownMax = 12
  private static let batchSize = 1_000

  private struct Cached {
    let version: FileVersion
    let facts: ExportFacts.File
  }

  private let cached = Mutex<[String: Cached]>([:])

  /// An export with its newest files.
  func facts(
    of export: ExportConfiguration, in folder: URL, keys: [SecretSigningKey], at now: Date
  ) -> ExportFacts {
    let root = export.filenameRoot
    let own = root.isEmpty ? folder : folder.appendingPathComponent(root)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: own.path)) ?? []
    let newest = names.compactMap { KeyFileName($0) }.sorted().suffix(Self.shownMax).reversed()
    let publicKeys = keys.compactMap {
      try? VerificationPublicKey(
        keyID: $0.keyID, keyVersion: $0.keyVersion ?? "v1", publicKeyPEM: $0.publicKeyPEM)
    }
    let period = TimeInterval(export.periodSeconds)
    let next = ((now.timeIntervalSince1970 / period).rounded(.down) + 1) * period
    return ExportFacts(
      root: root, region: export.region, periodSeconds: export.periodSeconds,
      keysMin: export.minimumKeys, nextFile: Date(timeIntervalSince1970: next),
      files: newest.compactMap { file($0, at: own.appendingPathComponent($0.text), publicKeys) })
  }

  private func file(
    _ name: KeyFileName, at url: URL, _ keys: [VerificationPublicKey]
  ) -> ExportFacts.File? {
    guard let version = FileVersion(path: url.path) else { return nil }
    if let known = cached.withLock({ $0[url.path] }), known.version == version {
      return known.facts
    }
    guard let hash = KeyFileHash(ofFile: url),
      let size = try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber,
      let inspected = try? UnverifiedKeyFile(at: url).inspect()
    else { return nil }
    let verified = try? UnverifiedKeyFile(at: url).verified(by: keys, batchSize: Self.batchSize) {
      _ in
    }
    let facts = ExportFacts.File(
      name: name.text, bytes: size.intValue, keyCount: inspected.keyCount,
      isSigned: verified != nil, hash: hash, end: name.endTimestamp)
    cached.withLock { $0[url.path] = Cached(version: version, facts: facts) }
    return facts
  }
}
