/// What the health authority found, as far as a code carries it: no name, no place, no key.
struct Finding: Hashable, Sendable {
  /// `confirmed`.
  var reportType: String
  /// The first ten-minute interval of the day on which symptoms began, where known.
  var symptomOnsetInterval: UInt32?
}
