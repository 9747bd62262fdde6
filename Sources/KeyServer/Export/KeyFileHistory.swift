// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import PostgreSQL

/// The hashes that the key files of a server have had, while the server runs or not: a file that is written again has
/// another hash, and phones may have read the earlier one.
package struct KeyFileHistory: Sendable {
  private let store: any KeyStore

  /// Opens the database of a server.
  ///
  /// - Throws: `KeyServerError.database`, or `.newerDatabase` if a newer version has migrated it.
  package init(
    databaseFile: URL, databaseAddress: PostgreSQLAddress? = nil
  ) throws(KeyServerError) {
    store = try KeyServerComposition.store(at: databaseFile, or: databaseAddress)
  }

  /// The hashes of all files that have had one of `hashes`, also of files that were removed from the exports.
  ///
  /// - Parameter includesCopies: True for those of all files that have the region and period of such a file, too.
  /// - Throws: `KeyServerError.unavailable`.
  package func editions(
    ofFilesWith hashes: Set<KeyFileHash>, includesCopies: Bool = false
  ) async throws(KeyServerError) -> Set<KeyFileHash> {
    let all = try await batches().map { batch in
      (scope: Scope(of: batch), hashes: Set(batch.hashes.compactMap { KeyFileHash($0) }))
    }
    let found = all.filter { !$0.hashes.isDisjoint(with: hashes) }
    let scopes = includesCopies ? Set(found.map { $0.scope }) : []
    return (found + all.filter { scopes.contains($0.scope) }).reduce([]) { $0.union($1.hashes) }
  }

  /// The hashes of the roll-ups that cover a file with one of `hashes`, and no other one with one of `withdrawn`: their
  /// withdrawal ends with that of these files.
  ///
  /// - Throws: `KeyServerError.unavailable`.
  package func rollUps(
    coveringFilesWith hashes: Set<KeyFileHash>, withdrawn: Set<KeyFileHash>
  ) async throws(KeyServerError) -> Set<KeyFileHash> {
    let all = try await batches()
    let rollUps = all.filter { RollUps.isRoot($0.export) }
    // Roll-ups are those of the export without a root.
    let files = all.filter { $0.export.isEmpty }
    let restored = files.filter { Self.has($0, oneOf: hashes) }
    let left = files.filter { Self.has($0, oneOf: withdrawn) && !restored.contains($0) }
    let others = Set(RollUps.batches(rollUps, notCovering: restored))
    let ended = RollUps.batches(rollUps, notCovering: left).filter { !others.contains($0) }
    return Set(ended.flatMap(\.hashes).compactMap { KeyFileHash($0) })
  }

  private static func has(_ batch: Batch, oneOf hashes: Set<KeyFileHash>) -> Bool {
    batch.hashes.contains { KeyFileHash($0).map(hashes.contains) ?? false }
  }

  /// Stores that `files` are withdrawn since `now`, or not any more, in a database that several processes share.
  ///
  /// - Throws: `KeyServerError`
  package func setFiles(
    _ files: [KeyFileHash], areWithdrawn: Bool, at now: Date
  ) async throws {
    try await store.setFiles(files, areWithdrawn: areWithdrawn, at: now)
  }

  /// The seconds after a restoration at `time` in which another one would give files the same names.
  ///
  /// - Parameter backup: The time of the backup, after which other periods may have ended.
  /// - Throws: `KeyServerError.unavailable`.
  package func secondsWithSameNames(
    restoredAt time: Date, from backup: Date
  ) async throws(KeyServerError) -> Int {
    let ends = try await batches().map(\.end)
    return RestoredEdition.seconds(ofFileFrom: ([backup] + ends).min() ?? backup, restoredAt: time)
  }

  private func batches() async throws(KeyServerError) -> [Batch] {
    do { return try await store.batches() } catch { throw .unavailable }
  }

  /// The region and period, which a file and its copies in other exports have in common.
  private struct Scope: Hashable {
    let region: String
    let start: Date
    let end: Date

    init(of batch: Batch) {
      (region, start, end) = (batch.region, batch.start, batch.end)
    }
  }
}
