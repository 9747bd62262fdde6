// SPDX-License-Identifier: Apache-2.0
import CExposureKernels
import DiagnosisKeyFile
import ExposureKeys

/// The intervals within the tolerance of a sighting.
///
/// A key whose period contains none of them cannot match and is skipped before any derivation. On most
/// days most users meet no one for hours, so this skips many keys.
struct SearchIntervals: Sendable {
  /// The intervals of a key to search: from the first one within the tolerance of a sighting to the last.
  struct Span: Equatable {
    /// The number of the group of keys that are searched together. Each day has two groups: spans within
    /// the day, and spans that continue into the next one.
    let group: Int
    let first: UInt32
    let last: UInt32
  }

  /// The days with an interval to search, in days since 1970.
  private(set) var days: [UInt32] = []
  /// For each step of each day: the nearest step to search at or after it, and at or before it.
  private var next: [UInt8] = []
  private var previous: [UInt8] = []
  /// A hash table with open addressing: the index into `days`.
  private var slots: [Int32]
  private let mask: UInt32

  private static let perDay = IntervalNumber.perDay
  private static let none = UInt8.max
  private static let empty: Int32 = -1

  /// Creates the set for sightings in `intervals`, which must be sorted.
  init(of intervals: [UInt32]) {
    var steps: [[Bool]] = []
    var end: UInt64 = 0
    for interval in intervals {
      let range = Matcher.tolerance(around: IntervalNumber(rawValue: interval))
      for number in max(end, UInt64(range.lowerBound))..<max(end, UInt64(range.upperBound) + 1) {
        let day = UInt32(number) / Self.perDay
        if days.last != day {
          days.append(day)
          steps.append([Bool](repeating: false, count: Int(Self.perDay)))
        }
        steps[steps.count - 1][Int(UInt32(number) % Self.perDay)] = true
      }
      end = max(end, UInt64(range.upperBound) + 1)
    }
    let slotCount = 1 << (Int.bitWidth - max(4 * days.count - 1, 1).leadingZeroBitCount)
    slots = [Int32](repeating: Self.empty, count: slotCount)
    mask = UInt32(slotCount - 1)
    for day in steps.indices { add(steps[day], asDay: day) }
  }

  private mutating func add(_ steps: [Bool], asDay day: Int) {
    var slot = Int(days[day] & mask)
    while slots[slot] != Self.empty { slot = (slot + 1) & Int(mask) }
    slots[slot] = Int32(day)
    var previous = [UInt8](repeating: Self.none, count: steps.count)
    var next = previous
    var near = Self.none
    for step in steps.indices {
      if steps[step] { near = UInt8(step) }
      previous[step] = near
    }
    near = Self.none
    for step in steps.indices.reversed() {
      if steps[step] { near = UInt8(step) }
      next[step] = near
    }
    self.previous += previous
    self.next += next
  }

  var groupCount: Int { 2 * days.count }

  /// The intervals in which keys of `group` may be searched.
  func intervals(of group: Int) -> ClosedRange<UInt32> {
    let first = days[group / 2] * Self.perDay
    let count = group % 2 == 0 ? Self.perDay : 2 * Self.perDay
    let (last, overflow) = first.addingReportingOverflow(count - 1)
    return first...(overflow ? .max : last)
  }

  /// The span to search of `first`...`last`, which is at most a day long; nil if there is none.
  @inline(__always)
  func span(_ first: UInt32, _ last: UInt32) -> Span? {
    let (day, step) = first.quotientAndRemainder(dividingBy: Self.perDay)
    let (lastDay, lastStep) = last.quotientAndRemainder(dividingBy: Self.perDay)
    guard day != lastDay else { return span(within: day, Int(step), Int(lastStep)) }
    let head = span(within: day, Int(step), Int(Self.perDay) - 1)
    let tail = span(within: lastDay, 0, Int(lastStep))
    guard let head else { return tail }
    guard let tail else { return head }
    return Span(group: head.group + 1, first: head.first, last: tail.last)
  }

  @inline(__always)
  private func span(within day: UInt32, _ first: Int, _ last: Int) -> Span? {
    guard let number = number(of: day) else { return nil }
    let offset = number * Int(Self.perDay)
    let (from, to) = (next[offset + first], previous[offset + last])
    guard from != Self.none, Int(from) <= last else { return nil }
    let start = day * Self.perDay
    return Span(group: 2 * number, first: start + UInt32(from), last: start + UInt32(to))
  }

  @inline(__always)
  private func number(of day: UInt32) -> Int? {
    var slot = Int(day & mask)
    while slots[slot] != Self.empty {
      let number = Int(slots[slot])
      if days[number] == day { return number }
      slot = (slot + 1) & Int(mask)
    }
    return nil
  }
}

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
