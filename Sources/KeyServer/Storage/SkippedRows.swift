// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The rows that were left out of files because their checksums are wrong.
final class SkippedRows: Sendable {
  private let rows = Atomic<Int>(0)

  /// Counts a row.
  func add() { rows.add(1, ordering: .relaxed) }

  /// The number of rows since the start.
  var count: Int { rows.load(ordering: .relaxed) }
}
