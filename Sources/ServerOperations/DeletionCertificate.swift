// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Settings
import Terminal
import World

/// A statement of what was deleted, to be signed by the authority.
package struct DeletionCertificate: Encodable, Hashable, Sendable {
  /// A deleted file.
  package struct File: Encodable, Hashable, Sendable {
    package let path: String
    package let bytes: Int
  }

  /// Unix seconds; nil before the deletion.
  package private(set) var deletedAt: Int64?
  package private(set) var servers: [String] = []
  /// The version of the instruction to stop.
  package private(set) var deviceConfigurationVersion: Int?
  /// The deleted files, by their paths from the folder of the servers.
  package fileprivate(set) var deleted: [File] = []
  /// The files that are left for phones.
  package fileprivate(set) var kept: [String] = []

  /// Creates a certificate of nothing.
  package init() {}

  fileprivate mutating func begin(at now: Date, servers: [String], version: Int) {
    (deletedAt, self.servers) = (now.unixSecond, servers)
    deviceConfigurationVersion = version
  }
}

/// The end of a service for good: phones are told, then all data is deleted.
extension ServerSetup {
  /// Tells all phones to neither check nor upload any more. Running servers serve the instruction at once.
  ///
  /// - Parameters:
  ///   - rootKey: The file of the root key; nil for that of the folder.
  ///   - lifetimeSeconds: The validity of the instruction; nil for the usual one.
  /// - Returns: The signed document.
  /// - Throws: `CommandFailure` if the root key is missing or the document cannot be written.
  package func tellEndOfService(
    rootKey: String?, lifetimeSeconds: Int64?
  ) throws -> DeviceConfiguration {
    try deviceConfiguration.publish(
      .pause(until: nil), rootKey: rootKey, lifetimeSeconds: lifetimeSeconds, replacesLost: false)
  }

  /// Deletes secrets, databases, settings and key files of all servers of the folder. What phones ask for is left in
  /// the folder of the exports, for a web server: the instruction to stop, and empty indexes.
  ///
  /// - Parameter certificate: Gets each deleted file, also if the command fails later.
  /// - Throws: `CommandFailure` if phones were not told, a server runs, or a file cannot be deleted; then the command
  ///   can be repeated.
  package func deleteService(_ certificate: inout DeletionCertificate) throws {
    let document = try deviceConfiguration.existing()
    guard let pause = document.pause, pause.until == nil else {
      throw CommandFailure.badInput(
        "Phones were not told yet: run `firebreak end-of-service tell` while the servers run, and wait"
          + " until phones have asked.")
    }
    let servers = folder.servers.filter(\.hasFiles)
    let locks = try ServerLocks(folder, servers.map(\.name))
    defer { withExtendedLifetime(locks) {} }
    certificate.begin(
      at: clock.now, servers: servers.map(\.name.rawValue), version: document.version)
    do {
      try keepInstruction(&certificate)
      try deleteExports(&certificate)
      // The secrets first: without them a copy of the database is worth less.
      for server in servers where exists(server.secrets.url) {
        try delete(server.secrets.url, &certificate)
      }
      if exists(folder.tokenPublicKeys.url) { try delete(folder.tokenPublicKeys.url, &certificate) }
      // The key server last: a second run needs its device configuration.
      for name in [ServerName.verification, .console, .keys] {
        try deleteFolder(of: name, &certificate)
      }
    } catch {
      throw CommandFailure.machineFailed(
        "A file of \(folder.url.path.printable) cannot be deleted: check its permissions, and run the"
          + " command again with another --certificate.")
    }
  }

  /// Copies the instruction to stop to the folder of the exports.
  private func keepInstruction(_ certificate: inout DeletionCertificate) throws {
    try FileManager.default.createDirectory(
      at: folder.exports, withIntermediateDirectories: true)
    let file = folder.exports.appendingPathComponent("device-configuration.json")
    try AtomicFile.write(
      try Data(contentsOf: folder.deviceConfiguration), to: file, permissions: 0o644)
    certificate.kept.append(path(of: file))
  }

  /// Removes the key files, and empties the indexes.
  private func deleteExports(_ certificate: inout DeletionCertificate) throws {
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.exports.path).sorted() {
      let file = folder.exports.appendingPathComponent(name)
      if name.hasSuffix(".zip") {
        try delete(file, &certificate)
      } else if file.lastPathComponent == "index.txt" {
        try AtomicFile.write([UInt8](), to: file, permissions: 0o644)
        certificate.kept.append(path(of: file))
      }
    }
  }

  private func deleteFolder(
    of server: ServerName, _ certificate: inout DeletionCertificate
  ) throws {
    let own = folder.folder(of: server)
    guard exists(own) else { return }
    // A second run finds the server by its database.
    let last = [folder.server(server).database, folder.deviceConfiguration].map(\.path)
    let files = try FileManager.default.subpathsOfDirectory(atPath: own.path).sorted()
      .map { own.appendingPathComponent($0) }
      .filter { !FileManager.default.isFolder(at: $0.path) && !last.contains($0.path) }
    for file in files { try delete(file, &certificate) }
    for path in last
    where path.hasPrefix(own.path + "/") && FileManager.default.fileExists(atPath: path) {
      try delete(URL(fileURLWithPath: path), &certificate)
    }
    try FileManager.default.removeItem(at: own)
  }

  private func delete(_ file: URL, _ certificate: inout DeletionCertificate) throws {
    let size = FileManager.default.attributes(of: file)?[.size] as? NSNumber
    try FileManager.default.removeItem(at: file)
    certificate.deleted.append(.init(path: path(of: file), bytes: size?.intValue ?? 0))
  }

  private func exists(_ file: URL) -> Bool { FileManager.default.fileExists(atPath: file.path) }

  /// The path from the folder of the servers.
  private func path(of file: URL) -> String {
    String(file.path.dropFirst(folder.url.path.count)).trimmingPrefix("/").description
  }
}
