// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgreSQL
import Synchronization

/// The right of one process to close periods and to record files, as a row of the database.
///
/// A lease ends by itself if its process hangs or is lost. Each one has a number, the fence, which every transaction of
/// its holder checks and renews: a process that lost the lease without noticing changes nothing. An advisory lock alone
/// is free as soon as a connection ends, while its process goes on.
struct ExportLease: Sendable {
  /// The time after the last transaction of the holder in which no other process gets the lease, in seconds. Writing
  /// the largest file takes a few seconds.
  static let seconds = 120

  /// Another process holds the lease.
  struct Lost: Error {}

  private let holder: String
  private let fence = Fence()

  private final class Fence: Sendable {
    /// Nil while this process does not hold the lease.
    let value = Mutex<Int64?>(nil)
  }

  static let table = """
    CREATE TABLE export_lease (
      id smallint PRIMARY KEY CHECK (id = 1),
      holder text,
      fence bigint NOT NULL DEFAULT 0,
      held_until timestamptz
    )
    """

  /// - Parameter holder: A random name of this process.
  init(holder: String) {
    self.holder = holder
  }

  /// The fence of the lease that this process holds.
  var heldFence: Int64? { fence.value.withLock { $0 } }

  /// Takes the lease, unless another process holds it. Its holder locks the row while it closes periods; this does not
  /// wait for it.
  ///
  /// - Returns: The fence of the lease; nil if another process holds it.
  func take(_ transaction: PostgreSQLTransaction) throws -> Int64? {
    try transaction.run(
      """
      UPDATE export_lease SET holder = $1, fence = fence + 1,
        held_until = clock_timestamp() + $2 * interval '1 second'
      WHERE id IN (
        SELECT id FROM export_lease
        WHERE holder IS NULL OR holder = $1 OR held_until < clock_timestamp()
        FOR UPDATE SKIP LOCKED
      ) RETURNING fence
      """, .text(holder), .integer(Self.seconds)
    ).firstInteger
  }

  /// Renews the lease in a transaction that depends on it. Without a lease, as in commands and tests that export alone,
  /// nothing is checked.
  ///
  /// - Throws: `Lost`
  func renew(_ transaction: PostgreSQLTransaction) throws {
    guard let held = heldFence else { return }
    let rows = try transaction.run(
      """
      UPDATE export_lease SET held_until = clock_timestamp() + $3 * interval '1 second'
      WHERE holder = $1 AND fence = $2
      """, .text(holder), .integer(held), .integer(Self.seconds))
    guard rows.changedCount == 1 else { throw Lost() }
  }

  /// Gives the lease up.
  func release(_ fence: Int64, _ transaction: PostgreSQLTransaction) throws {
    try transaction.run(
      "UPDATE export_lease SET holder = NULL, held_until = NULL WHERE holder = $1 AND fence = $2",
      .text(holder), .integer(fence))
  }

  /// Records the fence of this process; nil after the lease was given up.
  func hold(_ fence: Int64?) { self.fence.value.withLock { $0 = fence } }
}
