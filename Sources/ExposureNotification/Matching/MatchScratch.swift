import CExposureKernels
import DiagnosisKeyFile

/// The reusable buffers of one searching thread: the keys to search, sorted by group, in the column layout
/// of the kernels.
///
/// Unchecked because of its pointers: only one thread uses an instance at a time.
final class MatchScratch: @unchecked Sendable {
  /// Adjacent keys of one group.
  struct Run {
    let group: Int
    let indices: Range<Int>
  }

  /// The sorted keys, 16 bytes each, with the interval span to search.
  let keys: UnsafeMutablePointer<(UInt64, UInt64)>
  let first: UnsafeMutablePointer<UInt32>
  let length: UnsafeMutablePointer<UInt16>
  /// The row of each sorted key in the batch.
  let row: UnsafeMutablePointer<Int32>
  /// The output of the kernels.
  let candidates: UnsafeMutablePointer<ek_candidate>
  let capacity: Int

  /// Group and span of each row in the original order; `noGroup` if there is nothing to search.
  private let groups: UnsafeMutablePointer<Int32>
  private let spanFirst: UnsafeMutablePointer<UInt32>
  private let spanLength: UnsafeMutablePointer<UInt16>
  /// The number of keys of each group, then the index for its next key.
  private let positions: UnsafeMutablePointer<Int32>
  private let groupCount: Int
  private static let noGroup: Int32 = -1

  init(capacity: Int, groupCount: Int) {
    self.capacity = capacity
    keys = .allocate(capacity: capacity)
    first = .allocate(capacity: capacity)
    length = .allocate(capacity: capacity)
    row = .allocate(capacity: capacity)
    candidates = .allocate(capacity: MatchLimit.candidates)
    groups = .allocate(capacity: capacity)
    spanFirst = .allocate(capacity: capacity)
    spanLength = .allocate(capacity: capacity)
    positions = .allocate(capacity: groupCount)
    self.groupCount = groupCount
  }

  deinit {
    keys.deallocate()
    first.deallocate()
    length.deallocate()
    row.deallocate()
    candidates.deallocate()
    groups.deallocate()
    spanFirst.deallocate()
    spanLength.deallocate()
    positions.deallocate()
  }

  /// Copies those of `rows`, at most `capacity`, that have intervals to search, sorted by group (a counting
  /// sort), and returns the runs.
  func sort(_ rows: ArraySlice<KeyRow>, by searchIntervals: SearchIntervals) -> [Run] {
    positions.update(repeating: 0, count: groupCount)
    return rows.withUnsafeBufferPointer { rows in
      group(rows, by: searchIntervals)
      let runs = self.runs()
      for index in rows.indices where groups[index] != Self.noGroup {
        let sorted = Int(positions[Int(groups[index])])
        positions[Int(groups[index])] += 1
        keys[sorted] = rows[index].words
        first[sorted] = spanFirst[index]
        length[sorted] = spanLength[index]
        row[sorted] = Int32(index)
      }
      return runs
    }
  }

  /// Computes group and span of each row, and counts the keys of each group.
  private func group(_ rows: UnsafeBufferPointer<KeyRow>, by searchIntervals: SearchIntervals) {
    for index in rows.indices {
      guard let span = searchIntervals.span(rows[index].rollingStart, rows[index].lastInterval)
      else {
        groups[index] = Self.noGroup
        continue
      }
      groups[index] = Int32(truncatingIfNeeded: span.group)
      spanFirst[index] = span.first
      spanLength[index] = UInt16(truncatingIfNeeded: span.last - span.first + 1)
      positions[span.group] += 1
    }
  }

  /// Returns the runs and replaces the counts by the groups' start indices.
  private func runs() -> [Run] {
    var runs: [Run] = []
    var start: Int32 = 0
    for group in 0..<groupCount {
      let count = positions[group]
      positions[group] = start
      if count > 0 { runs.append(Run(group: group, indices: Int(start)..<Int(start + count))) }
      start += count
    }
    return runs
  }
}
