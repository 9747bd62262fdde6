// SPDX-License-Identifier: Apache-2.0
import CPKCS11

/// One private key in a session.
struct TokenKeySession {
  /// The DER of the curve's name: prime256v1.
  private static let curve: [UInt8] = [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
  /// The bytes of an uncompressed point, and of the DER header of the octet string around it.
  private static let (pointBytes, pointHeader): (Int, [UInt8]) = (65, [0x04, 65])
  private static let signatureBytes = 64

  let functions: UnsafeMutablePointer<CK_FUNCTION_LIST>
  let session: CK_SESSION_HANDLE
  let name: TokenKeyURI.KeyName
  let call: TokenCall

  /// Signs the digest.
  ///
  /// - Returns: The two halves of the signature, 32 bytes each.
  func signature(of digest: [UInt8]) throws -> [UInt8] {
    let key = try object(of: CK_OBJECT_CLASS(CKO_PRIVATE_KEY))
    // The token gets the digest: not every one can hash.
    var mechanism = CK_MECHANISM(
      mechanism: CK_MECHANISM_TYPE(CKM_ECDSA), pParameter: nil, ulParameterLen: 0)
    try call.check(functions.pointee.C_SignInit(session, &mechanism, key), "C_SignInit")
    var (digest, signature) = (digest, [UInt8](repeating: 0, count: Self.signatureBytes))
    var count = CK_ULONG(signature.count)
    try call.check(
      functions.pointee.C_Sign(session, &digest, CK_ULONG(digest.count), &signature, &count),
      "C_Sign")
    return Array(signature.prefix(Int(count)))
  }

  /// The public key as an uncompressed point. The private key is looked for as well.
  func publicPoint() throws -> [UInt8] {
    let key = try object(of: CK_OBJECT_CLASS(CKO_PRIVATE_KEY))
    // Such a key would ask for the PIN at each signature, and C_Sign would fail as if the session had ended.
    guard try attribute(CK_ATTRIBUTE_TYPE(CKA_ALWAYS_AUTHENTICATE), of: key) != [CK_BBOOL(CK_TRUE)]
    else { throw TokenKeyError.interactiveKey(name.description) }
    let publicKey: CK_OBJECT_HANDLE
    do {
      publicKey = try object(of: CK_OBJECT_CLASS(CKO_PUBLIC_KEY))
    } catch TokenKeyError.missingKey {
      throw TokenKeyError.missingPublicKey(name.description)
    }
    // Some tokens do not reveal the curve of a private key.
    guard try attribute(CK_ATTRIBUTE_TYPE(CKA_EC_PARAMS), of: publicKey) == Self.curve else {
      throw TokenKeyError.otherCurve(name.description)
    }
    guard let point = try attribute(CK_ATTRIBUTE_TYPE(CKA_EC_POINT), of: publicKey) else {
      throw TokenKeyError.missingPublicKey(name.description)
    }
    // Older modules return the point without the octet string.
    let isWrapped = point.count == Self.pointBytes + 2 && Array(point.prefix(2)) == Self.pointHeader
    return isWrapped ? Array(point.dropFirst(2)) : point
  }

  /// The one object of the class that has the name.
  private func object(of kind: CK_OBJECT_CLASS) throws -> CK_OBJECT_HANDLE {
    var (kind, type) = (kind, CK_KEY_TYPE(CKK_EC))
    let label = name.label.map { Array($0.utf8) }
    var found = [CK_OBJECT_HANDLE](repeating: 0, count: 2)
    var count: CK_ULONG = 0
    try withUnsafeMutableBytes(of: &kind) { kind in
      try withUnsafeMutableBytes(of: &type) { type in
        try Self.withAttribute(CK_ATTRIBUTE_TYPE(CKA_LABEL), label) { label in
          try Self.withAttribute(CK_ATTRIBUTE_TYPE(CKA_ID), name.id) { id in
            var template =
              [
                CK_ATTRIBUTE(CK_ATTRIBUTE_TYPE(CKA_CLASS), kind),
                CK_ATTRIBUTE(CK_ATTRIBUTE_TYPE(CKA_KEY_TYPE), type),
              ] + [label, id].compactMap(\.self)
            try call.check(
              functions.pointee.C_FindObjectsInit(session, &template, CK_ULONG(template.count)),
              "C_FindObjectsInit")
          }
        }
      }
    }
    let code = functions.pointee.C_FindObjects(session, &found, CK_ULONG(found.count), &count)
    _ = functions.pointee.C_FindObjectsFinal(session)
    try call.check(code, "C_FindObjects")
    guard count > 0 else { throw TokenKeyError.missingKey(name.description) }
    guard count == 1 else { throw TokenKeyError.ambiguousKey(name.description) }
    return found[0]
  }

  /// The value of an attribute; nil if the object has none.
  private func attribute(_ type: CK_ATTRIBUTE_TYPE, of object: CK_OBJECT_HANDLE) throws -> [UInt8]?
  {
    var attribute = CK_ATTRIBUTE(type: type, pValue: nil, ulValueLen: 0)
    let code = functions.pointee.C_GetAttributeValue(session, object, &attribute, 1)
    if [CK_RV(CKR_ATTRIBUTE_TYPE_INVALID), CK_RV(CKR_ATTRIBUTE_SENSITIVE)].contains(code) {
      return nil
    }
    try call.check(code, "C_GetAttributeValue")
    // The length is -1 if the value cannot be read.
    guard attribute.ulValueLen < 1 << 16 else { return nil }
    var value = [UInt8](repeating: 0, count: Int(attribute.ulValueLen))
    try value.withUnsafeMutableBytes { bytes in
      attribute.pValue = bytes.baseAddress
      try call.check(
        functions.pointee.C_GetAttributeValue(session, object, &attribute, 1), "C_GetAttributeValue"
      )
    }
    return value
  }

  private static func withAttribute<Result>(
    _ type: CK_ATTRIBUTE_TYPE, _ value: [UInt8]?, _ work: (CK_ATTRIBUTE?) throws -> Result
  ) rethrows -> Result {
    guard var value else { return try work(nil) }
    return try value.withUnsafeMutableBytes { try work(CK_ATTRIBUTE(type, $0)) }
  }
}

extension CK_ATTRIBUTE {
  fileprivate init(_ type: CK_ATTRIBUTE_TYPE, _ value: UnsafeMutableRawBufferPointer) {
    self.init(type: type, pValue: value.baseAddress, ulValueLen: CK_ULONG(value.count))
  }
}
