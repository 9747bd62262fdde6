import Crypto
import Foundation
import GRDB
import World

/// The work that no key server can avoid for an upload, done without a server: a P-256 signature is verified, and the
/// keys and a used token are stored in SQLite and synced.
///
/// Its time depends on the processor and the disk, as that of an upload does, so the ratio of both can be compared
/// between machines. One thread does it; the uploads of a group share a transaction.
struct BareUploads {
  private let database: DatabaseQueue
  private let keysPerUpload: Int
  private let uploadsPerCommit: Int
  private let randomness: any Randomness
  private let publicKey: P256.Signing.PublicKey
  private let signature: P256.Signing.ECDSASignature

  /// The signed part of a certificate.
  private static let signed = Data(repeating: UInt8(ascii: "a"), count: 600)
  /// The length of a key's other columns in the database of the key server.
  private static let keyValues = Data(count: 36)
  /// The length of a token's other columns, mostly the stored response.
  private static let tokenValues = Data(count: 560)
  private static let tokenByteCount = 32
  private static let keyByteCount = 16

  /// Creates the database in `folder`, with the settings of the key server's.
  init(
    in folder: URL, keysPerUpload: Int, uploadsPerCommit: Int, randomness: any Randomness
  ) throws {
    self.keysPerUpload = keysPerUpload
    self.uploadsPerCommit = uploadsPerCommit
    self.randomness = randomness
    let key = P256.Signing.PrivateKey()
    publicKey = key.publicKey
    signature = try key.signature(for: Self.signed)
    database = try DatabaseQueue(path: folder.appendingPathComponent("bare.sqlite").path)
    try database.writeWithoutTransaction { try $0.execute(sql: Self.schema) }
  }

  private static let schema = """
    PRAGMA page_size = 2048;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 65536;
    PRAGMA cache_size = -32768;
    CREATE TABLE diagnosis_key (key_data BLOB NOT NULL PRIMARY KEY, other BLOB NOT NULL)
      STRICT, WITHOUT ROWID;
    CREATE TABLE upload (token_digest BLOB NOT NULL PRIMARY KEY, other BLOB NOT NULL)
      STRICT, WITHOUT ROWID;
    """

  /// Returns the elapsed time of `count` uploads.
  ///
  /// - Throws: `DatabaseError` if the disk is full, for example.
  func time(of count: Int) throws -> Duration {
    // Before the clock starts, as the uploads for the server are generated.
    let groups = stride(from: 0, to: count, by: uploadsPerCommit).map { first in
      (0..<min(uploadsPerCommit, count - first)).map { _ in rows() }
    }
    let start = ContinuousClock.now
    for group in groups { try store(group) }
    return ContinuousClock.now - start
  }

  private func rows() -> Rows {
    Rows(
      token: Data(randomness.bytes(Self.tokenByteCount)),
      keys: (0..<keysPerUpload).map { _ in Data(randomness.bytes(Self.keyByteCount)) })
  }

  private func store(_ group: [Rows]) throws {
    for _ in group {
      guard publicKey.isValidSignature(signature, for: Self.signed) else {
        preconditionFailure("a signature is not valid for its own message")
      }
    }
    try database.write { db in
      let token = try db.cachedStatement(sql: "INSERT INTO upload VALUES (?, ?)")
      let key = try db.cachedStatement(sql: "INSERT INTO diagnosis_key VALUES (?, ?)")
      for rows in group {
        try token.execute(arguments: [rows.token, Self.tokenValues])
        for data in rows.keys { try key.execute(arguments: [data, Self.keyValues]) }
      }
    }
  }

  /// The rows of an upload.
  private struct Rows {
    let token: Data
    let keys: [Data]
  }
}
