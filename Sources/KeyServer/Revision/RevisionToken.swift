import Crypto
import ExposureKeys
import Foundation
import KeyServerAPI

/// What a phone is given to prove, later, that keys which are in already are its own: sealed, so that
/// only this server reads it, and as long for one key as for twenty-eight.
///
/// Documentation/KeyServer.md 9. Base64 of the message `{key id = 1, data = 2}`, data being nonce,
/// AES-GCM text and tag over `{revisable keys = 1 {key = 1, interval = 2, count = 3}}`.
struct RevisionToken: Hashable, Sendable {
  let keys: [RevisableKey]

  /// A token that speaks of `keys`, each of which stands there once.
  init(_ keys: some Sequence<RevisableKey>) {
    self.keys = Array(keys)
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
      plainText, using: ring.present.key, authenticating: ring.context)
    guard let data = box.combined else { throw CryptoKitError.incorrectParameterSize }
    var text: [UInt8] = []
    ProtobufText.append(ring.present.id.utf8, as: 1, to: &text)
    ProtobufText.append(data, as: 2, to: &text)
    return Data(text).base64EncodedString()
  }

  /// Whether it speaks of this key with this interval data.
  func covers(_ key: RevisableKey) -> Bool { keys.contains(key) }

  private var plainText: [UInt8] {
    let entries = max(keys.count, RevisionLimit.entriesMin)
    var text: [UInt8] = []
    text.reserveCapacity(entries * (2 + Self.bytesOfOneEntry))
    for key in keys.lazy.map(\.key) {
      Self.append(key.secretWords, key.rollingStart.rawValue, key.rollingPeriod, to: &text)
    }
    for _ in keys.count..<entries { Self.append((0, 0), 0, 0, to: &text) }
    return text
  }

  private static func append(
    _ bytes: (UInt64, UInt64), _ start: UInt32, _ period: UInt32, to text: inout [UInt8]
  ) {
    ProtobufText.appendHead(of: 1, byteCount: bytesOfOneEntry, to: &text)
    withUnsafeBytes(of: bytes) { ProtobufText.append($0, as: 1, to: &text) }
    ProtobufText.append(start, as: 2, width: 5, to: &text)
    ProtobufText.append(period, as: 3, width: 2, to: &text)
  }

  /// As many bytes as one entry takes: each field's tag, the key with its length, and the two numbers.
  private static let bytesOfOneEntry = 2 + UploadLimit.keyByteCount + 1 + 5 + 1 + 2

  private static func keys(in plain: [UInt8]) -> [RevisableKey]? {
    guard let entries = ProtobufText.fields(of: plain[...]) else { return nil }
    var keys: [RevisableKey] = []
    for entry in entries {
      guard case .bytes(let text) = entry.value, let fields = ProtobufText.fields(of: text) else {
        return nil
      }
      var (bytes, start, period): (ArraySlice<UInt8>, UInt32, UInt32) = ([], 0, 0)
      for field in fields {
        switch (field.number, field.value) {
        case (1, .bytes(let key)): bytes = key
        case (2, .number(let number)): start = UInt32(truncatingIfNeeded: number)
        case (3, .number(let number)): period = UInt32(truncatingIfNeeded: number)
        default: return nil
        }
      }
      guard period > 0 else { continue }
      guard
        let key = TemporaryExposureKey(
          bytes: bytes, rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period)
      else { return nil }
      keys.append(RevisableKey(key))
    }
    return keys
  }
}

extension RevisionToken: CustomStringConvertible, CustomReflectable {
  var description: String { "RevisionToken(\(keys.count) keys)" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A key that a revision token speaks of, with the interval data it was published with.
struct RevisableKey: Hashable, Sendable {
  let key: TemporaryExposureKey

  init(_ key: TemporaryExposureKey) {
    self.key = key
  }
}

extension RevisableKey: CustomStringConvertible, CustomReflectable {
  var description: String { "RevisableKey" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The few parts of Protocol Buffers that a revision token is made of: varints and byte fields.
enum ProtobufText {
  /// Appends `bytes` as field `number`.
  static func append(_ bytes: some Collection<UInt8>, as number: UInt8, to text: inout [UInt8]) {
    appendHead(of: number, byteCount: bytes.count, to: &text)
    text.append(contentsOf: bytes)
  }

  /// Appends what stands before the bytes of field `number`, where `byteCount` of them follow.
  static func appendHead(of number: UInt8, byteCount: Int, to text: inout [UInt8]) {
    text.append(number << 3 | 2)
    appendVarint(UInt64(byteCount), to: &text)
  }

  /// Appends `value` as field `number` in exactly `width` bytes of varint: leading zero groups are
  /// written out, which every reader takes, so that the length tells nothing about the value.
  static func append(
    _ value: UInt32, as number: UInt8, width: Int, to text: inout [UInt8]
  ) {
    text.append(number << 3)
    for place in 0..<width {
      let group = UInt8(truncatingIfNeeded: value >> UInt32(7 * place)) & 0x7F
      text.append(place == width - 1 ? group : group | 0x80)
    }
  }

  private static func appendVarint(_ value: UInt64, to text: inout [UInt8]) {
    var rest = value
    while rest > 0x7F {
      text.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    text.append(UInt8(rest))
  }

  /// One field that was read.
  enum Value {
    case number(UInt64)
    case bytes(ArraySlice<UInt8>)
  }

  /// The fields of `text` in their order; nil where it is cut off or of another kind.
  static func fields(of text: ArraySlice<UInt8>) -> [(number: UInt64, value: Value)]? {
    var rest = text
    var fields: [(UInt64, Value)] = []
    while !rest.isEmpty {
      guard let tag = varint(&rest), let first = varint(&rest) else { return nil }
      switch tag & 7 {
      case 0: fields.append((tag >> 3, .number(first)))
      case 2:
        guard first <= UInt64(rest.count) else { return nil }
        fields.append((tag >> 3, .bytes(rest.prefix(Int(first)))))
        rest = rest.dropFirst(Int(first))
      default: return nil
      }
    }
    return fields
  }

  private static func varint(_ text: inout ArraySlice<UInt8>) -> UInt64? {
    var value: UInt64 = 0
    for place in 0..<10 {
      guard let byte = text.popFirst() else { return nil }
      value |= UInt64(byte & 0x7F) << UInt64(7 * place)
      if byte < 0x80 { return value }
    }
    return nil
  }
}
