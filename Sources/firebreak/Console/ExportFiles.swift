import DiagnosisKeyFile
import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import Synchronization
import World

/// Facts about key files for the console, cached until a file changes.
final class ExportFiles: Sendable {
  /// The number of files of an export that are shown: four days of hourly files.
  static let shownMax = 4 * 24
  /// The maximum age of shown files relative to the newest one, in seconds. Padding is shown from the third day on.
  static let shownSeconds: Int64 = 4 * 86_400
  /// The number of files of an export whose keys are counted: two weeks of hourly files.
  static let countedMax = 14 * 24
  private static let batchSize = 1_000

  private struct Cached {
    let version: FileVersion
    let facts: ExportFacts.File
  }

  private struct Counted {
    let version: FileVersion
    let keys: Int
  }

  private let cached = Mutex<[String: Cached]>([:])
  private let counted = Mutex<[String: Counted]>([:])

  /// An export with its newest files.
  ///
  /// - Parameter padding: The padding of files, by their line in the index.
  func facts(
    of export: ExportConfiguration, in folder: URL, keys: [SecretSigningKey],
    padding: [String: Int], at now: Date
  ) -> ExportFacts {
    let own = Self.folder(of: export, in: folder)
    let names = Self.names(in: own)
    let oldest = (names.last?.endTimestamp ?? 0) - Self.shownSeconds
    let newest = names.filter { $0.endTimestamp > oldest }.suffix(Self.shownMax).reversed()
    let publicKeys = keys.compactMap {
      try? VerificationPublicKey(
        keyID: $0.keyID, keyVersion: $0.keyVersion ?? "v1", publicKeyPEM: $0.publicKeyPEM)
    }
    let period = TimeInterval(export.periodSeconds)
    let next = ((now.timeIntervalSince1970 / period).rounded(.down) + 1) * period
    return ExportFacts(
      root: export.filenameRoot, region: export.region, periodSeconds: export.periodSeconds,
      keysMin: export.minimumKeys, nextFile: Date(timeIntervalSince1970: next),
      files: newest.compactMap { name in
        var file = file(name, at: own.appendingPathComponent(name.text), publicKeys)
        file?.padding = padding[KeyFileIndex.line(name, under: export.filenameRoot)]
        return file
      })
  }

  /// The number of keys in the newest files of an export, by the start of the day on which their period ends.
  func keysByDay(of export: ExportConfiguration, in folder: URL) -> [Int64: Int] {
    let own = Self.folder(of: export, in: folder)
    return Self.names(in: own).suffix(Self.countedMax).reduce(into: [:]) { keys, name in
      let url = own.appendingPathComponent(name.text)
      keys[name.endTimestamp / 86_400 * 86_400, default: 0] += keyCount(at: url) ?? 0
    }
  }

  private func keyCount(at url: URL) -> Int? {
    guard let version = FileVersion(path: url.path) else { return nil }
    if let known = counted.withLock({ $0[url.path] }), known.version == version {
      return known.keys
    }
    guard let keys = try? UnverifiedKeyFile(at: url).inspect().keyCount else { return nil }
    counted.withLock { $0[url.path] = Counted(version: version, keys: keys) }
    return keys
  }

  private static func folder(of export: ExportConfiguration, in folder: URL) -> URL {
    export.filenameRoot.isEmpty ? folder : folder.appendingPathComponent(export.filenameRoot)
  }

  /// Oldest first.
  private static func names(in folder: URL) -> [KeyFileName] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.compactMap { KeyFileName($0) }.sorted()
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
