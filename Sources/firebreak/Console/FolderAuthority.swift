import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import Terminal
import UploadToken
import VerificationAPI
import World

/// Administers the servers of one folder for the console, with the same effects as the commands, also while the servers
/// run.
struct FolderAuthority: AdministeredAuthority {
  let setup: ServerSetup
  let codes: CodeSource
  /// The key server of this process.
  let keyServer: KeyServer?
  /// The address that the servers of this process listen on.
  let host: String
  let files: ExportFiles

  private var folder: ServerFolder { setup.folder }

  /// The address of a server of this process.
  static func url(host: String, port: Int) -> URL? {
    let isAny = ["0.0.0.0", "::"].contains(host)
    let name = isAny ? "127.0.0.1" : host.contains(":") ? "[\(host)]" : host
    return URL(string: "http://\(name):\(port)")
  }

  /// Runs `work` and turns its errors into those of the console.
  func reporting<Value>(
    _ work: () async throws -> Value
  ) async throws(AuthorityFailure) -> Value {
    do { return try await setup.reportingErrors(work) } catch {
      switch error {
      case let failure as AuthorityFailure: throw failure
      case let failure as CommandFailure where failure.status == .badInput:
        throw .refused(failure.message)
      default: throw .unavailable
      }
    }
  }

  // MARK: - Codes

  func issue(_ request: CodeRequest) async throws(AuthorityFailure) -> IssuedCode {
    try await codes.client().issue(request)
  }

  func issue(_ requests: [CodeRequest]) async -> [Result<IssuedCode, AuthorityFailure>] {
    do throws(AuthorityFailure) { return await (try codes.client()).issue(requests) } catch {
      return requests.map { _ in .failure(error) }
    }
  }

  func state(ofCode uuid: UUID) async throws(AuthorityFailure) -> CodeState {
    try await codes.client().state(ofCode: uuid)
  }

  func expire(code uuid: UUID) async throws(AuthorityFailure) -> CodeState {
    try await codes.client().expire(code: uuid)
  }

  // MARK: - Observation

  /// The counts of the verification server, and the upload statistics of the key server, which are rounded and omit
  /// days with few uploads. If a server does not respond, its columns are empty.
  func funnel() async throws(AuthorityFailure) -> [FunnelDay] {
    let codes = try? await codesByDay()
    let published: [Int64: Int]?
    do throws(AuthorityFailure) { published = try await publishedByDay() } catch {
      // Without any counts, the page shows the reason.
      guard codes != nil else { throw error }
      published = nil
    }
    let uploads = (try? await uploadsByDay()) ?? [:]
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
    try await requireKeys()
    return try await reporting {
      let exports = try setup.keySettings().configuration.exports
      return exports.first.map { files.keysByDay(of: $0, in: folder.exports) } ?? [:]
    }
  }

  /// The start of a day such as `2027-01-15`, in Unix seconds.
  private static func start(of day: String) -> Int64? {
    let form = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
    return (try? Date(day, strategy: form)).map { Int64($0.timeIntervalSince1970) }
  }

  private struct StatisticsClaims: Encodable {
    let iss: String
    let aud = "keyserver"
    let iat: Int64
    let exp: Int64
  }

  private func uploadsByDay() async throws(AuthorityFailure) -> [Int64: StatisticsDay] {
    guard let keyServer,
      let url = Self.url(host: host, port: await keyServer.boundPort)
    else { return [:] }
    let token = try await reporting {
      guard let secrets = try VerificationSecrets.stored(in: folder) else {
        return nil as String?
      }
      let now = setup.clock.now
      let seconds = Int64(now.timeIntervalSince1970)
      return try CompactToken.text(
        StatisticsClaims(
          iss: try setup.keySettings().configuration.tokenIssuer, iat: seconds, exp: seconds + 60),
        signedBy: try secrets.tokenKeys.signing(at: now))
    }
    guard let token else { return [:] }
    let days = try await StatisticsClient(server: url, responseSeconds: codes.responseSeconds).days(
      token: token)
    return Dictionary(
      days.compactMap { day in
        Self.start(of: day.day).map { ($0, day) }
      }
    ) { $1 }
  }

  func exports() async throws(AuthorityFailure) -> [ExportFacts] {
    try await requireKeys()
    let counted = ((try? await uploadsByDay()) ?? [:]).values.flatMap(\.files)
    let padding = Dictionary(counted.map { ($0.name, $0.padding) }) { $1 }
    return try await reporting {
      let configuration = try setup.keySettings().configuration
      let keys = try AdministeredKeyServer.signingKeys(of: folder) ?? []
      return configuration.exports.map { export in
        files.facts(
          of: export, in: folder.exports, keys: keys, padding: padding, at: setup.clock.now)
      }
    }
  }

  // MARK: - Remote configuration

  func remoteConfiguration() async throws(AuthorityFailure) -> RemoteConfiguration {
    try await requireKeys()
    return try await reporting { try setup.keySettings().configuration.remoteConfiguration }
  }

  /// Signs the configuration first, because that may fail. Stores it before it is served, so that a restart does not
  /// serve an older version than phones have.
  func replace(
    _ configuration: RemoteConfiguration, ifInForce version: Int
  ) async throws(AuthorityFailure) {
    if let fault = configuration.fault { throw .refused(fault) }
    try await requireKeys()
    try await reporting {
      try await FolderLock.withLock(on: folder.keys) {
        let current = try setup.keySettings().configuration.remoteConfiguration
        guard current.version == version else { throw AuthorityFailure.changed }
        let value = try JSONTree.of(configuration)
        guard let keyServer else {
          return try folder.keySettings.replace("remoteConfiguration", with: value)
        }
        try keyServer.replaceRemoteConfiguration(configuration) {
          try folder.keySettings.replace("remoteConfiguration", with: value)
        }
      }
    }
  }

  func effect(
    of configuration: RemoteConfiguration
  ) async throws(AuthorityFailure) -> ConfigurationEffect {
    SimulatedContacts.lastWeek.effect(
      of: configuration.windowRiskConfiguration?.policy ?? .standard)
  }

  /// - Throws: `.notOffered` if the key server has no data in this folder.
  func requireKeys() async throws(AuthorityFailure) {
    guard FileManager.default.fileExists(atPath: folder.keySecrets.url.path) else {
      throw .notOffered(
        "The key server has no data in the folder of this console: use `firebreak key-server` on its"
          + " machine.")
    }
  }

  /// - Throws: `.notOffered` if the verification server has no data in this folder.
  func requireVerification() async throws(AuthorityFailure) {
    guard FileManager.default.fileExists(atPath: folder.verificationSecrets.url.path) else {
      throw .notOffered(
        "The verification server has no data in the folder of this console: use"
          + " `firebreak verification-server` on its machine.")
    }
  }
}
