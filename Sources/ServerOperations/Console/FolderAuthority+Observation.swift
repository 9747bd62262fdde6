// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import ServerStorage
import Settings
import UploadToken
import VerificationAPI
import VerificationServer
import World

/// The facts that the console shows: the funnel from codes to keys, the exports, and the effect of a configuration.
extension FolderAuthority {
  /// The counts of the verification server, and the upload statistics of the key server, which are rounded and omit
  /// days with few uploads. If a server does not respond, its columns are empty.
  func funnel() async throws(AuthorityFailure) -> [FunnelDay] {
    // The columns of a server that does not respond are empty.
    let codes = try? await codesByDay()
    let published: [Int64: Int]?
    do throws(AuthorityFailure) { published = try await publishedByDay() } catch {
      // Without any counts, the page shows the reason.
      guard codes != nil else { throw error }
      published = nil
    }
    let uploads = await uploadsByDay()
    let days = Set(uploads.keys).union((codes ?? [:]).keys).union((published ?? [:]).keys)
    return days.sorted().map { day in
      FunnelDay(
        day: day, issued: codes.map { $0[day]?.codesIssued ?? 0 },
        redeemed: codes.map { $0[day]?.codesClaimed ?? 0 },
        redeemSeconds: codes?[day].map { Int($0.claimMeanSeconds) },
        uploads: uploads[day]?.publishRequests.total,
        uploadTime: uploads[day].flatMap {
          MedianTime(of: $0.tokenToUploadDistribution, limits: StatisticsDay.tokenToUploadMinutes)
        },
        fileTime: uploads[day].flatMap {
          MedianTime(of: $0.uploadToFileDistribution, limits: StatisticsDay.uploadToFileMinutes)
        },
        published: published.map { $0[day] ?? 0 })
    }
  }

  func codesByIssuer() async throws(AuthorityFailure) -> [IssuerCodes] {
    let client = try await codes.client()
    let keys = try await client.issuers(VerificationRoute.apiKeysStatistics).flatMap { day in
      // Device keys issue none.
      day.issuers.filter { $0.codesIssued > 0 }.map { issuer in
        let id = issuer.apiKeyID ?? ""
        return IssuerCodes(
          day: String(day.date.prefix(10)), kind: .apiKey,
          name: issuer.apiKeyName.map { "\($0) (\(id))" } ?? id, codes: issuer.codesIssued)
      }
    }
    let external = try await client.issuers(VerificationRoute.externalIssuerStatistics)
      .flatMap { day in
        day.issuers.map { issuer in
          IssuerCodes(
            day: String(day.date.prefix(10)), kind: .externalIssuer,
            name: issuer.externalIssuer ?? "", codes: issuer.codesIssued)
        }
      }
    return (keys + external).enumerated().sorted {
      ($1.element.day, $0.offset) < ($0.element.day, $1.offset)
    }.map(\.element)
  }

  /// A day on which all numbers are zero is left out.
  func attempts() async throws(AuthorityFailure) -> [AppAttempts] {
    let client = try await codes.client()
    let all = try await client.statistics().compactMap { day -> AppAttempts? in
      guard let codes = day.data.codesInvalid, let tokens = day.data.tokensInvalid,
        codes + tokens > 0
      else { return nil }
      var attempts = AppAttempts(
        day: String(day.date.prefix(10)), app: nil, codesInvalid: codes, tokensInvalid: tokens)
      attempts.codesInvalidBySystem = day.data.codesInvalidBySystem
      return attempts
    }
    let apps = try await client.issuers(VerificationRoute.apiKeysStatistics).flatMap { day in
      day.issuers.compactMap { AppAttempts($0, day: String(day.date.prefix(10))) }
    }
    return (all + apps).enumerated().sorted {
      ($1.element.day, $0.offset) < ($0.element.day, $1.offset)
    }.map(\.element)
  }

  /// A day without codes is absent.
  private func codesByDay() async throws(AuthorityFailure)
    -> [Int64: CodeStatisticsResponse.Counts]
  {
    let days = try await codes.client().statistics()
    return Dictionary(days.compactMap { day in Self.start(of: day.date).map { ($0, day.data) } }) {
      $1
    }
  }

  /// The keys in the files of the first export. Other exports may have the same keys, so a sum would count them twice.
  private func publishedByDay() async throws(AuthorityFailure) -> [Int64: Int] {
    try await withKeys { setup in
      let exports = try setup.keySettings().configuration.exports
      return exports.first.map { files.keysByDay(of: $0, in: folder.exports) } ?? [:]
    }
  }

  /// The start of a day such as `2027-01-15` or `2027-01-15T00:00:00Z`, in Unix seconds.
  private static func start(of day: String) -> Int64? {
    let form = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
    // The day of a server that writes another form is left out.
    return (try? Date(String(day.prefix(10)), strategy: form)).map(\.unixSecond)
  }

  private struct StatisticsClaims: Encodable, Sendable {
    let iss: String
    let aud = "keyserver"
    let iat: Int64
    let exp: Int64
  }

  /// The statistics of uploads by day; none if the key server does not respond.
  private func uploadsByDay() async -> [Int64: StatisticsDay] {
    // The pages show everything else without them.
    (try? await requestUploadStatistics()) ?? [:]
  }

  private func requestUploadStatistics() async throws(AuthorityFailure) -> [Int64: StatisticsDay] {
    guard let keyServer,
      let url = Self.url(host: host, port: await keyServer.boundPort)
    else { return [:] }
    guard let token = try await statisticsToken() else { return [:] }
    let days = try await StatisticsClient(server: url, responseSeconds: codes.responseSeconds).days(
      token: token)
    return Dictionary(
      days.compactMap { day in
        Self.start(of: day.day).map { ($0, day) }
      }
    ) { $1 }
  }

  /// A token for the statistics of the key server; nil if the folder has no verification server.
  private func statisticsToken() async throws(AuthorityFailure) -> String? {
    try await reporting { () async throws -> String? in
      guard let secrets = try VerificationSecrets.stored(in: folder) else { return nil }
      let now = setup.clock.now
      let claims = StatisticsClaims(
        iss: try setup.statisticsIssuer, iat: now.unixSecond,
        exp: now.unixSecond + 60)
      let key = try secrets.tokenKeys.signing(at: now)
      guard key.mayBlock else { return try CompactToken.text(claims, signedBy: key) }
      return try await signerCalls.run(within: VerificationLimit.signatureSecondsMax) {
        Result { try CompactToken.text(claims, signedBy: key) }
      }.get()
    }
  }

  func exports() async throws(AuthorityFailure) -> [ExportFacts] {
    try requireKeys()
    let counted = await uploadsByDay().values.flatMap(\.files)
    let padding = Dictionary(counted.map { ($0.name, $0.padding) }) { $1 }
    return try await reporting {
      let configuration = try setup.keySettings().configuration
      let keys = try KeySecrets.stored(in: folder)?.signingKeys ?? []
      return configuration.exports.map { export in
        files.facts(
          of: export, in: folder.exports, keys: keys, padding: padding, at: setup.clock.now)
      }
    }
  }

  func effect(
    of new: RemoteConfiguration, replacing present: RemoteConfiguration
  ) async throws(AuthorityFailure) -> ConfigurationEffect {
    try await reporting {
      ConfigurationEffect(
        simulated: try SimulatedContacts.lastWeek.effect(of: new, replacing: present),
        recorded: try recorded?.effect(of: new, replacing: present))
    }
  }
}

extension AppAttempts {
  /// Nil for a key with which nothing was entered.
  fileprivate init?(_ key: IssuerStatisticsResponse.Issuer, day: String) {
    let numbers = [key.codesClaimed, key.codesInvalid, key.tokensClaimed, key.tokensInvalid]
    guard numbers.contains(where: { ($0 ?? 0) > 0 }) else { return nil }
    let id = key.apiKeyID ?? ""
    self.init(
      day: day, app: key.apiKeyName.map { "\($0) (\(id))" } ?? id,
      codesInvalid: key.codesInvalid ?? 0, tokensInvalid: key.tokensInvalid ?? 0)
    codesClaimed = key.codesClaimed
    tokensClaimed = key.tokensClaimed
  }
}
