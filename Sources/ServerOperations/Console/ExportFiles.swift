// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureKeys
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
      // Files that only an unreadable key has signed are shown as not signed.
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

  /// For each hash, the key file with it and its copies in all exports; nothing for a hash without a file. The folders
  /// are read once for all hashes.
  ///
  /// A copy has the same region and period, or shares a key: an export with another period or with keys of more regions
  /// has the keys in other files.
  func copies(
    ofEach hashes: Set<KeyFileHash>, among exports: [ExportConfiguration], in folder: URL
  ) -> [KeyFileHash: [KeyFileCopy]] {
    if hashes.isEmpty { return [:] }
    let all = exports.flatMap { export in
      let own = Self.folder(of: export, in: folder)
      return Self.names(in: own).reversed().compactMap { name -> StoredFile? in
        let url = own.appendingPathComponent(name.text)
        return KeyFileHash(ofFile: url).map {
          StoredFile(export: export, name: name, url: url, hash: $0)
        }
      }
    }
    let chosen = all.filter { hashes.contains($0.hash) }.map { ($0.hash, copies(of: $0, in: all)) }
    return Dictionary(chosen) { first, _ in first }
  }

  private func copies(of chosen: StoredFile, in all: [StoredFile]) -> [KeyFileCopy] {
    let keys = Set(chosen.keys)
    return all.filter { file in
      guard file.url != chosen.url, file.overlaps(chosen) else { return file.url == chosen.url }
      return file.isSamePeriod(chosen) || file.keys.contains(where: keys.contains)
    }.map { file in
      KeyFileCopy(
        root: file.export.filenameRoot, region: file.export.region, name: file.name.text,
        keyCount: keyCount(at: file.url) ?? 0, hash: file.hash)
    }
  }

  /// A key file on disk.
  private struct StoredFile {
    let export: ExportConfiguration
    let name: KeyFileName
    let url: URL
    let hash: KeyFileHash

    private var start: Int64 {
      name.startTimestamp ?? name.endTimestamp - Int64(export.periodSeconds)
    }

    func overlaps(_ other: Self) -> Bool {
      start < other.name.endTimestamp && other.start < name.endTimestamp
    }

    func isSamePeriod(_ other: Self) -> Bool {
      export.region == other.export.region && start == other.start
        && name.endTimestamp == other.name.endTimestamp
    }

    /// The keys; those up to the damage if the file is damaged.
    var keys: [TemporaryExposureKey] {
      var keys: [TemporaryExposureKey] = []
      // A damaged file is compared by the keys that can be read.
      _ = try? UnverifiedKeyFile(at: url).unverifiedKeys(batchSize: ExportFiles.batchSize) {
        keys += $0.keys.map(\.key)
      }
      return keys
    }
  }

  private func keyCount(at url: URL) -> Int? {
    guard let version = FileVersion(path: url.path) else { return nil }
    if let known = counted.withLock({ $0[url.path] }), known.version == version {
      return known.keys
    }
    // A file that is no key file has no number of keys.
    guard let keys = try? UnverifiedKeyFile(at: url).inspect().keyCount else { return nil }
    counted.withLock { $0[url.path] = Counted(version: version, keys: keys) }
    return keys
  }

  private static func folder(of export: ExportConfiguration, in folder: URL) -> URL {
    export.filenameRoot.isEmpty ? folder : folder.appendingPathComponent(export.filenameRoot)
  }

  /// Oldest first.
  private static func names(in folder: URL) -> [KeyFileName] {
    let names = FileManager.default.names(in: folder)
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
      let size = FileManager.default.attributes(of: url)?[.size] as? NSNumber,
      // A file that is no key file, or was removed meanwhile, is not listed.
      let inspected = try? UnverifiedKeyFile(at: url).inspect()
    else { return nil }
    // A file with a wrong signature, or without one by these keys, is listed as not signed.
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
