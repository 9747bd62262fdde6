import Crypto
import Foundation
import KeyServerAPI

/// What a phone is given to prove, later, that keys which are in already are its own: sealed, so that
/// only this server reads it, and as long for one key as for twenty-eight.
///
/// Documentation/KeyServer.md 9. Base64 of the message `{key id = 1, data = 2}`, data being nonce,
/// AES-GCM text and tag over `{revisable keys = 1 {key = 1, interval = 2, count = 3}}`.
struct RevisionToken: Hashable, Sendable {
  let keys: Set<RevisableKey>

  /// A token that speaks of `keys`.
  init(_ keys: Set<RevisableKey>) {
    self.keys = keys
  }

  /// Opens `text` with one of `ring`'s keys; nil where it is not a token of this server's.
  init?(_ text: String, with ring: RevisionKeyring) {
    guard text.utf8.count <= RevisionLimit.textBytesMax, let bytes = Base64Text.bytes(text),
      let fields = ProtobufText.fields(of: bytes[...]), fields.count == 2,
      case (1, .bytes(let name)) = (fields[0].number, fields[0].value),
      case (2, .bytes(let data)) = (fields[1].number, fields[1].value),
      let key = ring.keys[String(decoding: name, as: UTF8.self)],
      let box = try? AES.GCM.SealedBox(combined: Data(data)),
      let plain = try? AES.GCM.open(box, using: key, authenticating: ring.context)
    else { return nil }
    guard let keys = Self.keys(in: Array(plain)) else { return nil }
    self.keys = keys
  }

  /// The text that travels, sealed with `ring`'s present key.
  ///
  /// - Throws: where it cannot be sealed; nobody may then be told that keys are in.
  func text(sealedWith ring: RevisionKeyring) throws -> String {
    let box = try AES.GCM.seal(
      Data(plainText), using: ring.present.key, authenticating: ring.context)
    guard let data = box.combined else { throw CryptoKitError.incorrectParameterSize }
    var text: [UInt8] = []
    ProtobufText.append(ring.present.id.utf8, as: 1, to: &text)
    ProtobufText.append(data, as: 2, to: &text)
    return Data(text).base64EncodedString()
  }

  /// Whether it speaks of this key with this interval data.
  func covers(_ key: RevisableKey) -> Bool { keys.contains(key) }

  private var plainText: [UInt8] {
    let padding = RevisableKey(
      bytes: [UInt8](repeating: 0, count: UploadLimit.keyByteCount), start: 0, period: 0)
    var (text, entry): ([UInt8], [UInt8]) = ([], [])
    text.reserveCapacity(max(keys.count, RevisionLimit.entriesMin) * Self.bytesOfOneEntry)
    entry.reserveCapacity(Self.bytesOfOneEntry)
    func append(_ key: RevisableKey) {
      entry.removeAll(keepingCapacity: true)
      ProtobufText.append(key.bytes, as: 1, to: &entry)
      ProtobufText.append(key.start, as: 2, width: 5, to: &entry)
      ProtobufText.append(key.period, as: 3, width: 2, to: &entry)
      ProtobufText.append(entry, as: 1, to: &text)
    }
    for key in keys { append(key) }
    for _ in 0..<max(0, RevisionLimit.entriesMin - keys.count) { append(padding) }
    return text
  }

  /// About as many bytes as one entry takes.
  private static let bytesOfOneEntry = 32

  private static func keys(in plain: [UInt8]) -> Set<RevisableKey>? {
    guard let entries = ProtobufText.fields(of: plain[...]) else { return nil }
    var keys: Set<RevisableKey> = []
    for entry in entries {
      guard case .bytes(let text) = entry.value, let fields = ProtobufText.fields(of: text) else {
        return nil
      }
      var (bytes, start, period): ([UInt8], UInt32, UInt32) = ([], 0, 0)
      for field in fields {
        switch (field.number, field.value) {
        case (1, .bytes(let key)): bytes = Array(key)
        case (2, .number(let number)): start = UInt32(truncatingIfNeeded: number)
        case (3, .number(let number)): period = UInt32(truncatingIfNeeded: number)
        default: return nil
        }
      }
      if period > 0 { keys.insert(RevisableKey(bytes: bytes, start: start, period: period)) }
    }
    return keys
  }
}

extension RevisionToken: CustomStringConvertible, CustomReflectable {
  var description: String { "RevisionToken(\(keys.count) keys)" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
