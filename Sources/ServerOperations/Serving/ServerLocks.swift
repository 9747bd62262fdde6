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
      let file = own.appendingPathComponent("server.lock")
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
