/// What was counted of one day's uploads, for the authority whose certificates they came with.
///
/// Documentation/KeyServer.md 10.3.
public struct StatisticsDay: Codable, Hashable, Sendable {
  /// Uploads by the platform their `User-Agent` names.
  public struct Platforms: Codable, Hashable, Sendable {
    /// Neither of the two.
    public var unknown: Int
    /// Android.
    public var android: Int
    /// iOS.
    public var ios: Int

    /// So many of each.
    public init(unknown: Int, android: Int, ios: Int) {
      (self.unknown, self.android, self.ios) = (unknown, android, ios)
    }

    /// All of them.
    public var total: Int { unknown + android + ios }
  }

  /// The first moment of the day in UTC, as RFC 3339 writes it.
  public var day: String
  /// Uploads that were taken.
  public var publishRequests: Platforms
  /// Keys that are in.
  public var totalTEKsPublished: Int
  /// Uploads that revised a key.
  public var requestsWithRevisions: Int
  /// Uploads by the age of their oldest key, 0 to 15 days.
  public var tekAgeDistribution: [Int]
  /// Uploads by the days since the onset of symptoms, 0 to 29.
  public var onsetToUploadDistribution: [Int]
  /// Uploads that nobody knew an onset of.
  public var requestsMissingOnsetDate: Int

  /// A day with nothing in it yet.
  public init(day: String) {
    self.day = day
    publishRequests = Platforms(unknown: 0, android: 0, ios: 0)
    (totalTEKsPublished, requestsWithRevisions, requestsMissingOnsetDate) = (0, 0, 0)
    tekAgeDistribution = Array(repeating: 0, count: 16)
    onsetToUploadDistribution = Array(repeating: 0, count: 30)
  }

  private enum CodingKeys: String, CodingKey {
    case day
    case publishRequests = "publish_requests"
    case totalTEKsPublished = "total_teks_published"
    case requestsWithRevisions = "requests_with_revisions"
    case tekAgeDistribution = "tek_age_distribution"
    case onsetToUploadDistribution = "onset_to_upload_distribution"
    case requestsMissingOnsetDate = "requests_missing_onset_date"
  }
}
