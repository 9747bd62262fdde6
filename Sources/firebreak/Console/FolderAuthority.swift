import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import Terminal
import UploadToken
import World

/// The servers of one folder as the console administers them. It does what the commands do, also while the servers run.
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
        throw .refused(failure.sentence)
      default: throw .unavailable
      }
    }
  }

  // MARK: - Codes

  func issue(_ order: CodeOrder) async throws(AuthorityFailure) -> IssuedCode {
    try await codes.client().issue(order)
  }

  func issue(_ orders: [CodeOrder]) async -> [Result<IssuedCode, AuthorityFailure>] {
    do throws(AuthorityFailure) { return await (try codes.client()).issue(orders) } catch {
      return orders.map { _ in .failure(error) }
    }
  }

  func state(ofCode uuid: UUID) async throws(AuthorityFailure) -> CodeState {
    try await codes.client().state(ofCode: uuid)
  }

  func expire(code uuid: UUID) async throws(AuthorityFailure) -> CodeState {
    try await codes.client().expire(code: uuid)
  }

  // MARK: - Observation

  /// Uploads are those that the key server tells its authority: rounded, and only of days with enough of them.
  func funnel() async throws(AuthorityFailure) -> [FunnelDay] {
    let published = try await exports().flatMap(\.files)
    let keysByDay = Dictionary(grouping: published) { $0.end / 86_400 * 86_400 }
      .mapValues { $0.reduce(0) { $0 + $1.keyCount } }
    let uploads = try await uploadsByDay()
    let days = Set(keysByDay.keys).union(uploads.keys).sorted()
    return days.map {
      FunnelDay(
        day: $0, issued: nil, redeemed: nil, uploads: uploads[$0], published: keysByDay[$0] ?? 0)
    }
  }

  private struct StatisticsClaims: Encodable {
    let iss: String
    let aud = "keyserver"
    let iat: Int64
    let exp: Int64
  }

  private func uploadsByDay() async throws(AuthorityFailure) -> [Int64: Int] {
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
        (try? Date(day.day, strategy: .iso8601)).map {
          (Int64($0.timeIntervalSince1970), day.publishRequests.total)
        }
      }
    ) { $1 }
  }

  func exports() async throws(AuthorityFailure) -> [ExportFacts] {
    try await requireKeys()
    return try await reporting {
      let configuration = try setup.keySettings().configuration
      let keys = try AdministeredKeyServer.signingKeys(of: folder) ?? []
      return configuration.exports.map { export in
        files.facts(of: export, in: folder.exports, keys: keys, at: setup.clock.now)
      }
    }
  }

  // MARK: - Remote configuration

  func remoteConfiguration() async throws(AuthorityFailure) -> RemoteConfiguration {
    try await requireKeys()
    return try await reporting { try setup.keySettings().configuration.remoteConfiguration }
  }

  /// The settings are stored first, so that a restart does not bring back what phones have already replaced.
  func replace(_ configuration: RemoteConfiguration) async throws(AuthorityFailure) {
    if let fault = configuration.fault { throw .refused(fault) }
    try await requireKeys()
    try await reporting {
      try folder.keySettings.replace("remoteConfiguration", with: try .of(configuration))
      try keyServer?.replaceRemoteConfiguration(configuration)
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
