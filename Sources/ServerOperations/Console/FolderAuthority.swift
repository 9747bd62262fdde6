// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import ServerStorage
import Settings
import Terminal
import TextEncodings
import VerificationAPI
import VerificationServer
import World

/// The operations on the servers of one folder, as the console offers them to officials. The commands use the same
/// operations.
struct FolderAuthority: AdministeredAuthority {
  let setup: ServerSetup
  let codes: CodeSource
  /// The key server of this process.
  let keyServer: KeyServer?
  /// The address that the servers of this process listen on.
  let host: String
  let files: ExportFiles
  /// The contacts of a field trial, if the authority has set a recording.
  var recorded: PhoneContacts?
  /// The calls of a verification server's key on a token, for which no page waits for long.
  var signerCalls = SignerCalls(
    clock: SystemClock(), limitSeconds: VerificationLimit.signerSeconds
  ) { AuthorityFailure.refused($0) }

  var folder: ServerFolder { setup.folder }

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
    do {
      return try await setup.reportingErrors {
        // The cause is the token of a key, and not the server.
        do { return try await work() } catch KeyServerError.cannotSign(let message) {
          throw AuthorityFailure.refused(message)
        }
      }
    } catch {
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

  func codeRules() async throws(AuthorityFailure) -> CodeRules {
    // The rules of another server are in its own settings.
    guard codes.remote == nil else { throw .notFound }
    return try await withVerification {
      let settings = try $0.verificationSettings()
      let configuration = settings.configuration
      return CodeRules(
        codesPerDay: configuration.attempts.issuesPerApiKey,
        values: CodeRules.Values(configuration.issueRules),
        limits: CodeRules.Limits(of: configuration), smsTemplates: settings.smsLabels)
    }
  }

  func set(_ values: CodeRules.Values) async throws(AuthorityFailure) {
    guard codes.remote == nil else { throw .notFound }
    try await withVerification { setup in
      try await setup.sharing(.verification) {
        try await FolderLock.withLock(on: folder.verification) {
          try setup.setIssueRules(
            IssueRules(
              pinLifetime: TimeInterval(values.pinSeconds), shortCodeDigits: values.shortCodeDigits,
              shortCodeLifetime: TimeInterval(values.shortCodeSeconds),
              longCodeLifetime: TimeInterval(values.longCodeSeconds),
              requiresDate: values.requiresDate))
        }
      }
    }
  }

  func expire(code uuid: UUID) async throws(AuthorityFailure) -> CodeState {
    try await codes.client().expire(code: uuid)
  }

  func free(phone: String) async throws(AuthorityFailure) {
    try await codes.client().free(phone: phone)
  }

  // MARK: - Remote configuration

  func remoteConfiguration() async throws(AuthorityFailure) -> RemoteConfiguration {
    try await withKeys { try $0.keySettings().configuration.remoteConfiguration }
  }

  /// Signs the configuration first, because that may fail, and without the lock, because a token may not respond.
  /// Stores it for all processes before it is served, so that neither they nor a restart serve an older version than
  /// phones have.
  func replace(
    _ configuration: RemoteConfiguration, ifInForce version: Int
  ) async throws(AuthorityFailure) {
    if let fault = configuration.fault { throw .refused(fault) }
    let value: JSONValue
    do { value = try JSONValue(encoding: configuration) } catch { throw .unavailable }
    try await withKeys { setup in
      func store() async throws {
        try await setup.sharing(.keys) {
          try FolderLock.withLockBlocking(on: folder.keys) {
            let current = try setup.keySettings().configuration.remoteConfiguration
            guard current.version == version else { throw AuthorityFailure.changed }
            try folder.keySettings.replace("remoteConfiguration", with: value)
          }
        }
      }
      guard let keyServer else { return try await store() }
      try await keyServer.replaceRemoteConfiguration(configuration, storing: store)
    }
  }

  // MARK: - Presence of the servers

  /// Runs an operation on the key server.
  ///
  /// - Throws: `.notOffered` if it has no data in this folder.
  func withKeys<Value>(
    _ work: (ServerSetup) async throws -> Value
  ) async throws(AuthorityFailure) -> Value {
    try requireKeys()
    return try await reporting { try await work(setup) }
  }

  /// Runs an operation on the verification server.
  ///
  /// - Throws: `.notOffered` if it has no data in this folder.
  func withVerification<Value>(
    _ work: (ServerSetup) async throws -> Value
  ) async throws(AuthorityFailure) -> Value {
    try requireVerification()
    return try await reporting { try await work(setup) }
  }

  /// - Throws: `.notOffered` if the key server has no data in this folder.
  func requireKeys() throws(AuthorityFailure) {
    guard folder.realm == nil else {
      throw .notOffered(
        "The key server is shared: ask the authority of the installation, which administers it.")
    }
    guard FileManager.default.fileExists(atPath: folder.keySecrets.url.path) else {
      throw .notOffered(
        "The key server has no data in the folder of this console: use `firebreak key-server` on its"
          + " machine.")
    }
  }

  /// - Throws: `.notOffered` if the verification server has no data in this folder.
  private func requireVerification() throws(AuthorityFailure) {
    guard FileManager.default.fileExists(atPath: folder.verificationSecrets.url.path) else {
      throw .notOffered(
        "The verification server has no data in the folder of this console: use"
          + " `firebreak verification-server` on its machine.")
    }
  }
}

extension CodeRules.Values {
  fileprivate init(_ rules: IssueRules) {
    self.init(
      pinSeconds: Int64(rules.pinLifetime), shortCodeSeconds: Int64(rules.shortCodeLifetime),
      longCodeSeconds: Int64(rules.longCodeLifetime), shortCodeDigits: rules.shortCodeDigits,
      requiresDate: rules.requiresDate)
  }
}

extension CodeRules.Limits {
  /// No code is valid for longer than the token that it is exchanged for.
  fileprivate init(of configuration: VerificationServerConfiguration) {
    func seconds(
      _ limits: ClosedRange<TimeInterval>, _ token: TimeInterval
    ) -> ClosedRange<Int64> {
      Int64(limits.lowerBound)...Int64(max(limits.lowerBound, min(limits.upperBound, token)))
    }
    let token = configuration.policy.verificationTokenLifetime
    self.init(
      pinSeconds: seconds(VerificationLimit.codeLifetimeSeconds, configuration.tokenLifetime),
      shortCodeSeconds: seconds(VerificationLimit.shortCodeLifetimeSeconds, token),
      longCodeSeconds: seconds(VerificationLimit.longCodeLifetimeSeconds, token),
      shortCodeDigits: ShortCode.digitCounts)
  }
}
