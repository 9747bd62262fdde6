// SPDX-License-Identifier: Apache-2.0
import World

/// The files in the folder of the exports that an interrupted write leaves. They may have keys.
package enum TemporaryExportFile {
  /// True for the names of our own writes and of `KeyFileWriter`.
  package static func isName(_ name: String) -> Bool {
    AtomicFile.isTemporary(name) || (name.hasPrefix(".") && name.contains(".zip"))
  }
}
