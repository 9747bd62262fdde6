// SPDX-License-Identifier: Apache-2.0
import Foundation
import Settings

/// The root key, and the document that it signs.
extension ServerFolder {
  /// The private root key, until the operator moves it to a safer place.
  var rootPrivateKey: PrivateFile { PrivateFile(keys.appendingPathComponent("root-key.pem")) }
  /// The public root key, which phones are configured with.
  package var rootPublicKey: URL { url.appendingPathComponent("root-public-key.pem") }
  /// The signed document with the keys that phones trust.
  var deviceConfiguration: URL { keys.appendingPathComponent("device-configuration.json") }
}
