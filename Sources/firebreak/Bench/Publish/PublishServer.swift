import ArgumentParser
import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import Subprocess
import World

/// A key server with an empty database that runs until stdin is closed.
struct PublishServer {
  private let server: KeyServer

  init(_ parameters: PublishServerParameters) throws {
    server = try KeyServer(
      Self.configuration(parameters), clock: SystemClock(), randomness: SystemRandomness(),
      logger: Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() })
  }

  /// Runs the server and passes its port to `onReady`.
  func run(_ onReady: @escaping @Sendable (Int) throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      group.addTask {
        try onReady(await server.boundPort)
        await Self.endOfInput()
      }
      try await group.next()
      group.cancelAll()
    }
  }

  private static func configuration(_ parameters: PublishServerParameters) -> KeyServerConfiguration
  {
    let folder = URL(fileURLWithPath: parameters.folder)
    var configuration = KeyServerConfiguration(
      port: 0, databaseFile: folder.appendingPathComponent("keys.sqlite"),
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
    // All uploads come from one address.
    configuration.uploadAttempts = KeyServerLimit.uploadAttemptsMax
    return configuration
  }

  private static func endOfInput() async {
    await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
      FileHandle.standardInput.readabilityHandler = { input in
        guard input.availableData.isEmpty else { return }
        input.readabilityHandler = nil
        ended.resume()
      }
    }
  }
}

/// The measured key server as a process of its own, with a temporary folder.
///
/// It ends when its stdin is closed, so it does not outlive the bench.
struct PublishServerProcess: Sendable {
  let target: PublishTarget
  let processID: pid_t

  /// Runs `body` with a started server, and stops the server afterwards.
  ///
  /// - Throws: The error of `body`; `CommandFailure` if the server does not start.
  static func withRunning<Result: Sendable>(
    _ body: (PublishServerProcess) async throws -> Result
  ) async throws -> Result {
    let folder = try BenchFolder(keep: nil)
    let signals = EndSignals(folder.removeUnlessKept)
    defer { withExtendedLifetime(signals, folder.removeUnlessKept) }
    let key = P256.Signing.PrivateKey()
    let parameters = PublishServerParameters(
      folder: folder.url.path, certificateKeyPEM: key.publicKey.pemRepresentation)
    let run = try await Subprocess.run(
      .path(.currentExecutable), arguments: ["bench", "publish-server"], input: .inputWriter,
      output: .sequence, error: .currentStandardError
    ) { execution in
      let input = Array(try JSONEncoder().encode(parameters)) + [UInt8(ascii: "\n")]
      _ = try await execution.standardInputWriter.write(input)
      let target = try target(await readPort(execution.standardOutput), signingKey: key)
      let processID = execution.processIdentifier.value
      let result = try await body(PublishServerProcess(target: target, processID: processID))
      try await execution.standardInputWriter.finish()
      return result
    }
    return run.closureResult
  }

  private static func readPort(_ output: SubprocessOutputSequence) async throws -> Int {
    for try await line in output.strings() {
      guard let ready = try? JSONDecoder().decode(PublishServerReady.self, from: Data(line.utf8))
      else { break }
      return ready.port
    }
    throw CommandFailure(
      status: .machineFailed, sentence: "The key server for the bench did not start: try again.")
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

/// The parameters of the server, which the bench writes to its stdin as one line of JSON.
struct PublishServerParameters: Codable {
  static let issuer = "bench.firebreak.example"
  static let audience = "keys.firebreak.example"
  static let keyID = "bench-1"
  static let application = "example.firebreak.bench"
  static let region = "PL"

  /// The folder for the database and the exports.
  let folder: String
  /// The public key of the certificates, in PEM.
  let certificateKeyPEM: String
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
    guard let line = readLine(),
      let parameters = try? JSONDecoder().decode(
        PublishServerParameters.self, from: Data(line.utf8))
    else {
      throw CommandFailure.badInput("This command is started by `bench publish`: use that one.")
    }
    try await PublishServer(parameters).run {
      try printJSON(PublishServerReady(port: $0))
    }
  }
}
