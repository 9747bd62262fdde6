/// What one detection found.
struct Findings: Sendable {
  /// How many keys this phone has met.
  var matchedKeyCount = 0
  /// The encounters, or the judged days.
  var exposures: [Exposure] = []
  /// Whether they are of all files of the last fourteen days, as in API version 2, and not only of
  /// those that the detection was given.
  var coversAllFiles = false
}
