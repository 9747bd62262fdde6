// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import PostgreSQL
import QuietHTTP
import Subprocess
import Synchronization
import SystemPackage
import Terminal
import TextEncodings
import World

/// A key server with a database of its own that runs until stdin is closed.
struct PublishServer {
  private let server: KeyServer

  init(_ parameters: PublishServerParameters) throws {
    server = try KeyServer(
      try Self.configuration(parameters), clock: SystemClock(), randomness: SystemRandomness(),
      logger: .silent)
  }

  /// Runs the server until stdin is closed and passes its port to `onReady`.
  func run(_ onReady: @escaping @Sendable (Int) throws -> Void) async throws {
    let running = Task { try await server.run() }
    // Not in a task group, which would wait for the port of a server that did not start.
    Task {
      defer { running.cancel() }
      try onReady(await server.boundPort)
      await Self.endOfInput()
    }
    try await running.value
  }

  private static func configuration(
    _ parameters: PublishServerParameters
  ) throws -> KeyServerConfiguration {
    let folder = URL(fileURLWithPath: parameters.folder)
    var configuration = KeyServerConfiguration(
      port: 0, databaseFile: folder.appendingPathComponent(PublishServerParameters.databaseName),
      databaseKey: parameters.database == nil
        ? Data(SystemRandomness().bytes(KeyServerLimit.databaseKeyBytes)) : BenchDatabase.key,
      exportFolder: folder.appendingPathComponent("exports"),
      regions: [PublishServerParameters.region], appPackages: [PublishServerParameters.application],
      tokenIssuer: PublishServerParameters.issuer, tokenAudience: PublishServerParameters.audience,
      tokenPublicKeysPEM: [PublishServerParameters.keyID: parameters.certificateKeyPEM],
      exportSigners: [
        ExportSigner(
          privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation,
          keyID: WorkloadFiles.keyID, keyVersion: WorkloadFiles.keyVersion)
      ], region: PublishServerParameters.region, deviceCheck: nil,
      remoteConfiguration: RemoteConfiguration(version: 1))
    configuration.databaseAddress = try parameters.database.map {
      try PostgreSQLAddress($0.address)
    }
    // All uploads come from one address.
    configuration.uploadAttempts = KeyServerLimit.uploadAttemptsMax
    return configuration
  }

  private static func endOfInput() async {
    await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
      EndOfInput.onEnd { ended.resume() }
    }
  }
}

/// A database in PostgreSQL, which several measured key servers may share.
package struct BenchDatabase: Codable, Sendable {
  /// The secret of all measured servers, by which their databases are known. Real servers have random ones.
  static let key = Data(SHA256.hash(data: Data("firebreak bench publish".utf8)))

  /// The address for libpq.
  let address: String

  package init(address: String) { self.address = address }

  /// Throws unless the database is empty, or that of an earlier measurement.
  func requireNoOtherData() async throws {
    let isFree = try await KeyServer.isFree(
      try PostgreSQLAddress(address), for: Self.key, logger: .silent)
    guard isFree else {
      throw CommandFailure.badInput(
        "The database of --database has other tables: name an empty one, or one of an earlier `bench publish`."
      )
    }
  }
}

/// The measured key server as a process of its own, with a temporary folder.
package struct PublishServerProcess: Sendable {
  package let target: PublishTarget
  package let processID: pid_t
  /// The temporary folder, with the database if it is not in PostgreSQL.
  let folder: URL

  /// Runs `body` with a server that `program`, a `firebreak`, has started, and whose database has `storedKeys` keys.
  /// Then the server is stopped, and its folder is removed. With `database` it uses PostgreSQL, and no key is stored.
  ///
  /// - Throws: The error of `body`; `CommandFailure` with the error of the server if it does not start.
  package static func withRunning<Result: Sendable>(
    by program: FilePath = .currentExecutable, storedKeys: Int = 0,
    database: BenchDatabase? = nil, _ body: (PublishServerProcess) async throws -> Result
  ) async throws -> Result {
    let folder = try BenchFolder(keep: nil)
    let server = KillableProcess()
    let cleanUp = CleanUp {
      server.kill()
      folder.removeUnlessKept()
    }
    defer { cleanUp.run() }
    if storedKeys > 0 {
      try await BenchExportFillCommand.fill(
        folder.url.appendingPathComponent(PublishServerParameters.databaseName).path, by: program,
        keyCount: storedKeys, releasedFrom: SystemClock().now)
    }
    // A server that ends at once closes its stdin, which must not end the bench.
    signal(SIGPIPE, SIG_IGN)
    let key = P256.Signing.PrivateKey()
    let parameters = PublishServerParameters(
      folder: folder.url.path, certificateKeyPEM: key.publicKey.pemRepresentation,
      database: database)
    let run = try await Subprocess.run(
      .path(program), arguments: ["bench", "publish-server"], input: .inputWriter,
      output: .sequence, error: .string(limit: BenchLimit.errorByteCountMax)
    ) { execution -> Result? in
      let processID = execution.processIdentifier.value
      server.start(processID)
      defer { server.end() }
      let input = Array(try JSONEncoder().encode(parameters)) + [UInt8(ascii: "\n")]
      // A server that ended at once is reported by its exit status.
      guard (try? await execution.standardInputWriter.write(input)) != nil,
        let port = try await readPort(execution.standardOutput)
      else { return nil }
      // The end of stdin, after this closure, stops the server.
      return try await body(
        PublishServerProcess(
          target: try target(port, signingKey: key), processID: processID, folder: folder.url))
    }
    guard let result = run.closureResult else {
      throw CommandFailure.ofProcess(
        "The key server for the bench did not start", errors: run.standardError)
    }
    return result
  }

  /// Waits until the server does nothing: it checks all stored rows at its start.
  ///
  /// - Throws: `CommandFailure` if it ends meanwhile.
  package func waitUntilIdle() async throws {
    let clock = CPUClock(process: processID)
    var earlier = Duration.zero
    while true {
      try await Task.sleep(for: .seconds(1))
      guard let now = clock?.now else {
        throw CommandFailure(status: .machineFailed, message: "The measured server has ended.")
      }
      if now - earlier < .milliseconds(50) { return }
      earlier = now
    }
  }

  /// Reads the first line on stdout, the only one; nil if the server ended without it.
  private static func readPort(_ output: SubprocessOutputSequence) async throws -> Int? {
    for try await line in output.strings() {
      return JSONDecoder().decodeIfValid(PublishServerReady.self, from: Data(line.utf8))?.port
    }
    return nil
  }

  private static func target(
    _ port: Int, signingKey: P256.Signing.PrivateKey
  ) throws -> PublishTarget {
    try PublishTarget(
      url: "http://127.0.0.1:\(port)", issuer: PublishServerParameters.issuer,
      audience: PublishServerParameters.audience, keyID: PublishServerParameters.keyID,
      signingKeyPEM: signingKey.pemRepresentation, application: PublishServerParameters.application)
  }
}

/// A process that a signal handler can kill as long as it runs.
private final class KillableProcess: Sendable {
  private let processID = Mutex<pid_t?>(nil)

  func start(_ id: pid_t) { processID.withLock { $0 = id } }

  /// Disables `kill`. Must be called before the process is reaped, because its ID can be reused afterwards.
  func end() { processID.withLock { $0 = nil } }

  /// Kills the process and waits until it has ended.
  func kill() {
    processID.withLock { id in
      guard let id else { return }
      Foundation.kill(id, SIGKILL)
      var info = siginfo_t()
      waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT)
    }
  }
}

/// The parameters of the server, which the bench writes to its stdin as one line of JSON.
struct PublishServerParameters: Codable {
  static let issuer = "bench.firebreak.example"
  static let audience = "keys.firebreak.example"
  static let keyID = "bench-1"
  static let application = "example.firebreak.bench"
  static let region = "PL"
  static let databaseName = "keys.sqlite"

  /// The folder for the database and the exports.
  let folder: String
  /// The public key of the certificates, in PEM.
  let certificateKeyPEM: String
  /// Nil for SQLite in the folder.
  var database: BenchDatabase?
}

/// The line of JSON that the server prints on stdout when it accepts connections.
struct PublishServerReady: Codable {
  let port: Int
}

/// The server that `bench publish` starts. Hidden from the help.
struct BenchPublishServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish-server",
    abstract: "The key server of `bench publish`: parameters on stdin, port on stdout.",
    shouldDisplay: false)

  func run() async throws {
    FileDescriptors.raiseLimit()
    guard let line = readLine(),
      let parameters = JSONDecoder().decodeIfValid(
        PublishServerParameters.self, from: Data(line.utf8))
    else {
      throw CommandFailure.badInput("This command is started by `bench publish`: use that one.")
    }
    try await PublishServer(parameters).run {
      try printJSON(PublishServerReady(port: $0))
    }
  }
}
