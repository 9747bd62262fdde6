import Crypto
import Foundation

/// The authenticator data of a passkey (Web Authentication, section 6.1).
struct AuthenticatorData: Sendable {
  /// SHA-256 of the relying party's id, which is the host name of the console.
  let relyingPartyHash: Data
  let isUserPresent: Bool
  /// True if the authenticator checked a fingerprint, a face or a PIN of the user.
  let isUserVerified: Bool
  let signCount: UInt32
  /// The new credential in a registration; nil in a sign-in.
  let credential: Credential?

  /// A new credential.
  struct Credential: Sendable {
    let id: Data
    let publicKey: P256.Signing.PublicKey
  }

  /// - Throws: `PasskeyRefusal.malformed`, or `.unsupportedKey` if the key is not an ES256 key.
  init(_ bytes: Data, limits: PasskeyLimits) throws(PasskeyRefusal) {
    let bytes = Data(bytes)
    guard bytes.count >= Self.headBytes else { throw .malformed }
    relyingPartyHash = bytes.prefix(32)
    let flags = bytes[32]
    isUserPresent = flags & 0x01 != 0
    isUserVerified = flags & 0x04 != 0
    signCount = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
    var rest = bytes.dropFirst(Self.headBytes)
    credential = flags & 0x40 != 0 ? try Self.credential(&rest, limits) : nil
    // Extensions are a map, which is read to its end and not used.
    if flags & 0x80 != 0 { _ = try Self.value(&rest, limits) }
    guard rest.isEmpty else { throw .malformed }
  }

  private static let headBytes = 37

  /// The model of the authenticator (16 bytes) is not used.
  private static func credential(
    _ rest: inout Data, _ limits: PasskeyLimits
  ) throws(PasskeyRefusal) -> Credential {
    guard rest.count >= 18 else { throw .malformed }
    let length = rest.dropFirst(16).prefix(2).reduce(0) { $0 << 8 | Int($1) }
    rest = rest.dropFirst(18)
    guard (1...limits.credentialBytesMax).contains(length), rest.count >= length else {
      throw .malformed
    }
    let id = Data(rest.prefix(length))
    rest = rest.dropFirst(length)
    return Credential(id: id, publicKey: try publicKey(try value(&rest, limits)))
  }

  /// The key in COSE form: elliptic curve, ES256, P-256.
  private static func publicKey(_ key: CBOR) throws(PasskeyRefusal) -> P256.Signing.PublicKey {
    guard key[1] == .number(2), key[3] == .number(-7), key[-1] == .number(1),
      let x = key[-2]?.data, let y = key[-3]?.data, x.count == 32, y.count == 32,
      let publicKey = try? P256.Signing.PublicKey(x963Representation: [4] + x + y)
    else { throw .unsupportedKey }
    return publicKey
  }

  private static func value(
    _ rest: inout Data, _ limits: PasskeyLimits
  ) throws(PasskeyRefusal) -> CBOR {
    var reader = CBORReader(rest, depthMax: limits.cborDepthMax, itemsMax: limits.cborItemsMax)
    do {
      let value = try reader.value()
      rest = rest.dropFirst(reader.position)
      return value
    } catch {
      throw .malformed
    }
  }
}

/// The limits of what an authenticator sends.
struct PasskeyLimits: Sendable {
  let credentialBytesMax: Int
  let cborDepthMax: Int
  let cborItemsMax: Int
}

/// The reasons why a passkey is refused.
enum PasskeyRefusal: Error, Hashable, Sendable {
  /// The response is not of the specified form.
  case malformed
  /// The key is not an ES256 key, the only kind that was requested.
  case unsupportedKey
  /// The response is for another origin or challenge, or the challenge has expired.
  case ceremonyMismatch
  /// The authenticator did not check its user.
  case unverifiedUser
  /// The signature is not valid.
  case badSignature
  /// The counter went back: there may be a copy of the passkey.
  case copied
}
