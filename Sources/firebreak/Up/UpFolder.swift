// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import KeyServerAPI
import PhoneProcess
import Terminal
import Town
import World

/// The folder of a town, locked as long as the object lives.
///
/// ```
/// up.json            marks the folder: --fresh removes only a marked folder
/// clock              the clock of all processes
/// people.json        where people are, who walks, and who tested positive
/// servers/           the folder of `serve`
/// phones/ada/        the folder of a phone; beside it its configuration, its sealing key, and a mark when it was
///                    turned on for the first time
/// logs/              stderr of each process, since its last start
/// ```
final class UpFolder: Sendable {
  let url: URL
  private let lock: HeldFolderLock

  private static let markName = "up.json"
  private static let lockName = "up.lock"

  /// The names of the data, which `--fresh` removes.
  private static let dataNames: Set = ["clock", "people.json", "servers", "phones", "logs"]

  /// Locks the folder, which is created if it is missing.
  ///
  /// - Throws: `CommandFailure` if the folder is in use, is not one of a town, or cannot be created.
  init(path: String) throws {
    url = URL(fileURLWithPath: path)
    let files = FileManager.default
    guard !files.fileExists(atPath: url.path) || files.isFolder(at: url.path) else {
      throw CommandFailure.badInput(
        "\(url.path.printable) is a file: name a folder for the town with --data.")
    }
    let names = FileManager.default.names(in: url)
    let own = [Self.markName, Self.lockName]
    guard names.isEmpty || names.contains(where: own.contains) else {
      throw CommandFailure.badInput(
        "\(url.path.printable) is not the folder of a town: name another with --data.")
    }
    do {
      try AtomicFile.makeFolder(url)
      guard let lock = try FolderLock.hold(onFile: url.appendingPathComponent(Self.lockName)) else {
        throw CommandFailure.badInput(
          "A town is already running on \(url.path.printable): stop it, or name another folder with --data."
        )
      }
      self.lock = lock
      try AtomicFile.write(Data("{}\n".utf8), to: url.appendingPathComponent(Self.markName))
    } catch let error as FileError {
      throw CommandFailure.machineFailed("\(error)".printable)
    }
  }

  /// Creates the folders and the settings of the servers.
  ///
  /// - Parameter isFresh: True to remove the data of an earlier run. Other files in the folder stay.
  /// - Throws: `CommandFailure` if a file cannot be removed or created.
  func prepare(isFresh: Bool) throws {
    do {
      if isFresh { try removeData() }
      for folder in [servers, phones, logs] { try AtomicFile.makeFolder(folder) }
      try configureServers()
    } catch let error as FileError {
      throw CommandFailure.machineFailed("\(error)".printable)
    }
  }

  var clock: URL { url.appendingPathComponent("clock") }
  var people: URL { url.appendingPathComponent("people.json") }
  var servers: URL { url.appendingPathComponent("servers") }
  private var phones: URL { url.appendingPathComponent("phones") }
  private var logs: URL { url.appendingPathComponent("logs") }

  func phone(_ name: String) -> URL { phones.appendingPathComponent(name) }
  func configuration(of name: String) -> URL { phones.appendingPathComponent("\(name).json") }
  func key(of name: String) -> URL { phones.appendingPathComponent("\(name).key") }
  private func onMark(of name: String) -> URL { phones.appendingPathComponent("\(name).on") }
  func log(of name: String) -> URL { logs.appendingPathComponent("\(name).log") }

  /// Exports key files every hour instead of every four, so that a tour takes minutes. Keeps existing settings, which
  /// may have been edited.
  private func configureServers() throws(FileError) {
    let folder = servers.appendingPathComponent("keys")
    let file = folder.appendingPathComponent("settings.json")
    guard !FileManager.default.fileExists(atPath: file.path) else { return }
    try AtomicFile.makeFolder(folder)
    try AtomicFile.write(Data(#"{"exportPeriodSeconds":3600}"#.utf8), to: file)
  }

  /// Writes the configuration of a phone. The ports of the servers may be others than in the last run.
  func configure(_ name: String, verification: String, keys: String) throws {
    struct Configuration: Encodable {
      let verificationServer: String
      let keyServer: String
      let rootKey: String
      let regions: [String]
      let appID: String
    }
    let content = Configuration(
      verificationServer: verification, keyServer: keys,
      rootKey: servers.appendingPathComponent("root-public-key.pem").path, regions: ["PL"],
      appID: "pl.gov.mc.protegosafe")
    do {
      try AtomicFile.write(try JSONEncoder().encode(content), to: configuration(of: name))
    } catch let error as FileError {
      throw CommandFailure.machineFailed("\(error)".printable)
    }
  }

  /// True if a phone was turned on by an earlier start. An interrupted start may have created only its folder.
  func wasTurnedOn(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: onMark(of: name).path)
  }

  /// Records that a phone was turned on. Later starts leave its state to its owner.
  func noteTurnedOn(_ name: String) throws {
    do throws(FileError) { try AtomicFile.write(Data(), to: onMark(of: name)) } catch {
      throw CommandFailure.machineFailed("\(error)".printable)
    }
  }

  private func removeData() throws {
    for name in Self.dataNames {
      let file = url.appendingPathComponent(name)
      guard FileManager.default.fileExists(atPath: file.path) else { continue }
      do {
        try FileManager.default.removeItem(at: file)
      } catch {
        throw CommandFailure.machineFailed(
          "\(file.path.printable) cannot be removed: check its owner.")
      }
    }
  }
}
