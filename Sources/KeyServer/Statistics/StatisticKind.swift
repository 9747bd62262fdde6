/// What is counted of uploads. Documentation/KeyServer.md 10.
enum StatisticKind: String, CaseIterable, Sendable {
  /// Uploads, a bucket for each `StatisticPlatform`.
  case uploads
  /// Keys that are in.
  case keys
  /// Uploads that revised a key.
  case revisions
  /// Uploads by the age of their oldest key, in days.
  case oldestKey
  /// Uploads by the days since the onset of symptoms.
  case onset
  /// Uploads that nobody knew an onset of.
  case missingOnset
}
