import CExposureKernels
import DiagnosisKeyFile

/// The memory that one thread needs to search a batch: the keys in reach, sorted by group, in columns
/// as the kernels read them. Used again and again.
///
/// Not Sendable by its pointers: one thread has it at a time.
final class MatchScratch: @unchecked Sendable {
  /// The keys of one group that lie beside each other.
  struct Run {
    let group: Int
    let places: Range<Int>
  }

  /// The sorted keys, 16 bytes each, and what of each is searched.
  let keys: UnsafeMutablePointer<(UInt64, UInt64)>
  let first: UnsafeMutablePointer<UInt32>
  let length: UnsafeMutablePointer<UInt16>
  /// Where in the batch each sorted key stands.
  let row: UnsafeMutablePointer<Int32>
  /// What the kernels hand over.
  let candidates: UnsafeMutablePointer<ek_candidate>
  /// How many keys fit.
  let capacity: Int

  /// The same of the keys as they come; no group where nothing is in reach.
  private let groups: UnsafeMutablePointer<Int32>
  private let spanFirst: UnsafeMutablePointer<UInt32>
  private let spanLength: UnsafeMutablePointer<UInt16>
  /// How many keys each group has, then where its next key goes.
  private let places: UnsafeMutablePointer<Int32>
  private let groupCount: Int
  private static let noGroup: Int32 = -1

  /// Memory for `capacity` keys of `groupCount` groups.
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
    places = .allocate(capacity: groupCount)
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
    places.deallocate()
  }

  /// Takes over those of `rows`, at most `capacity`, that are in reach, and sorts them by group; the
  /// runs that there are.
  func sort(_ rows: ArraySlice<KeyRow>, by reach: SearchIntervals) -> [Run] {
    places.update(repeating: 0, count: groupCount)
    return rows.withUnsafeBufferPointer { rows in
      group(rows, by: reach)
      let runs = self.runs()
      for index in rows.indices where groups[index] != Self.noGroup {
        let place = Int(places[Int(groups[index])])
        places[Int(groups[index])] += 1
        keys[place] = rows[index].words
        first[place] = spanFirst[index]
        length[place] = spanLength[index]
        row[place] = Int32(index)
      }
      return runs
    }
  }

  /// Notes group and span of each row, and counts the groups.
  private func group(_ rows: UnsafeBufferPointer<KeyRow>, by reach: SearchIntervals) {
    for index in rows.indices {
      guard let span = reach.span(rows[index].rollingStart, rows[index].lastInterval) else {
        groups[index] = Self.noGroup
        continue
      }
      groups[index] = Int32(truncatingIfNeeded: span.group)
      spanFirst[index] = span.first
      spanLength[index] = UInt16(truncatingIfNeeded: span.last - span.first + 1)
      places[span.group] += 1
    }
  }

  /// The runs by the counts of the groups; the counts then are where each run begins.
  private func runs() -> [Run] {
    var runs: [Run] = []
    var start: Int32 = 0
    for group in 0..<groupCount {
      let count = places[group]
      places[group] = start
      if count > 0 { runs.append(Run(group: group, places: Int(start)..<Int(start + count))) }
      start += count
    }
    return runs
  }
}
