import Crypto
import Foundation
import Synchronization

/// The key server under measurement, as a process of its own with a folder of its own.
final class PublishServerProcess: Sendable {
  /// How to upload to it.
  let target: PublishTarget
  let processID: pid_t
  private let folder: BenchFolder
  private let input: Pipe
  private let process: Mutex<Process?>

  /// Starts it and waits until it listens.
  init() throws {
    folder = try BenchFolder(keep: nil)
    let key = P256.Signing.PrivateKey()
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = URL.thisProgram
    process.arguments = ["bench", "publish-server"]
    process.standardInput = input
    process.standardOutput = output
    self.input = input
    do {
      try process.run()
      let setting = PublishServerSetting(
        folder: folder.url.path, certificateKeyPEM: key.publicKey.pemRepresentation)
      try input.fileHandleForWriting.write(contentsOf: try JSONEncoder().encode(setting) + [10])
      let line = output.fileHandleForReading.availableData
      let ready = try JSONDecoder().decode(PublishServerReady.self, from: line)
      target = try PublishTarget(
        url: "http://127.0.0.1:\(ready.port)", issuer: PublishServerSetting.issuer,
        audience: PublishServerSetting.audience, keyID: PublishServerSetting.keyID,
        signingKeyPEM: key.pemRepresentation, application: PublishServerSetting.application)
    } catch {
      process.terminate()
      folder.removeUnlessKept()
      throw CommandFailure(
        status: .machineFailed, sentence: "The key server for the bench did not start: try again.")
    }
    processID = process.processIdentifier
    self.process = Mutex(process)
  }

  /// Ends it, waits for its end and removes its folder.
  func stop() {
    process.withLock { process in
      try? input.fileHandleForWriting.close()
      process?.waitUntilExit()
      process = nil
    }
    folder.removeUnlessKept()
  }
}
