// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation

@testable import HealthAuthorityConsole

/// An authenticator in software, which makes the responses of passkeys.
struct SoftwareAuthenticator {
  let key = P256.Signing.PrivateKey()
  let id = Data([1, 2, 3, 4])
  var host = "localhost"
  var origin: String
  var signCount: UInt32 = 0
  /// User present and user verified.
  var flags: UInt8 = 0x05

  func clientData(_ type: String, _ challenge: String) -> Data {
    Data(
      #"{"type":"\#(type)","challenge":"\#(challenge)","origin":"\#(origin)","crossOrigin":false}"#
        .utf8)
  }

  /// The attestation object of a registration.
  var attestation: Data {
    let point = key.publicKey.x963Representation
    let publicKey =
      [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + point[1..<33]
      + [0x22, 0x58, 0x20] + point[33..<65]
    let data =
      authenticatorData(flags | 0x40) + [UInt8](repeating: 0, count: 16)
      + [0, UInt8(id.count)] + id + publicKey
    func text(_ text: String) -> [UInt8] { [0x60 | UInt8(text.utf8.count)] + Array(text.utf8) }
    return Data(
      [0xA3] + text("fmt") + text("none") + text("attStmt") + [0xA0] + text("authData")
        + [0x58, UInt8(data.count)] + data)
  }

  func authenticatorData(_ flags: UInt8) -> [UInt8] {
    Array(SHA256.hash(data: Data(host.utf8))) + [flags]
      + withUnsafeBytes(of: signCount.bigEndian) { Array($0) }
  }

  /// The response to the challenge of a sign-in.
  func assertion(_ challenge: String, handle: Data) throws -> PasskeyCeremony.Assertion {
    let clientData = clientData("webauthn.get", challenge)
    let data = Data(authenticatorData(flags))
    let signature = try key.signature(for: data + Data(SHA256.hash(data: clientData)))
    return PasskeyCeremony.Assertion(
      credentialID: id, clientData: clientData, authenticatorData: data,
      signature: signature.derRepresentation, userHandle: handle)
  }
}
