/// What one detection found.
struct Findings: Sendable {
  /// How many keys this phone has met.
  var matchedKeyCount = 0
  /// The encounters.
  var exposures: [Exposure] = []
}
