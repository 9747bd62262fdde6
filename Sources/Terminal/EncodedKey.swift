// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings

/// A file that may be a key, but is neither PEM nor DER.
enum EncodedKey {
  /// The reason why the content cannot be used, as precise as it can be recognized.
  static func fault(of content: Data) -> KeyFault {
    let text = String(decoding: content, as: UTF8.self).filter { !$0.isWhitespace && $0 != ":" }
    if isPoint([UInt8](content)) || isPoint([UInt8](hexadecimal: text.lowercased()) ?? []) {
      return KeyFault("it is the point of a key without its curve", "give the key in PEM")
    }
    if let kind = kind(of: Data(base64Encoded: text)) {
      let label = label(of: kind)
      return KeyFault(
        "it is base64 without the lines of PEM",
        "write -----BEGIN \(label)----- before it and -----END \(label)----- behind it")
    }
    if kind(of: [UInt8](hexadecimal: text.lowercased()).map { Data($0) }) != nil {
      return KeyFault("it is DER in hexadecimal digits", "decode it with xxd -r -p")
    }
    if text.hasPrefix("{"), text.contains(#""kty""#) {
      return KeyFault("it is a JSON Web Key", "give the key in PEM")
    }
    if let foreign = ForeignFile(content) {
      return KeyFault("it is \(foreign.kind)", foreign.remedy)
    }
    return KeyFault("it has no key in PEM or DER", "give the file of a P-256 key")
  }

  private static func kind(of der: Data?) -> KeyContent? {
    der.flatMap { P256KeyDER.kind(of: [UInt8]($0)) }
  }

  /// Returns `true` if the bytes are as long as a point of P-256, with one of its first bytes (SEC 1, 2.3.3).
  private static func isPoint(_ bytes: [UInt8]) -> Bool {
    switch bytes.first {
    case 4: bytes.count == 65
    case 2, 3: bytes.count == 33
    default: false
    }
  }

  /// The label of a block of PEM with this content.
  private static func label(of kind: KeyContent) -> String {
    switch kind {
    case .publicKey: "PUBLIC KEY"
    case .encryptedPrivateKey: "ENCRYPTED PRIVATE KEY"
    case .certificate: "CERTIFICATE"
    default: "PRIVATE KEY"
    }
  }
}
