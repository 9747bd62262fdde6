// SPDX-License-Identifier: Apache-2.0
import TextEncodings

/// The place of a private key on a token, as a PKCS#11 URI (RFC 7512).
///
/// `pkcs11:token=export;object=260-v1?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=/etc/firebreak/pin`.
package struct TokenKeyURI: Hashable, Sendable {
  /// The scheme with which a URI begins, where a file could be named as well.
  package static let scheme = "pkcs11:"

  /// The text without changes.
  package let text: String
  /// The file of the module.
  package let modulePath: String
  /// The file with the PIN; nil for a token that needs none.
  package let pinFile: String?
  let token: TokenName
  let key: KeyName

  /// The attributes by which a token is chosen; at least one is set.
  struct TokenName: Hashable, Sendable {
    let label: String?
    let serial: String?
  }

  /// The attributes by which a key is chosen; at least one is set.
  struct KeyName: Hashable, Sendable {
    let label: String?
    let id: [UInt8]?
  }

  /// Parses `text`.
  ///
  /// - Throws: `TokenKeyError.unusableURI`, which says what to change.
  package init(_ text: String) throws(TokenKeyError) {
    guard text.hasPrefix(Self.scheme) else {
      throw .unusableURI("it must begin with \(Self.scheme)")
    }
    let parts = text.dropFirst(Self.scheme.count).split(
      separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = try Attributes(
      parts[0], separator: ";", known: ["token", "serial", "object", "id", "type"])
    let query = try Attributes(
      parts.count > 1 ? parts[1] : "", separator: "&",
      known: ["module-path", "pin-source", "pin-value"])
    // Checked first: the PIN was already seen by other users of the machine.
    guard query.bytes["pin-value"] == nil else {
      throw .unusableURI(
        "pin-value shows the PIN to every user of this machine: put it into a file with mode 0600, name that with"
          + " pin-source, and change the PIN")
    }
    guard let module = try query.text("module-path") else {
      throw .unusableURI("it needs module-path, the file of the token's PKCS#11 module")
    }
    // dlopen would look for it in the folders of libraries.
    guard module.hasPrefix("/") else {
      throw .unusableURI("module-path must be an absolute path")
    }
    token = TokenName(label: try path.text("token"), serial: try path.text("serial"))
    key = KeyName(label: try path.text("object"), id: path.bytes["id"])
    guard token.label != nil || token.serial != nil else {
      throw .unusableURI("it needs token, the label of the token, or serial")
    }
    guard key.label != nil || key.id != nil else {
      throw .unusableURI("it needs object, the label of the key, or id")
    }
    guard try [nil, "private"].contains(path.text("type")) else {
      throw .unusableURI("its type must be private")
    }
    self.text = text
    modulePath = module
    pinFile = try query.text("pin-source").map(Self.file)
  }

  /// `pin-source` is a path, or a URI `file:`.
  private static func file(_ source: String) throws(TokenKeyError) -> String {
    let path = source.hasPrefix("file:") ? String(source.dropFirst("file:".count)) : source
    let local = path.hasPrefix("///") ? String(path.dropFirst(2)) : path
    // The service has another current folder than the operator.
    guard local.hasPrefix("/"), !local.hasPrefix("//") else {
      throw .unusableURI("pin-source must be a file with an absolute path")
    }
    return local
  }
}

extension TokenKeyURI: CustomStringConvertible {
  package var description: String { text }
}

/// The attributes of one part of the URI.
private struct Attributes {
  /// The decoded values by name.
  let bytes: [String: [UInt8]]

  init(_ text: Substring, separator: Character, known: Set<String>) throws(TokenKeyError) {
    var bytes: [String: [UInt8]] = [:]
    for attribute in text.split(separator: separator) {
      let pair = attribute.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(pair[0])
      // An unknown attribute could choose another key.
      guard pair.count == 2, known.contains(name) else {
        throw .unusableURI("it has the unknown attribute \(name.prefix(40).debugDescription)")
      }
      guard let value = Self.decoded(pair[1]), !value.isEmpty else {
        throw .unusableURI("the value of \(name) is empty or not percent-encoded correctly")
      }
      guard bytes.updateValue(value, forKey: name) == nil else {
        throw .unusableURI("it has \(name) twice")
      }
    }
    self.bytes = bytes
  }

  func text(_ name: String) throws(TokenKeyError) -> String? {
    guard let value = bytes[name] else { return nil }
    guard let text = String(validating: value, as: UTF8.self), !value.contains(0) else {
      throw .unusableURI("the value of \(name) is not text")
    }
    return text
  }

  /// The bytes of a percent-encoded value; nil if an escape is not valid.
  private static func decoded(_ value: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = value.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      guard digits.utf8.count == 2, let escaped = [UInt8](hexadecimal: digits) else { return nil }
      bytes += escaped
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}
