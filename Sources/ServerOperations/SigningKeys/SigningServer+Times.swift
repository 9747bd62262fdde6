// SPDX-License-Identifier: Apache-2.0
import HealthAuthorityConsole
import KeyServerAPI

/// The server in the folder, the name of its commands, and the default times of a rotation.
extension SigningServer {
  /// The server that has the keys.
  package var name: ServerName {
    switch self {
    case .keys: .keys
    case .verification: .verification
    }
  }

  /// The command that administers the server: `key-server` or `verification-server`.
  package var commandName: String {
    switch self {
    case .keys: "key-server"
    case .verification: "verification-server"
    }
  }

  /// The overlap of signing keys in a rotation, in seconds.
  package var overlapSeconds: Int {
    switch self {
    // Key files are kept this long, and phones may verify each of them.
    case .keys: 14 * 86_400
    // The longest lifetime of a token.
    case .verification: 86_400
    }
  }

  /// The time until a new key signs, in seconds.
  package var leadSeconds: Int {
    switch self {
    // Phones learn the key from the device configuration before it signs.
    case .keys: Int(DeviceConfigurationLimit.leadSeconds)
    // The key server reads the public keys at once when it sees an unknown key id.
    case .verification: 0
    }
  }
}
