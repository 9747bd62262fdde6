// SPDX-License-Identifier: Apache-2.0
import Foundation
import Settings
import Terminal
import World

/// The locks of the folders of running servers.
///
/// Two servers on one database would wait for each other at each commit, and both would write the exports. The
/// kernel releases the locks when the process ends.
package struct ServerLocks {
  private let held: [HeldFolderLock]

  /// Takes the lock of the folder of each of `servers`.
  ///
  /// - Throws: `CommandFailure` if another server runs on one of them.
  package init(_ folder: ServerFolder, _ servers: [ServerName]) throws {
    held = try servers.map { server in
      let own = folder.folder(of: server)
      let file = folder.lockFile(of: server)
      let lock: HeldFolderLock?
      do {
        lock = try FolderLock.hold(onFile: file)
      } catch {
        throw CommandFailure.machineFailed(
          "\(file.path.printable) cannot be locked: check the disk and the file's owner.")
      }
      guard let lock else {
        throw CommandFailure.badInput(
          "A server already runs on \(own.path.printable): stop it, or name another folder with"
            + " --data.")
      }
      // A restoration may have moved the folder away after the file was opened.
      guard lock.isOn(file) else {
        throw CommandFailure.badInput(
          "\(own.path.printable) was moved away or replaced meanwhile: run the command again.")
      }
      return lock
    }
  }
}

extension ServerFolder {
  fileprivate func lockFile(of server: ServerName) -> URL {
    folder(of: server).appendingPathComponent("server.lock")
  }

  /// Stores the configuration file with which `servers` run, in the files of their locks, so that commands read the
  /// same one. Called while the locks are held.
  package func rememberConfiguration(_ file: URL?, of servers: [ServerName]) throws {
    let text = Data(((file?.path ?? "") + "\n").utf8)
    for server in servers {
      let lock = lockFile(of: server)
      do {
        // In place: another file would have no lock. Not emptied first: a command may read it at this moment.
        let handle = try FileHandle(forWritingTo: lock)
        try handle.write(contentsOf: text)
        try handle.truncate(atOffset: UInt64(text.count))
        try handle.close()
      } catch {
        throw CommandFailure.machineFailed(
          "\(lock.path.printable) could not be written: check the disk and the file's owner.")
      }
    }
  }

  /// The configuration file with which `server` was started last; nil for none.
  ///
  /// - Parameter server: The server of a command; nil for all servers of this folder.
  /// - Throws: `CommandFailure` if all servers are asked for and were started with different files.
  package func rememberedConfiguration(of server: ServerName?) throws -> URL? {
    let paths = Set((server.map { [$0] } ?? ServerName.allCases).compactMap(rememberedPath))
    guard paths.count < 2 else {
      throw CommandFailure.badInput(
        "The servers of \(url.path.printable) were started with different configuration files: name one with"
          + " --config.")
    }
    return paths.first.flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0) }
  }

  /// The path of the configuration file of a server, empty for none; nil if the server never ran.
  private func rememberedPath(of server: ServerName) -> String? {
    // A server that never ran has no lock.
    guard let text = try? String(contentsOf: lockFile(of: server), encoding: .utf8),
      let end = text.firstIndex(of: "\n")
    else { return nil }
    return String(text[..<end])
  }
}
