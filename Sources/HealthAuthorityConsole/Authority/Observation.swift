// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import KeyServerAPI
import NIOCore
import NIOHTTP1
import QuietHTTP
import VerificationAPI

/// The counts of one day, aggregated over all codes.
package struct FunnelDay: Hashable, Sendable {
  /// The start of the day in Unix seconds.
  package let day: Int64
  /// The codes that were issued; nil if the server does not count.
  package let issued: Int?
  /// The codes that were exchanged for a token.
  package let redeemed: Int?
  /// The mean time from the issue of these codes to their exchange, in seconds.
  package let redeemSeconds: Int?
  /// The accepted uploads.
  package let uploads: Int?
  /// The median time from the exchange to the upload.
  package let uploadTime: MedianTime?
  /// The median time from the upload to the file with its keys.
  package let fileTime: MedianTime?
  /// The keys in published files, padding included.
  package let published: Int?

  package init(
    day: Int64, issued: Int?, redeemed: Int?, redeemSeconds: Int? = nil, uploads: Int?,
    uploadTime: MedianTime? = nil, fileTime: MedianTime? = nil, published: Int?
  ) {
    self.day = day
    self.issued = issued
    self.redeemed = redeemed
    self.redeemSeconds = redeemSeconds
    self.uploads = uploads
    self.uploadTime = uploadTime
    self.fileTime = fileTime
    self.published = published
  }
}

/// The codes that a system has issued on one day, rounded down by the verification server.
package struct IssuerCodes: Hashable, Sendable {
  /// The ways in which a system is known.
  package enum Kind: Hashable, Sendable {
    case apiKey
    /// By the name that the system sends with its requests.
    case externalIssuer
  }

  /// The day in UTC, such as `2027-01-15`.
  package let day: String
  package let kind: Kind
  package let name: String
  package let codes: Int

  package init(day: String, kind: Kind, name: String, codes: Int) {
    self.day = day
    self.kind = kind
    self.name = name
    self.codes = codes
  }
}

/// The attempts of apps with codes and tokens on one day, rounded down by the verification server.
package struct AppAttempts: Hashable, Sendable {
  /// The day in UTC, such as `2027-01-15`.
  package let day: String
  /// The device key of the apps; nil for all apps, also those of the ProteGO Safe contract, which have no key.
  package let app: String?
  /// The codes that were exchanged for a token; nil for all apps, whose number the funnel has.
  package var codesClaimed: Int?
  /// The codes that were unknown, used or expired.
  package let codesInvalid: Int
  /// The tokens that were exchanged for a certificate; nil for all apps.
  package var tokensClaimed: Int?
  /// The tokens that were refused.
  package let tokensInvalid: Int
  /// The invalid codes by the system of the app; nil for a device key, and if the server does not count them.
  package var codesInvalidBySystem: CodeStatisticsResponse.InvalidCodes?

  package init(day: String, app: String?, codesInvalid: Int, tokensInvalid: Int) {
    self.day = day
    self.app = app
    self.codesInvalid = codesInvalid
    self.tokensInvalid = tokensInvalid
  }
}

/// The median of a time, as a bucket boundary of the key server's histogram.
package enum MedianTime: Hashable, Sendable {
  case under(minutes: Int)
  case over(minutes: Int)

  /// The median of a histogram whose bucket boundaries are in minutes; nil if all counts were rounded to zero.
  package init?(of counts: [Int], limits: [Int]) {
    let all = counts.reduce(0, +)
    var counted = 0
    let median = counts.firstIndex { count in
      counted += count
      return counted > 0 && 2 * counted >= all
    }
    guard let median, let longest = limits.last else { return nil }
    self =
      limits.indices.contains(median) ? .under(minutes: limits[median]) : .over(minutes: longest)
  }
}

/// An export with its newest files.
package struct ExportFacts: Hashable, Sendable {
  /// A key file.
  package struct File: Hashable, Sendable {
    package let name: String
    package let bytes: Int
    /// The keys in it, padding included.
    package let keyCount: Int
    /// The number of padding keys, rounded; nil if the statistics of its day omit it.
    package var padding: Int?
    /// True if its signature was verified.
    package let isSigned: Bool
    /// The SHA-256, by which it can be withdrawn.
    package let hash: KeyFileHash
    /// The end of its period, in Unix seconds.
    package let end: Int64

    package init(
      name: String, bytes: Int, keyCount: Int, padding: Int? = nil, isSigned: Bool,
      hash: KeyFileHash, end: Int64
    ) {
      self.name = name
      self.bytes = bytes
      self.keyCount = keyCount
      self.padding = padding
      self.isSigned = isSigned
      self.hash = hash
      self.end = end
    }
  }

  /// The name of the export; empty for that of the ProteGO Safe contract.
  package let root: String
  package let region: String
  package let periodSeconds: Int
  /// The least number of keys in a file, padding included.
  package let keysMin: Int
  /// The time of the next file.
  package let nextFile: Date
  /// Newest first.
  package let files: [File]

  package init(
    root: String, region: String, periodSeconds: Int, keysMin: Int, nextFile: Date, files: [File]
  ) {
    self.root = root
    self.region = region
    self.periodSeconds = periodSeconds
    self.keysMin = keysMin
    self.nextFile = nextFile
    self.files = files
  }
}

/// A key file in the folder of an export, by which the copies of a file are found.
package struct KeyFileCopy: Hashable, Sendable {
  /// The name of the export; empty for that of the ProteGO Safe contract.
  package let root: String
  package let region: String
  package let name: String
  /// The keys in it, padding included.
  package let keyCount: Int
  package let hash: KeyFileHash

  package init(root: String, region: String, name: String, keyCount: Int, hash: KeyFileHash) {
    self.root = root
    self.region = region
    self.name = name
    self.keyCount = keyCount
    self.hash = hash
  }
}

/// The client of the key server's statistics: the counts of an authority's uploads by day.
package struct StatisticsClient: Sendable {
  private let server: URL
  private let responseSeconds: Int64

  /// - Parameter responseSeconds: The timeout of a response; nil for `ConsoleLimit.responseSecondsMax`.
  package init(server url: URL, responseSeconds: Int64? = nil) {
    server = url
    self.responseSeconds = responseSeconds ?? ConsoleLimit.responseSecondsMax
  }

  /// The days that the server shows: those with enough uploads, long enough ago, with rounded counts.
  ///
  /// - Parameter token: A token that an authority has signed.
  package func days(token: String) async throws(AuthorityFailure) -> [StatisticsDay] {
    do {
      let address = server.appendingPathComponent(KeyServerRoute.statistics).absoluteString
      var request = HTTPClientRequest(url: address)
      request.method = .POST
      request.headers.add(name: "content-type", value: "application/json")
      request.headers.add(name: "authorization", value: "Bearer \(token)")
      request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(StatisticsRequest())))
      let response = try await HTTPClient.withoutRedirects.execute(
        request, timeout: .seconds(responseSeconds))
      let body = try await response.body.collect(upTo: ConsoleLimit.responseBytesMax)
      guard response.status == .ok else { throw AuthorityFailure.unavailable }
      let answer = try JSONDecoder().decode(
        StatisticsResponse.self, from: Data(body.readableBytesView))
      return answer.days ?? []
    } catch {
      throw .unavailable
    }
  }
}
