// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import Logging
import Settings
import Terminal
import World

/// The key files of the key server, whether or not it runs.
extension ServerSetup {
  /// Closes every period that has ended, writes its files and removes old ones.
  ///
  /// - Returns: The files that were written.
  /// - Throws: `CommandFailure` if the server has no keys yet: an export creates none.
  package func exportNow() async throws -> [String] {
    guard try KeySecrets.stored(in: folder) != nil else {
      throw CommandFailure.badInput(
        "The key server of \(folder.url.path.printable) has no keys yet: start it first.")
    }
    try await synchronize(.keys)
    let server = try keyServer(logger: Self.noLogger)
    do {
      let files = try await server.exportDue(waitsForOthers: true)
      try await server.removeOld(waitsForOthers: true)
      return files
    } catch let error as CommandFailure {
      throw error
    } catch {
      throw CommandFailure.machineFailed("\(error)")
    }
  }

  /// Writes every key file again, except withdrawn ones, which are removed.
  ///
  /// - Returns: The files that were written.
  func signExportsAgain() async throws -> [String] {
    guard hasDatabase(of: .keys) else { return [] }
    let server = try keyServer(logger: Self.noLogger)
    do {
      return try await server.signAgain()
    } catch KeyServerError.exportsElsewhere {
      // A second run replaces a key in a file once more, which does no harm; one on a token stays.
      throw CommandFailure.machineFailed(
        "The keys are replaced, and no file is signed again. \(KeyServerError.exportsElsewhere)")
    } catch let error as CommandFailure {
      throw CommandFailure(
        status: error.status,
        message: "\(error.message) Run the command again to sign the other files.")
    } catch {
      throw CommandFailure.machineFailed(
        "\(error) Run the command again to sign the other files.")
    }
  }

  /// Tells phones to ignore key files, or not to ignore them any more. This includes the copies of the files in all
  /// exports, the hashes that each of these files had before it was written again, and the roll-ups with one of them.
  ///
  /// - Parameters:
  ///   - rootKey: The file of the private root key; nil for the one beside the secrets.
  ///   - isWithdrawn: False to end the withdrawal.
  /// - Returns: The new device configuration.
  package func setFiles(
    _ files: [KeyFileHash], isWithdrawn: Bool, rootKey: String? = nil
  ) async throws -> DeviceConfiguration {
    let copies = ExportFiles().copies(
      ofEach: try await editions(of: Set(files)),
      among: try keySettings().configuration.exports, in: folder.exports
    ).values.joined().map(\.hash)
    let present = Set(files).union(copies)
    let earlier = try await editions(of: present).subtracting(present)
    var all = files + Self.sorted(present.subtracting(files)) + Self.sorted(earlier)
    // The files of withdrawn roll-ups are removed, so that they are not among the copies.
    if !isWithdrawn {
      all += Self.sorted(try await rollUps(withdrawnWith: Set(all)).subtracting(all))
    }
    let change: DocumentChange =
      if isWithdrawn { .withdraw(try fitting(all, needed: present.count)) } else { .restore(all) }
    let document = try await publish(change, rootKey: rootKey)
    try await share(all, areWithdrawn: isWithdrawn)
    return document
  }

  /// Stores in the database which files are withdrawn, so that other processes with the same database do not write them
  /// again: their device configurations may not have them yet.
  private func share(_ files: [KeyFileHash], areWithdrawn: Bool) async throws {
    guard let address = try databaseAddress(of: .keys) else { return }
    try await reportingErrors {
      let history = try KeyFileHistory(
        databaseFile: folder.keyDatabase, databaseAddress: address)
      try await history.setFiles(files, areWithdrawn: areWithdrawn, at: clock.now)
    }
  }

  private static func sorted(_ hashes: Set<KeyFileHash>) -> [KeyFileHash] {
    hashes.sorted { $0.description < $1.description }
  }

  /// Those of `files` for which the device configuration has space.
  ///
  /// - Parameter needed: The number of files, from the first, for which it must have space.
  private func fitting(_ files: [KeyFileHash], needed: Int) throws -> [KeyFileHash] {
    let withdrawn = try deviceConfiguration.existing()
      .next(keys: [], issued: clock.now).withdrawn
    let new = files.filter { !withdrawn.contains($0) }
    let space = DeviceConfigurationLimit.withdrawnMax - withdrawn.count
    if new.count <= space { return files }
    guard files.prefix(needed).count(where: { !withdrawn.contains($0) }) <= space else {
      throw CommandFailure.badInput(
        "A device configuration withdraws at most \(DeviceConfigurationLimit.withdrawnMax) files, and"
          + " \(withdrawn.count) are withdrawn: pause the phones, or end withdrawals with `withdraw --undo`."
      )
    }
    warn(
      "\(new.count - space) of the hashes that the files had before they were written again are not withdrawn: a"
        + " device configuration has space for \(DeviceConfigurationLimit.withdrawnMax). End withdrawals with"
        + " `withdraw --undo`, then run the command again.")
    return Array(new.prefix(space))
  }

  /// The hashes of the roll-ups that are withdrawn only because `files` are.
  private func rollUps(withdrawnWith files: Set<KeyFileHash>) async throws -> Set<KeyFileHash> {
    guard hasDatabase(of: .keys) else { return [] }
    let document = try deviceConfiguration.existing().next(keys: [], issued: clock.now)
    return try await reportingErrors {
      let history = try KeyFileHistory(
        databaseFile: folder.keyDatabase, databaseAddress: try databaseAddress(of: .keys))
      return try await history.rollUps(
        coveringFilesWith: files, withdrawn: Set(document.withdrawn))
    }
  }

  /// `files`, and all hashes that the same files and their copies have had.
  private func editions(of files: Set<KeyFileHash>) async throws -> Set<KeyFileHash> {
    guard hasDatabase(of: .keys) else { return files }
    return try await reportingErrors {
      let history = try KeyFileHistory(
        databaseFile: folder.keyDatabase, databaseAddress: try databaseAddress(of: .keys))
      return try await history.editions(ofFilesWith: files, includesCopies: true).union(files)
    }
  }

  /// The operations report by their result and their error.
  private static let noLogger = Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() }
}
