// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import Terminal
import World

/// The two most expensive parts of an upload without a server: the verification of a P-256 signature, and the insertion
/// of the keys and a used token into an SQLite database, synced.
///
/// Their time depends on the processor and the disk, as that of an upload does. It is a reference for the rate of a
/// server and no limit: here one thread does everything in sequence.
struct BareUploads {
  let database: DatabaseQueue
  private let keysPerUpload: Int
  private let uploadsPerCommit: Int
  private let randomness: any Randomness
  private let publicKey: P256.Signing.PublicKey
  private let signature: P256.Signing.ECDSASignature

  /// The maximum number of uploads in a measurement, which limits its time and memory.
  static let countMax = 10_000
  /// The maximum number of uploads in a commit, as in the key server.
  static let uploadsPerCommitMax = 64

  /// The signed part of a certificate.
  private static let signed = Data(repeating: UInt8(ascii: "a"), count: 600)
  /// A value as long as the other columns of a key in the database of the key server.
  private static let keyValues = Data(count: 36)
  /// The same for a token; most of it is the stored response.
  private static let tokenValues = Data(count: 560)
  private static let tokenByteCount = 32
  private static let keyByteCount = 16

  /// Creates the database in `folder`.
  ///
  /// - Throws: `CommandFailure` if it cannot be written.
  init(
    in folder: URL, keysPerUpload: Int, uploadsPerCommit: Int, randomness: any Randomness
  ) throws {
    self.keysPerUpload = keysPerUpload
    self.uploadsPerCommit = min(uploadsPerCommit, Self.uploadsPerCommitMax)
    self.randomness = randomness
    let key = P256.Signing.PrivateKey()
    publicKey = key.publicKey
    signature = try key.signature(for: Self.signed)
    do {
      database = try DatabaseQueue(path: folder.appendingPathComponent("bare.sqlite").path)
      try database.writeWithoutTransaction { try $0.execute(sql: Self.schema) }
    } catch {
      throw Self.notStored
    }
  }

  /// The settings of the key server's database are copied and not shared, so that a change of them shows. Checkpoints
  /// run in the commits.
  private static let schema = """
    PRAGMA page_size = 2048;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 65536;
    PRAGMA cache_size = -32768;
    PRAGMA secure_delete = ON;
    CREATE TABLE diagnosis_key (key_data BLOB NOT NULL PRIMARY KEY, other BLOB NOT NULL)
      STRICT, WITHOUT ROWID;
    CREATE TABLE upload (token_digest BLOB NOT NULL PRIMARY KEY, other BLOB NOT NULL)
      STRICT, WITHOUT ROWID;
    """

  /// Returns the elapsed time of `count` uploads.
  ///
  /// - Throws: `CommandFailure` if the database cannot be written; `CancellationError` if the task is cancelled.
  func time(of count: Int, _ bar: ProgressLine) async throws -> Duration {
    // Before the clock starts, as the uploads for the server are generated.
    let groups = stride(from: 0, to: count, by: uploadsPerCommit).map { first in
      (0..<min(uploadsPerCommit, count - first)).map { _ in rows() }
    }
    let start = ContinuousClock.now
    for (number, group) in groups.enumerated() {
      try await store(group)
      bar.show(number * uploadsPerCommit, of: count)
    }
    return ContinuousClock.now - start
  }

  private func rows() -> Rows {
    Rows(
      token: Data(randomness.bytes(Self.tokenByteCount)),
      keys: (0..<keysPerUpload).map { _ in Data(randomness.bytes(Self.keyByteCount)) })
  }

  private func store(_ group: [Rows]) async throws {
    for _ in group {
      guard publicKey.isValidSignature(signature, for: Self.signed) else {
        preconditionFailure("a signature is not valid for its own message")
      }
    }
    do {
      try await insert(group)
    } catch is DatabaseError {
      throw Self.notStored
    }
  }

  private func insert(_ group: [Rows]) async throws {
    try await database.write { db in
      let token = try db.cachedStatement(sql: "INSERT INTO upload VALUES (?, ?)")
      let key = try db.cachedStatement(sql: "INSERT INTO diagnosis_key VALUES (?, ?)")
      for rows in group {
        try token.execute(arguments: [rows.token, Self.tokenValues])
        for data in rows.keys { try key.execute(arguments: [data, Self.keyValues]) }
      }
    }
  }

  private static let notStored = CommandFailure(
    status: .machineFailed,
    message: "Uploads without a server cannot be measured: check the free space of the disk.")

  /// The rows of an upload.
  private struct Rows: Sendable {
    let token: Data
    let keys: [Data]
  }
}
