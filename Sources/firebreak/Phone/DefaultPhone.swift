// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import ServerOperations
import Settings
import Terminal

/// The phone of `phone run` without options. It needs no preparation: its folder and sealing key are created in the
/// current folder, and its servers are those that `serve` runs there without options.
struct DefaultPhone {
  /// The default of `--data`.
  static let folder = "firebreak-phone"

  /// The file of the sealing key, beside the folder.
  static var keyFile: String { URL(fileURLWithPath: "firebreak-phone.key").path }

  var keyFile: String { Self.keyFile }

  /// Fails if the options name another folder, a configuration or a key.
  init?(_ options: PhoneOptions) {
    guard options.data == Self.folder, options.config == nil, options.keyFile == nil,
      options.createKey == nil
    else { return nil }
  }

  /// The configuration while the folder has none.
  ///
  /// Before the servers have been started, the phone has a root key that signs nothing, so that it accepts no
  /// server.
  func configuration() throws -> PhoneConfigurationFile {
    let file = ServerFolder(at: ServerOptions.defaultFolder).rootPublicKey
    guard FileManager.default.fileExists(atPath: file.path) else {
      note(
        "There are no servers in \(ServerOptions.defaultFolder), so this phone cannot check or upload: start"
          + " `firebreak serve` in this folder, then the phone again, or name its configuration with --config."
      )
      return try PhoneConfigurationFile(
        ofServersWithRootKey: RootPrivateKey().rootKey.publicKeyPEM,
        port: ServeCommand.defaultPort)
    }
    return try PhoneConfigurationFile(
      ofServersWithRootKey: P256KeyFile(file.path, what: "root key").publicKeyPEM(),
      port: ServeCommand.defaultPort)
  }
}
