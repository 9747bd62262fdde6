import DiagnosisKeyFile
import ExposureKeys

/// Tells the keys that may still be heard: those whose time, with the tolerance, is not over.
package struct OpenKeys: Sendable {
  private let rollingStarts: ClosedRange<Int64>
  private let firstEnd: Int64

  /// Those that are open in the interval `now`.
  package init(at now: IntervalNumber) {
    let (time, tolerance) = (Int64(now.rawValue), Int64(Matcher.toleranceIntervals))
    // A key that begins later than tomorrow is nobody's.
    rollingStarts = 0...(time + Int64(IntervalNumber.perDay))
    firstEnd = time - tolerance + 1
  }

  /// Those of `rows`, in their order.
  func keys(of rows: [KeyRow]) -> [DiagnosisKey] {
    var keys: [DiagnosisKey] = []
    for row in rows
    where Int64(row.lastInterval) + 1 >= firstEnd
      && rollingStarts.contains(Int64(row.rollingStart))
    {
      keys.append(row.diagnosisKey)
    }
    return keys
  }
}
