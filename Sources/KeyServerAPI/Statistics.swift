// SPDX-License-Identifier: Apache-2.0
import Foundation
import StrictJSON

/// The body of `POST /v1/stats`. The bearer token selects the health authority.
public struct StatisticsRequest: Encodable, Hashable, Sendable {
  /// Random text, ignored.
  public var padding: String?

  /// Creates a request.
  public init(padding: String? = nil) {
    self.padding = padding
  }

  /// Decodes a body strictly: see `PublishRequest.init(strictJSON:)`.
  public init(strictJSON body: Data) throws(StrictJSONError) {
    var cursor = JSONCursor(Array(body), atMost: .request)
    try cursor.object(["padding"], ignoringCase: true) { (_, cursor) throws(StrictJSONError) in
      try cursor.skipString()
    }
    try cursor.end()
  }
}

/// The response of `/v1/stats`. The server adds `padding`.
public struct StatisticsResponse: Codable, Hashable, Sendable {
  /// The days that are old and frequent enough to be shown, oldest first.
  public var days: [StatisticsDay]?
  /// The error in one sentence.
  public var error: String?
  /// The error for programs.
  public var code: PublishCode?

  /// Creates a response.
  public init(days: [StatisticsDay]? = nil, error: String? = nil, code: PublishCode? = nil) {
    (self.days, self.error, self.code) = (days, error, code)
  }
}

/// The upload counts of one day for one health authority.
public struct StatisticsDay: Codable, Hashable, Sendable {
  /// Uploads by the platform in their `User-Agent`.
  public struct Platforms: Codable, Hashable, Sendable {
    /// Another platform.
    public var unknown: Int
    /// Android.
    public var android: Int
    /// iOS.
    public var ios: Int

    /// Creates counts.
    public init(unknown: Int, android: Int, ios: Int) {
      (self.unknown, self.android, self.ios) = (unknown, android, ios)
    }

    /// The sum.
    public var total: Int { unknown + android + ios }
  }

  /// The start of the day in UTC (RFC 3339).
  public var day: String
  /// Accepted uploads.
  public var publishRequests: Platforms
  /// Stored keys.
  public var totalTEKsPublished: Int
  /// Uploads that revised a key.
  public var requestsWithRevisions: Int
  /// Uploads by the age of their oldest key, 0 to 15 days.
  public var tekAgeDistribution: [Int]
  /// Uploads by the days since the onset of symptoms, 0 to 29.
  public var onsetToUploadDistribution: [Int]
  /// Uploads without a known onset.
  public var requestsMissingOnsetDate: Int
  /// Uploads by the time since their token or certificate was issued, with the limits of `tokenToUploadMinutes`.
  public var tokenToUploadDistribution: [Int]
  /// Uploads by the time until the first export's file of their period was written, with the limits of
  /// `uploadToFileMinutes`. All are 0 until the files of the day are complete, and when one of them may have expired.
  public var uploadToFileDistribution: [Int]
  /// The files of the day, oldest first. There are none when `uploadToFileDistribution` has no counts.
  public var files: [File]

  /// A key file and its padding.
  public struct File: Codable, Hashable, Sendable {
    /// The line of the file in the index of its export.
    public var name: String
    /// The number of padding keys, rounded.
    public var padding: Int

    /// Creates a file.
    public init(name: String, padding: Int) {
      (self.name, self.padding) = (name, padding)
    }
  }

  /// The exclusive upper bounds of the buckets of `tokenToUploadDistribution`, in minutes; the last bucket has none.
  public static let tokenToUploadMinutes = [1, 2, 5, 10, 20]
  /// The same for `uploadToFileDistribution`.
  public static let uploadToFileMinutes = [30, 60, 120, 180, 240, 480]

  /// A day without uploads.
  public init(day: String) {
    self.day = day
    publishRequests = Platforms(unknown: 0, android: 0, ios: 0)
    (totalTEKsPublished, requestsWithRevisions, requestsMissingOnsetDate) = (0, 0, 0)
    tekAgeDistribution = Array(repeating: 0, count: 16)
    onsetToUploadDistribution = Array(repeating: 0, count: 30)
    tokenToUploadDistribution = Array(repeating: 0, count: Self.tokenToUploadMinutes.count + 1)
    uploadToFileDistribution = Array(repeating: 0, count: Self.uploadToFileMinutes.count + 1)
    files = []
  }

  private enum CodingKeys: String, CodingKey {
    case day
    case publishRequests = "publish_requests"
    case totalTEKsPublished = "total_teks_published"
    case requestsWithRevisions = "requests_with_revisions"
    case tekAgeDistribution = "tek_age_distribution"
    case onsetToUploadDistribution = "onset_to_upload_distribution"
    case requestsMissingOnsetDate = "requests_missing_onset_date"
    case tokenToUploadDistribution = "token_to_upload_distribution"
    case uploadToFileDistribution = "upload_to_file_distribution"
    case files
  }
}
