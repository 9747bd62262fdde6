// SPDX-License-Identifier: Apache-2.0
import Crypto
import TextEncodings

/// Reads P-256 keys from DER, in all forms that OpenSSL writes.
///
/// swift-crypto reads only uncompressed points and the name of the curve.
enum P256KeyDER {
  /// The kind of content of a DER file, by its structure; nil if it is not DER.
  static func kind(of bytes: [UInt8]) -> KeyContent? {
    // Any file may be given as a key.
    (try? structure(of: bytes)) ?? nil
  }

  private static func structure(of bytes: [UInt8]) throws(KeyFault) -> KeyContent? {
    var file = DERCursor(bytes)
    var outer = DERCursor(try file.take(.sequence))
    // PKCS#7 is the only one that begins with an identifier.
    if outer.tag == .objectIdentifier { return .other("a PKCS#7 file") }
    guard outer.tag == .integer else { return try structure(ofSequences: outer) }
    let version = try outer.take(.integer)
    switch outer.tag {
    // PKCS#12 has version 3, PKCS#8 0 or 1.
    case .sequence where version.elementsEqual([3]): return .pkcs12
    case .sequence, .octetString: return .privateKey
    case .integer: return .other("an RSA key")
    default: return nil
    }
  }

  /// The kind of a sequence that begins with another one.
  private static func structure(
    ofSequences outer: DERCursor
  ) throws(KeyFault) -> KeyContent? {
    var outer = outer
    let inner = DERCursor(try outer.take(.sequence))
    return switch (inner.tag, outer.tag) {
    case (.objectIdentifier, .bitString): .publicKey
    case (.objectIdentifier, .octetString): .encryptedPrivateKey
    case (.context0, .sequence): .certificate
    case (.integer, .sequence): .other("a certificate or a certificate request")
    default: nil
    }
  }

  /// Reads a SubjectPublicKeyInfo (RFC 5480).
  static func publicKey(_ bytes: [UInt8]) throws(KeyFault) -> P256.Signing.PublicKey {
    var file = DERCursor(bytes)
    var key = DERCursor(try file.take(.sequence))
    try checkAlgorithm(try key.take(.sequence))
    return try point(inBits: try key.take(.bitString))
  }

  /// Reads an ECPrivateKey (RFC 5915), alone or in a PrivateKeyInfo (RFC 5958).
  ///
  /// A key that names no curve must have a public key that matches on P-256.
  ///
  /// - Parameter curve: The DER of `EC PARAMETERS`; used if the key does not name its curve.
  static func privateKey(
    _ bytes: [UInt8], curve: [UInt8]?
  ) throws(KeyFault) -> P256.Signing.PrivateKey {
    var file = DERCursor(bytes)
    var key = DERCursor(try file.take(.sequence))
    _ = try key.take(.integer)
    guard key.tag == .sequence else { return try privateKey(key, curve: curve) }
    try checkAlgorithm(try key.take(.sequence))
    var octets = DERCursor(try key.take(.octetString))
    var inner = DERCursor(try octets.take(.sequence))
    _ = try inner.take(.integer)
    // The algorithm has named the curve.
    return try privateKey(inner, curve: namedP256)
  }

  /// Reads the fields of an ECPrivateKey after its version.
  private static func privateKey(
    _ fields: DERCursor, curve: [UInt8]?
  ) throws(KeyFault) -> P256.Signing.PrivateKey {
    var fields = fields
    let scalar = Array(try fields.take(.octetString).drop { $0 == 0 })
    var isCurveNamed = true
    if fields.tag == .context0 {
      try checkCurve(DERCursor(try fields.take(.context0)))
    } else if let curve {
      try checkCurve(DERCursor(curve))
    } else {
      isCurveNamed = false
    }
    guard scalar.count <= byteCount else { throw .anotherKey("a key of another curve than P-256") }
    let padding = [UInt8](repeating: 0, count: byteCount - scalar.count)
    // Zero, and the order of the curve and above, are no private keys.
    guard let key = try? P256.Signing.PrivateKey(rawRepresentation: padding + scalar) else {
      throw KeyFault("the private scalar is out of the range of P-256", "copy it again")
    }
    if fields.tag == .context1 {
      var publicKey = DERCursor(try fields.take(.context1))
      let stated = try point(inBits: try publicKey.take(.bitString))
      guard stated.rawRepresentation == key.publicKey.rawRepresentation else {
        throw KeyFault("the public key does not match the private key", "copy it again")
      }
    } else if !isCurveNamed {
      // 32 bytes are a key of several curves.
      throw KeyFault("it does not name its curve", "write it again with openssl ec")
    }
    return key
  }

  /// The bytes of a coordinate, and of a private key.
  private static let byteCount = 32

  /// Reads a point in the content of a BIT STRING.
  private static func point(
    inBits bits: ArraySlice<UInt8>
  ) throws(KeyFault) -> P256.Signing.PublicKey {
    guard bits.first == 0, let key = point(Array(bits.dropFirst())) else {
      throw KeyFault("its point is not on the curve P-256", "copy it again")
    }
    return key
  }

  /// Reads a point in one of the forms of SEC 1, 2.3.4: uncompressed (4), compressed (2 and 3), hybrid (6 and 7).
  private static func point(_ bytes: [UInt8]) -> P256.Signing.PublicKey? {
    switch bytes.first {
    // Nil if the length is wrong or the point is not on the curve.
    case 4: return try? P256.Signing.PublicKey(x963Representation: bytes)
    // Nil for the same reasons.
    case 2, 3: return try? P256.Signing.PublicKey(compressedRepresentation: bytes)
    case .some(let form) where form == 6 || form == 7:
      let key = point([form - 4] + bytes[1...].prefix(byteCount))
      return key?.rawRepresentation.elementsEqual(bytes[1...]) == true ? key : nil
    default: return nil
    }
  }
}

// MARK: - Algorithms and curves

extension P256KeyDER {
  /// Throws if `content`, that of an AlgorithmIdentifier, is not elliptic curves with P-256.
  private static func checkAlgorithm(_ content: ArraySlice<UInt8>) throws(KeyFault) {
    var fields = DERCursor(content)
    let algorithm = Array(try fields.take(.objectIdentifier))
    guard algorithm == ellipticCurve else {
      throw .anotherKey(algorithms[algorithm] ?? "a key of another algorithm")
    }
    try checkCurve(fields)
  }

  /// Throws if the next value names or describes another curve than P-256.
  private static func checkCurve(_ cursor: DERCursor) throws(KeyFault) {
    var cursor = cursor
    if cursor.tag == .sequence {
      guard try isP256(DERCursor(try cursor.take(.sequence))) else {
        throw .anotherKey("a key of another curve than P-256")
      }
      return
    }
    let curve = Array(try cursor.take(.objectIdentifier))
    guard curve == p256 else {
      throw .anotherKey(
        curves[curve].map { "a key of the curve \($0)" } ?? "a key of another curve than P-256")
    }
  }

  /// Returns `true` if these ECParameters (RFC 3279, 2.3.5) describe P-256. All of them are compared: with another
  /// generator, an attacker could make a private key for a given public key.
  private static func isP256(_ parameters: DERCursor) throws(KeyFault) -> Bool {
    var fields = parameters
    _ = try fields.take(.integer)
    var field = DERCursor(try fields.take(.sequence))
    guard try field.take(.objectIdentifier).elementsEqual(primeField) else { return false }
    var curve = DERCursor(try fields.take(.sequence))
    let (a, b) = (try curve.take(.octetString), try curve.take(.octetString))
    let (generator, order) = (try fields.take(.octetString), try fields.take(.integer))
    return P256Parameters.areThese(prime: try field.take(.integer), a: a, b: b, order: order)
      && point(Array(generator))?.rawRepresentation.elementsEqual(P256Parameters.generator) == true
  }

  /// 1.2.840.10045.2.1
  private static let ellipticCurve: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1]
  /// 1.2.840.10045.1.1
  private static let primeField: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 1, 1]
  /// 1.2.840.10045.3.1.7
  private static let p256: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7]
  /// The DER of `p256`.
  private static let namedP256: [UInt8] = [6, UInt8(p256.count)] + p256

  private static let algorithms: [[UInt8]: String] = [
    [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1]: "an RSA key",
    [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 10]: "an RSA key",
    [0x2a, 0x86, 0x48, 0xce, 0x38, 4, 1]: "a DSA key",
    [0x2b, 0x65, 0x6e]: "an X25519 key", [0x2b, 0x65, 0x6f]: "an X448 key",
    [0x2b, 0x65, 0x70]: "an Ed25519 key", [0x2b, 0x65, 0x71]: "an Ed448 key",
  ]

  private static let curves: [[UInt8]: String] = [
    [0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 1]: "P-192", [0x2b, 0x81, 4, 0, 33]: "P-224",
    [0x2b, 0x81, 4, 0, 34]: "P-384", [0x2b, 0x81, 4, 0, 35]: "P-521",
    [0x2b, 0x81, 4, 0, 10]: "secp256k1",
    [0x2b, 0x24, 3, 3, 2, 8, 1, 1, 7]: "brainpoolP256r1",
  ]
}

/// The numbers of P-256 (FIPS 186-4, D.1.2.3).
private enum P256Parameters {
  static let prime = number("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
  static let a = number("ffffffff00000001000000000000000000000000fffffffffffffffffffffffc")
  static let b = number("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b")
  static let order = number("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
  /// Both coordinates.
  static let generator =
    number("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
    + number("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")

  static func areThese(
    prime: ArraySlice<UInt8>, a: ArraySlice<UInt8>, b: ArraySlice<UInt8>, order: ArraySlice<UInt8>
  ) -> Bool {
    // An INTEGER whose first bit is set has a zero before it.
    prime.drop { $0 == 0 }.elementsEqual(Self.prime) && a.elementsEqual(Self.a)
      && b.elementsEqual(Self.b) && order.drop { $0 == 0 }.elementsEqual(Self.order)
  }

  private static func number(_ hex: String) -> [UInt8] { [UInt8](hexadecimal: hex) ?? [] }
}
