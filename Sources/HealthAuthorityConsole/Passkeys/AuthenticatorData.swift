// SPDX-License-Identifier: Apache-2.0
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
      // It throws for a point that is not on the curve.
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

/// A value in CBOR (RFC 8949), limited to the subset that passkeys use: no floating-point numbers, no tags, no
/// indefinite lengths, and each length in its shortest form.
enum CBOR: Hashable, Sendable {
  case number(Int64)
  case bytes(Data)
  case text(String)
  case array([CBOR])
  case map([CBOR: CBOR])
  case boolean(Bool)
  case null

  /// The value of a map for an integer key.
  subscript(_ key: Int64) -> CBOR? {
    guard case .map(let values) = self else { return nil }
    return values[.number(key)]
  }

  /// The value of a map for a text key.
  subscript(_ key: String) -> CBOR? {
    guard case .map(let values) = self else { return nil }
    return values[.text(key)]
  }

  var data: Data? {
    guard case .bytes(let data) = self else { return nil }
    return data
  }
}

/// Reads CBOR values from the start of bytes.
struct CBORReader {
  /// The bytes are not valid CBOR of this subset.
  struct Malformed: Error {}

  private let bytes: [UInt8]
  private(set) var position = 0
  private let depthMax: Int
  private var itemsLeft: Int

  init(_ bytes: some Sequence<UInt8>, depthMax: Int, itemsMax: Int) {
    self.bytes = Array(bytes)
    self.depthMax = depthMax
    itemsLeft = itemsMax
  }

  /// True if all bytes were read.
  var isAtEnd: Bool { position == bytes.count }

  /// The next value.
  mutating func value() throws(Malformed) -> CBOR { try value(depth: 0) }

  private mutating func value(depth: Int) throws(Malformed) -> CBOR {
    guard depth <= depthMax else { throw Malformed() }
    let first = try byte()
    let argument = try argument(first & 31)
    switch first >> 5 {
    case 0: return .number(try positive(argument))
    case 1: return .number(-1 - (try positive(argument)))
    case 2: return .bytes(Data(try take(argument)))
    case 3:
      guard let text = String(validating: try take(argument), as: UTF8.self) else {
        throw Malformed()
      }
      return .text(text)
    case 4: return .array(try array(argument, depth: depth))
    case 5: return .map(try map(argument, depth: depth))
    case 7 where first & 31 < 24: return try simple(argument)
    default: throw Malformed()
    }
  }

  private mutating func array(_ count: UInt64, depth: Int) throws(Malformed) -> [CBOR] {
    try reserve(count)
    var values: [CBOR] = []
    for _ in 0..<count { values.append(try value(depth: depth + 1)) }
    return values
  }

  private mutating func map(_ count: UInt64, depth: Int) throws(Malformed) -> [CBOR: CBOR] {
    try reserve(count)
    var values: [CBOR: CBOR] = [:]
    for _ in 0..<count {
      let key = try value(depth: depth + 1)
      let value = try value(depth: depth + 1)
      guard values.updateValue(value, forKey: key) == nil else { throw Malformed() }
    }
    return values
  }

  private func simple(_ number: UInt64) throws(Malformed) -> CBOR {
    switch number {
    case 20: return .boolean(false)
    case 21: return .boolean(true)
    case 22: return .null
    default: throw Malformed()
    }
  }

  /// The number in the low bits of the first byte, or after it.
  private mutating func argument(_ low: UInt8) throws(Malformed) -> UInt64 {
    guard low >= 24 else { return UInt64(low) }
    guard low <= 27 else { throw Malformed() }
    let count = 1 << Int(low - 24)
    let number = try take(UInt64(count)).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let least: UInt64 = count == 1 ? 24 : 1 << UInt64(4 * count)
    guard number >= least else { throw Malformed() }
    return number
  }

  private func positive(_ number: UInt64) throws(Malformed) -> Int64 {
    guard let number = Int64(exactly: number) else { throw Malformed() }
    return number
  }

  private mutating func reserve(_ count: UInt64) throws(Malformed) {
    guard count <= UInt64(itemsLeft) else { throw Malformed() }
    itemsLeft -= Int(count)
  }

  private mutating func byte() throws(Malformed) -> UInt8 {
    guard position < bytes.count else { throw Malformed() }
    defer { position += 1 }
    return bytes[position]
  }

  private mutating func take(_ count: UInt64) throws(Malformed) -> ArraySlice<UInt8> {
    guard count <= UInt64(bytes.count - position) else { throw Malformed() }
    defer { position += Int(count) }
    return bytes[position..<(position + Int(count))]
  }
}
