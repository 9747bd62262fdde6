// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import PostgreSQL
import QuietHTTP
import Secrets
import Terminal
import World

/// `firebreak bench publish`: measures the upload rate of a key server.
struct BenchPublishCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Measure the rate, latency and cost of uploads.",
    discussion: """
      A closed loop: each connection sends its next upload after the response to the last one. Each upload \
      has new keys, a certificate (ES256) and an HMAC over the keys, all generated before the measurement. \
      Without --target the command starts a key server as another process, with SQLite in a temporary folder or \
      with the database of --database, and also measures uploads without a server, a reference for the speed of the \
      machine. \
      See Documentation/Performance.md.
      """)

  @Option(help: "The number of concurrent connections.")
  var connections = 32

  @Option(help: "The number of uploads.")
  var requests = 10_000

  @Option(help: "The number of keys per upload.")
  var keys = 14

  @Flag(help: "Send every second upload as a decoy and compare the responses.")
  var chaff = false

  @Option(
    help: ArgumentHelp(
      """
      A database in PostgreSQL, empty or of an earlier measurement, which keeps the keys; its password is in \
      PGPASSWORD. By default SQLite.
      """, valueName: "url"))
  var database: String?

  @OptionGroup(title: "A server of your own")
  var external: PublishTargetOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    let most = external.target == nil ? BenchLimit.connections : BenchLimit.connectionsToTarget
    try BenchLimit.check(connections, most, "--connections")
    try BenchLimit.check(requests, BenchLimit.requests, "--requests")
    try BenchLimit.check(keys, BenchLimit.keysPerUpload, "--keys")
    guard let database else { return }
    guard external.target == nil else {
      throw ValidationError("--database and --target cannot be used together.")
    }
    do { _ = try PostgreSQLAddress(database) } catch {
      throw ValidationError("--database: \(error)")
    }
  }

  func run() async throws {
    let target = try external.publishTarget()
    BuildKind.warnUnlessRelease()
    let bench = PublishBench(
      connections: connections, requests: requests, keysPerRequest: keys, hasChaff: chaff,
      clock: SystemClock(), randomness: SystemRandomness(),
      database: database.map { BenchDatabase(address: $0) })
    let report =
      if let target { try await bench.run(against: target) } else { try await bench.run() }
    try json ? printJSON(report) : StandardOutput.write(report.text)
    guard report.errors == 0 else {
      throw CommandFailure(
        status: .no,
        message: "\(report.errors) of \(requests) uploads failed or got a wrong response.")
    }
    guard report.chaff?.holds != false else {
      throw CommandFailure(
        status: .no, message: "Responses to decoys differ from responses to uploads, see above.")
    }
  }
}

/// One measurement: generates uploads, sends them and evaluates the responses.
struct PublishBench {
  let connections: Int
  let requests: Int
  let keysPerRequest: Int
  let hasChaff: Bool
  let clock: any WallClock
  let randomness: any Randomness
  /// The database of a server that it starts; nil for SQLite.
  let database: BenchDatabase?

  /// Measures a key server that it starts as another process. Without decoys, which store nothing, it also measures
  /// uploads without a server.
  func run() async throws -> PublishReport {
    try await database?.requireNoOtherData()
    return try await PublishServerProcess.withRunning(database: database) { server in
      hasChaff ? try await run(against: server) : try await runBesideBareUploads(server)
    }
  }

  /// One half of the uploads without a server is measured before the load and the other one after it, because the speed
  /// of a shared machine changes.
  private func runBesideBareUploads(_ server: PublishServerProcess) async throws -> PublishReport {
    let bare = try BareUploads(
      in: server.folder, keysPerUpload: keysPerRequest, uploadsPerCommit: connections,
      randomness: randomness)
    let bar = ProgressLine("uploads without a server")
    defer { bar.clear() }
    let half = min((requests + 1) / 2, BareUploads.countMax)
    let before = try await bare.time(of: half, bar)
    bar.clear()
    var report = try await run(against: server)
    let time = before + (try await bare.time(of: half, bar))
    report.bareUploadsPerSecond = (Double(2 * half) / (time / .seconds(1))).rounded(to: 1)
    return report
  }

  private func run(against server: PublishServerProcess) async throws -> PublishReport {
    try await run(
      against: server.target, process: CPUClock(process: server.processID),
      database: database == nil ? .sqlite : .postgresql)
  }

  /// Measures a running server.
  func run(against target: PublishTarget) async throws -> PublishReport {
    try await run(against: target, process: nil, database: .external)
  }

  private func run(
    against target: PublishTarget, process: CPUClock?, database: PublishReport.Database
  ) async throws -> PublishReport {
    let bar = ProgressLine("uploads")
    defer { bar.clear() }
    let uploads = try await uploads(for: target, bar)
    let load = UploadLoad(target: target, connections: connections)
    // A warm-up request per connection: the first responses of a server are slower.
    _ = try await load.send(Array(uploads.prefix(connections)))
    let (serverBefore, generatorBefore) = (process?.now, CPUClock.currentProcess.now ?? .zero)
    let start = ContinuousClock.now
    let exchanges = try await load.send(Array(uploads.dropFirst(connections))) { [requests] count in
      bar.show(count, of: requests)
    }
    let wall = ContinuousClock.now - start
    let generator = (CPUClock.currentProcess.now ?? .zero) - generatorBefore
    let server = process?.now.flatMap { now in serverBefore.map { now - $0 } }
    return PublishReport(
      exchanges, keysPerRequest: keysPerRequest, connections: connections, database: database,
      wall: wall,
      processors: PublishReport.Processors(
        generator: microseconds(generator), server: server.map(microseconds),
        // SQLite runs inside the server process.
        database: database == .sqlite ? 0 : nil),
      hasChaff: hasChaff)
  }

  /// The uploads of the warm-up first. With decoys, every second one of the others is one.
  private func uploads(
    for target: PublishTarget, _ bar: ProgressLine
  ) async throws -> [PreparedUpload] {
    let maker = try UploadMaker(
      target, keysPerUpload: keysPerRequest, clock: clock, randomness: randomness)
    let uploads = try await maker.uploads(connections + requests, bar) { number in
      hasChaff && number >= connections && number.isMultiple(of: 2)
    }
    guard hasChaff else { return uploads }
    return uploads.prefix(connections) + randomness.shuffled(uploads.dropFirst(connections))
  }

  private func microseconds(_ time: Duration) -> Double {
    (time / .microseconds(requests)).rounded(to: 1)
  }
}

/// The options for a server that the bench does not start itself.
struct PublishTargetOptions: ParsableArguments {
  @Option(help: "The URL of a server with /v1/publish, such as http://127.0.0.1:8080.")
  var target: String?

  @Option(help: "The issuer (iss) of the certificates.")
  var issuer: String?

  @Option(help: "The audience (aud) of the certificates.")
  var audience: String?

  @Option(name: .customLong("key-id"), help: "The ID (kid) of the key that signs certificates.")
  var keyID: String?

  @Option(help: "The P-256 private key that signs certificates, in PEM or DER.")
  var signingKey: String?

  @Option(help: "The application (healthAuthorityID) that uploads.")
  var application: String?

  func validate() throws {
    let others = [issuer, audience, keyID, signingKey, application]
    guard others.allSatisfy({ ($0 == nil) == (target == nil) }) else {
      throw ValidationError(
        "--target, --issuer, --audience, --key-id, --signing-key and --application must be used together."
      )
    }
  }

  /// The server, or nil if the options are not used.
  func publishTarget() throws -> PublishTarget? {
    guard let target, let issuer, let audience, let keyID, let signingKey, let application else {
      return nil
    }
    return try PublishTarget(
      url: target, issuer: issuer, audience: audience, keyID: keyID,
      signingKeyPEM: try P256KeyFile(signingKey, what: "signing key").privateKeyPEM(),
      application: application)
  }
}

/// A key server and the credentials for uploading to it.
package struct PublishTarget: Sendable {
  package let host: String
  package let port: Int
  /// The path of the upload route, including the path of the server's URL.
  package let path: String
  /// `iss` of the certificates.
  let issuer: String
  /// `aud` of the certificates.
  let audience: String
  /// `kid` of the certificates.
  let keyID: String
  /// The P-256 private key in PEM that signs the certificates.
  let signingKeyPEM: String
  /// `healthAuthorityID` of the uploads.
  let application: String

  static let publish = "/v1/publish"

  /// - Throws: `CommandFailure` if `url` is not the http URL of a server.
  init(
    url: String, issuer: String, audience: String, keyID: String, signingKeyPEM: String,
    application: String
  ) throws {
    guard let address = URLComponents(string: url), let host = address.host,
      address.url?.isOfServer == true, address.query == nil, address.fragment == nil
    else {
      throw CommandFailure.badInput(
        "--target must be a URL such as http://127.0.0.1:8080, on a port of 1 to 65535.")
    }
    guard address.scheme == "http" else {
      throw CommandFailure.badInput(
        "--target must be an http URL: measure behind the TLS proxy of the server.")
    }
    let prefix = address.path.hasSuffix("/") ? String(address.path.dropLast()) : address.path
    self.host = host
    port = address.port ?? 80
    path = prefix.hasSuffix(Self.publish) ? prefix : prefix + Self.publish
    self.issuer = issuer
    self.audience = audience
    self.keyID = keyID
    self.signingKeyPEM = signingKeyPEM
    self.application = application
  }

  /// The value of the `Host` header.
  package var hostField: String { "\(host):\(port)" }
}

extension PublishTarget: Redacted {
  package var description: String { "PublishTarget(\(hostField))" }
}
