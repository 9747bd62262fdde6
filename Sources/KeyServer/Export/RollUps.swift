// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import World

/// The roll-ups of the ProteGO Safe export: exports of the same keys with longer periods, so that a phone that was off
/// for days downloads few files.
///
/// Phones take the files of a roll-up together and instead of all files of its period. So its index never lists a part
/// of one, nor one that covers a withdrawn file: phones download the other files of the period then.
enum RollUps {
  /// The roll-ups of `export`: those whose period is longer and contains whole periods of it.
  ///
  /// They need no padding of their own: each key is in a padded file of `export`, and so is the padding.
  static func exports(of export: ExportConfiguration) -> [ExportConfiguration] {
    KeyServerRoute.rollUpHours.filter { hours in
      hours * 3_600 > export.periodSeconds && hours * 3_600 % export.periodSeconds == 0
    }.map { hours in
      var rollUp = export
      rollUp.filenameRoot = KeyServerRoute.rollUpRoot(hours: hours)
      rollUp.periodSeconds = hours * 3_600
      (rollUp.minimumKeys, rollUp.paddingRange) = (0, 0)
      return rollUp
    }
  }

  /// The file name roots of roll-ups.
  static let roots = KeyServerRoute.rollUpHours.map { KeyServerRoute.rollUpRoot(hours: $0) }

  /// Their names in messages.
  static var rootList: String { roots.joined(separator: ", ") }

  /// True for the file name root of roll-ups, also of a server that does not make them any more.
  static func isRoot(_ root: String) -> Bool { roots.contains(root) }

  /// The roll-ups of `batches` that cover no key of the files `withdrawn`.
  static func batches(_ batches: [Batch], notCovering withdrawn: [Batch]) -> [Batch] {
    batches.filter { batch in
      !withdrawn.contains {
        $0.start < batch.selection.end && batch.start < $0.selection.end
      }
    }
  }

  /// The starts of the periods of which all files are in `names`.
  ///
  /// - Parameter batches: All files of the roll-ups.
  static func completeStarts(of batches: [Batch], in names: [KeyFileName]) -> Set<Int64> {
    let present = Dictionary(grouping: names) { $0.startTimestamp }
    let all = Dictionary(grouping: batches) { $0.start.unixSecond }
    return Set(all.filter { $0.value.count == present[$0.key]?.count }.keys)
  }
}
