/// The ranges that the authority's thresholds cut, from near to far. A value on a threshold is near.
enum AttenuationRange {
  /// Which range `decibels` falls into: 0 up to the first threshold, and so on.
  static func index(of decibels: UInt8, thresholds: [UInt8]) -> Int {
    thresholds.firstIndex { decibels <= $0 } ?? thresholds.count
  }
}
