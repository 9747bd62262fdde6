/// The response to `VerificationRoute.statistics`: the numbers of codes by day in UTC, newest day first.
///
/// The fields are those of Google's verification server. A day without codes is absent.
public struct CodeStatisticsResponse: Codable, Sendable, Hashable {
  /// A day, `YYYY-MM-DD`, and its numbers.
  public struct Day: Codable, Sendable, Hashable {
    public let date: String
    public let data: Counts

    public init(date: String, data: Counts) {
      self.date = date
      self.data = data
    }
  }

  /// The numbers of one day.
  public struct Counts: Codable, Sendable, Hashable {
    /// The codes that were issued.
    public let codesIssued: Int
    /// The codes that were exchanged for a token.
    public let codesClaimed: Int
    /// The verification tokens that were exchanged for a certificate.
    public let tokensClaimed: Int
    /// The used codes by the time since they were issued: up to 1, 5, 15 and 30 minutes, 1, 2, 3, 6, 12 and 24 hours,
    /// and longer.
    public let claimAges: [Int]
    /// The mean of these times, in seconds; 0 if no code was used.
    public let claimMeanSeconds: Int64

    public init(
      codesIssued: Int, codesClaimed: Int, tokensClaimed: Int, claimAges: [Int],
      claimMeanSeconds: Int64
    ) {
      self.codesIssued = codesIssued
      self.codesClaimed = codesClaimed
      self.tokensClaimed = tokensClaimed
      self.claimAges = claimAges
      self.claimMeanSeconds = claimMeanSeconds
    }

    private enum CodingKeys: String, CodingKey {
      case codesIssued = "codes_issued"
      case codesClaimed = "codes_claimed"
      case tokensClaimed = "tokens_claimed"
      case claimAges = "code_claim_age_distribution"
      case claimMeanSeconds = "code_claim_mean_age_seconds"
    }
  }

  public let statistics: [Day]

  public init(statistics: [Day]) {
    self.statistics = statistics
  }
}
