// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Canary
import ExposureApp
import Foundation
import KeyServerAPI
import Logging
import Settings
import Terminal
import World

/// `firebreak canary`: one round of two synthetic phones, from a meeting to a notice.
struct CanaryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "canary",
    abstract: "Let two synthetic phones meet, upload and be told, through the real servers.",
    discussion: """
      One round takes as long as a key needs to be published. Run it by a timer. The key server needs the setting \
      `canary`, the verification server an API key of `api-key add --type canary`. Ends with 1 if a step failed, and \
      names it.
      """)

  @Option(help: "The folder of the canary.")
  var data = "firebreak-canary"

  @Option(help: "The address of the verification server, as phones reach it.")
  var verificationServer: String

  @Option(help: "The address of the key server, as phones reach it.")
  var keyServer: String

  @Option(help: "The file with the API key.")
  var apiKeyFile: String

  @Option(help: "The file with the public root key, PEM.")
  var rootKey: String

  @Option(help: "A file for metrics, in the folder that Prometheus's node exporter reads.")
  var metrics: String?

  @Option(help: "The longest time from the upload to the notice, in minutes.")
  var within = 300

  @Option(help: "The time between two checks of a phone, in minutes.")
  var every = 20

  @Option(
    help: ArgumentHelp(
      "The longest time since the end of the newest key file of real phones; 0 for any, for a small authority.",
      valueName: "hours"))
  var filesWithin = 48

  @Flag(help: "Print the result as JSON.")
  var json = false

  func validate() throws {
    guard (1...2_880).contains(within), (1...within).contains(every) else {
      throw ValidationError("--within takes 1 to 2880 minutes, --every at most as many.")
    }
    // Key files are kept for 14 days.
    guard (0...336).contains(filesWithin) else {
      throw ValidationError("--files-within takes 0 to 336 hours.")
    }
  }

  func run() async throws {
    let metrics = try metrics.map { try ResultFile($0, option: "--metrics") }
    try metrics?.keepInputs([apiKeyFile, rootKey])
    // Before anything is created.
    let site = try site()
    let folder = try createdFolder()
    guard let lock = try lock(folder) else {
      throw CommandFailure.badInput(
        "Another round of \(data.printable) runs: wait until it has ended, or name another folder with --data."
      )
    }
    defer { withExtendedLifetime(lock) {} }
    let phones = folder.appendingPathComponent("phones")
    // Those of a round that was interrupted.
    FileManager.default.removeUnneeded(phones)
    defer { FileManager.default.removeUnneeded(phones) }
    let (network, clock) = (HTTPNetwork(), SystemClock())
    let result: CanaryRound.Result
    do { result = try await round(site, in: phones, over: network, clock).run() } catch {
      await network.shutdown()
      throw error
    }
    await network.shutdown()
    try record(result, in: folder, and: metrics, at: clock.now)
    try report(result)
  }
}

extension CanaryCommand {
  private func round(
    _ site: CanarySite, in phones: URL, over network: any Network, _ clock: SystemClock
  ) -> CanaryRound {
    var limits = CanaryLimits()
    (limits.noticeSecondsMax, limits.checkSeconds) = (Double(within) * 60, Double(every) * 60)
    limits.fileAgeSecondsMax = filesWithin > 0 ? Double(filesWithin) * 3_600 : nil
    let seed = SystemRandomness().bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return CanaryRound(
      site, folder: phones, clock: clock, seed: seed, limits: limits, network: network,
      logger: Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() },
      pause: { try await clock.sleep(for: $0) })
  }

  /// The folder of the canary, which is created if it is missing.
  private func createdFolder() throws -> URL {
    let (files, folder) = (FileManager.default, URL(fileURLWithPath: data))
    guard !files.fileExists(atPath: folder.path) || files.isFolder(at: folder.path) else {
      throw CommandFailure.badInput("\(data.printable) is a file: name a folder with --data.")
    }
    do {
      try files.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandFailure.machineFailed(
        "The folder \(data.printable) cannot be created: check the permissions and the disk, or name another one with"
          + " --data.")
    }
    return folder
  }

  /// The lock of the folder; nil if another canary has it.
  private func lock(_ folder: URL) throws -> HeldFolderLock? {
    do { return try FolderLock.hold(on: folder) } catch {
      throw CommandFailure.machineFailed(
        "\(data.printable) cannot be locked: check the disk and the folder's owner.")
    }
  }

  private func site() throws -> CanarySite {
    CanarySite(
      verificationServer: try Self.address(verificationServer, "--verification-server"),
      keyServer: try Self.address(keyServer, "--key-server"),
      apiKey: try PrivateFile(URL(fileURLWithPath: apiKeyFile)).secret(named: "--api-key-file"),
      rootKey: try RootKey(
        publicKeyPEM: try P256KeyFile(rootKey, what: "root key").publicKeyPEM()))
  }

  private static func address(_ text: String, _ option: String) throws -> URL {
    guard let url = URL(string: text), url.host() != nil, ["http", "https"].contains(url.scheme)
    else {
      throw CommandFailure.badInput("\(option) takes an address such as https://keys.example.")
    }
    return url
  }

  /// Stores the result and its metrics.
  private func record(
    _ result: CanaryRound.Result, in folder: URL, and metrics: ResultFile?, at now: Date
  ) throws {
    let file = folder.appendingPathComponent("record.json")
    var record = CanaryRecord(in: file)
    record.add(result, at: now)
    do { try record.write(to: file) } catch {
      throw CommandFailure.machineFailed(
        "The result could not be stored in \(data.printable): check the disk.")
    }
    // The node exporter runs as another user, which may read the file.
    try metrics?.write(record.metricsText)
  }

  private struct Report: Encodable {
    let ok: Bool
    let failed: String?
    let reason: String?
    let seconds: Int
  }

  private func report(_ result: CanaryRound.Result) throws {
    let report = Report(
      ok: result.failed == nil, failed: result.failed?.rawValue,
      reason: result.failed == nil ? nil : result.reason, seconds: Int(result.seconds))
    if json {
      try printJSON(report)
    } else if let failed = report.failed {
      // The errors of the app are sentences.
      let end = result.reason.hasSuffix(".") ? "" : "."
      try StandardOutput.write("The step \(failed) failed: \(result.reason)\(end)")
    } else {
      try StandardOutput.write("Told \(report.seconds) seconds after the upload.")
    }
    if !report.ok { throw ExitCode(ExitStatus.no.rawValue) }
  }
}
