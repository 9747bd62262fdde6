// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Secrets
import World

/// The content of one key file.
///
/// A batch describes its keys and does not list them. No key is added to a closed period, so the description always
/// selects the same keys.
struct Batch: Hashable, Sendable {
  /// The file name root of the export.
  let export: String
  /// The region in the file's header.
  let region: String
  /// The end of the period, plus a second for each earlier file of the same period.
  let end: Date
  /// The keys: the first file of a period has no lower limit, the last one no upper limit.
  let selection: KeySelection
  /// The hash by which damage to the file is detected; nil until it was written and verified.
  var sha256: Data?
  /// The hashes of the file before it was written again.
  var earlierHashes: [Data] = []
  /// The moment at which the file was written for the first time.
  var writtenAt: Date?
  /// The number of padding keys in the file; 0 until it was written.
  var paddingCount = 0
  /// The number in the file name. It grows whenever the file is written again, because caches may keep what they have
  /// under a name.
  var edition = 1

  /// The start of the period.
  var start: Date { selection.start }

  /// All hashes that the file has had.
  var hashes: [Data] { earlierHashes + [sha256].compactMap(\.self) }

  /// The least edition of the file if the clock was confirmed at `confirmed`, the time of a restoration. Before it the
  /// file may have had any edition of which the backup does not know. It grows with the time, so that the next
  /// restoration of the same backup gives other names.
  func leastEdition(confirmed: Date?) -> Int {
    guard let confirmed, end < confirmed else { return 1 }
    return RestoredEdition.least(ofFileFrom: end, restoredAt: confirmed)
  }

  /// The file name; nil before 2001 and after 2286.
  var name: KeyFileName? {
    KeyFileName(
      start: start.unixSecond, end: end.unixSecond, edition: edition)
  }
}

extension Batch: Redacted {
  /// The name only: the range consists of two keys.
  var description: String { "Batch(\(export)/\(name?.text ?? ""))" }
}
