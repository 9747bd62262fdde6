/// What `firebreak match` is willing to read.
enum SightingsLimit {
  /// Rows of one CSV: fifty times what a phone hears in fourteen crowded days.
  static let rowCountMax = 1_000_000
  /// Unix seconds that a row may state: those that have an interval number of 32 bits.
  static let times = 0...(Int(UInt32.max) * 600 + 599)
  /// Signal strengths that a row may state, in dBm: those that a radio can report.
  static let signalStrengths = Int(Int8.min)...Int(Int8.max)
}
