// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import KeyServerAPI
import Logging
import QuietHTTP
import StrictJSON
import TextEncodings
import UploadToken
import World

/// `POST /v1/stats`: an authority reads the counts of its own uploads.
struct StatisticsRoute: Sendable {
  typealias Body = Result<StatisticsRequest, StrictJSONError>

  let registry: CachedRegistry
  let store: any KeyStore
  let clock: any WallClock
  let configuration: StatisticsConfiguration
  let rounding: StatisticRounding
  /// The export whose files count as the publication of an upload.
  let exportRoot: String
  /// The exports whose padding a realm sees, by its issuer: those of its own regions. No other
  /// authority sees it.
  let rootsOfRealms: [String: Set<String>]
  /// Counts invalid requests, apart from failed uploads.
  let failures: FailureBudget
  let randomness: any Randomness

  /// The route for the router.
  func makeRoute() -> QuietRoute<Body> {
    QuietRoute(
      limit: BodyLimit(bytesMax: PublishLimit.bodyBytesMax), refusals: .publish,
      shape: .publish, randomness: randomness,
      read: { bytes in
        Result { () throws(StrictJSONError) in try StatisticsRequest(strictJSON: bytes) }
      },
      // A decoy needs no token, so its response has no days.
      decoy: { _ in try PaddedResponse(StatisticsResponse(days: [])) },
      respond: { try await respond(to: $0) })
  }

  private func respond(to request: QuietRequest<Body>) async throws -> PaddedResponse {
    try await failures.attempt(from: request.context) {
      if case .failure(let fault) = request.body {
        return .failed(
          try PaddedResponse(
            StatisticsResponse(error: "\(fault)", code: .badRequest), status: .badRequest))
      }
      let days: [StatisticsDay]
      do throws(StatisticsRefusal) {
        days = try await self.days(
          for: request.headers[.authorization], logger: request.context.logger)
      } catch {
        return error == .unavailable ? .succeeded(try error.response) : .failed(try error.response)
      }
      return .succeeded(try PaddedResponse(StatisticsResponse(days: days)))
    }
  }

  /// The days of the authority that signed the bearer token.
  private func days(
    for authorization: String?, logger: Logger
  ) async throws(StatisticsRefusal) -> [StatisticsDay] {
    let now = clock.now
    do {
      let issuer = try Self.issuer(of: authorization, in: try await registry.registry(), at: now)
      let counts = try await store.statistics(
        of: issuer, from: StatisticsView.firstDay(at: now))
      var files = try await fileCounts()
      files.shownRoots = rootsOfRealms[issuer]
      files.hiddenRoots = rootsOfRealms.values.reduce(into: []) { $0.formUnion($1) }
      return StatisticsView(now: now, configuration: configuration, rounding: rounding)
        .days(of: counts, issuer: issuer, files: files)
    } catch let refusal as StatisticsRefusal {
      throw refusal
    } catch {
      logger.error("statistics not read", metadata: KeyServerError.metadata(of: error))
      throw .unavailable
    }
  }

  /// The newest day that may be shown of each authority, by issuer.
  func newestDays() async throws -> [String: StatisticsDay] {
    let now = clock.now
    let files = try await fileCounts()
    let view = StatisticsView(now: now, configuration: configuration, rounding: rounding)
    var newest: [String: StatisticsDay] = [:]
    for issuer in try await registry.registry().authorities.keys {
      let counts = try await store.statistics(of: issuer, from: StatisticsView.firstDay(at: now))
      newest[issuer] = view.days(of: counts, issuer: issuer, files: files).last
    }
    return newest
  }

  private func fileCounts() async throws -> FileCounts {
    // The progress is read first, so that a period that is closed between the reads counts as open.
    let closedUntil = try await store.exportProgress().closedUntil[exportRoot]
    return FileCounts(
      files: try await store.batches(), root: exportRoot, closedUntil: closedUntil)
  }

  private static func issuer(
    of authorization: String?, in registry: Registry, at now: Date
  ) throws(StatisticsRefusal) -> String {
    let words = (authorization ?? "").split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bearer" else { throw .unauthorized }
    do {
      let token = try CompactToken(String(words[1]))
      guard let hint = token.hint(StatisticsClaims.self),
        registry.authorities[hint.iss]?.seesStatistics == true,
        let key = registry.key(token.keyID, of: hint.iss, at: now)
      else { throw StatisticsRefusal.unauthorized }
      let claims = try token.claims(StatisticsClaims.self, signedBy: key)
      guard claims.iss == hint.iss, claims.isValid(at: now) else {
        throw StatisticsRefusal.unauthorized
      }
      return claims.iss
    } catch {
      throw .unauthorized
    }
  }
}

/// The reason why statistics are not returned.
private enum StatisticsRefusal: Error {
  case unauthorized
  case unavailable

  var response: PaddedResponse {
    get throws {
      switch self {
      case .unauthorized:
        let message = "The bearer token does not permit reading statistics."
        return try PaddedResponse(
          StatisticsResponse(error: message, code: .unauthorized), status: .unauthorized)
      case .unavailable:
        let message = "The counts cannot be read; try again later."
        return try PaddedResponse(
          StatisticsResponse(error: message, code: .internalError), status: .serviceUnavailable,
          retryAfterSeconds: QuietLimit.retryAfterSeconds)
      }
    }
  }
}

/// The claims of the bearer token with which an authority reads its statistics.
private struct StatisticsClaims: Decodable {
  static let audience = "keyserver"

  let iss: String
  let aud: Audience
  let iat: Int64?
  let nbf: Int64?
  let exp: Int64

  /// One name or an array (RFC 7519 4.1.3).
  struct Audience: Decodable {
    let names: [String]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let name = container.decodeIfMatching(String.self) {
        names = [name]
      } else {
        names = try container.decode([String].self)
      }
    }
  }

  /// True if the token is for this server and valid at `now`.
  func isValid(at now: Date) -> Bool {
    let seconds = now.timeIntervalSince1970
    return aud.names == [Self.audience] && seconds < TimeInterval(exp)
      && seconds >= TimeInterval(max(iat ?? 0, nbf ?? 0)) - UploadTokenLimit.clockSkewSeconds
  }
}

/// The two conditions under which a day of the statistics is shown.
public struct StatisticsConfiguration: Hashable, Sendable {
  /// The least number of uploads of the day; not less than `KeyServerLimit.statisticsUploadsMin`.
  public var uploadsMin = KeyServerLimit.statisticsUploadsMin
  /// The least number of seconds since the end of the day; within `KeyServerLimit.statisticsDelaySeconds`.
  public var delaySeconds = 48 * 3_600

  /// A configuration with all defaults.
  public init() {}
}

extension StatisticsConfiguration {
  /// Rejects values that would reveal the upload of a single user.
  func checked() throws(KeyServerError) {
    guard uploadsMin >= KeyServerLimit.statisticsUploadsMin else {
      throw .configuration(
        "statistics.uploadsMin must be at least \(KeyServerLimit.statisticsUploadsMin).")
    }
    let delays = KeyServerLimit.statisticsDelaySeconds
    guard delays.contains(delaySeconds) else {
      throw .configuration(
        "statistics.delaySeconds must be \(delays.lowerBound) to \(delays.upperBound).")
    }
  }
}
