// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI

/// The hashes that the key files of a server have had, while the server runs or not: a file that is written again has
/// another hash, and phones may have read the earlier one.
package struct KeyFileHistory: Sendable {
  private let store: any KeyStore

  /// Opens the database of a server.
  ///
  /// - Throws: `KeyServerError.database`, or `.newerDatabase` if a newer version has migrated it.
  package init(databaseFile: URL) throws(KeyServerError) {
    store = try KeyServerComposition.store(at: databaseFile)
  }

  /// The hashes of all files that have had one of `hashes`.
  ///
  /// - Throws: `KeyServerError.unavailable`.
  package func editions(
    ofFilesWith hashes: Set<KeyFileHash>
  ) async throws(KeyServerError) -> Set<KeyFileHash> {
    let batches: [Batch]
    do { batches = try await store.batches() } catch { throw .unavailable }
    return batches.map { Set($0.hashes.compactMap { KeyFileHash($0) }) }
      .filter { !$0.isDisjoint(with: hashes) }
      .reduce([]) { $0.union($1) }
  }
}
