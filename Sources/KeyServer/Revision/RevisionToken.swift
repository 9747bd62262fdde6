// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureKeys
import Foundation
import KeyServerAPI
import Secrets
import TextEncodings
import World

/// A token that proves in a later upload that the client uploaded these keys.
///
/// It is encrypted so that only this server can read it, and has one length for up to 28 keys. Its text is
/// Base64 of the protobuf message `{key id = 1, data = 2}`, where data is nonce, AES-GCM ciphertext and tag of
/// `{revisable keys = 1 {key = 1, interval = 2, count = 3}}`.
struct RevisionToken: Redacted, Hashable, Sendable {
  let keys: [TemporaryExposureKey]

  /// A token that covers `keys`, which must be distinct.
  init(_ keys: some Sequence<TemporaryExposureKey>) {
    self.keys = Array(keys)
  }

  /// Decrypts `text` with one of `ring`'s keys; nil if it is not a token of this server.
  init?(_ text: String, with ring: RevisionKeyring) {
    guard text.utf8.count <= RevisionLimit.textBytesMax, let bytes = Base64.bytes(text),
      let fields = ProtobufFields.fields(of: bytes[...]), fields.count == 2,
      case (1, .bytes(let name)) = (fields[0].number, fields[0].value),
      case (2, .bytes(let data)) = (fields[1].number, fields[1].value),
      let key = ring.keys[String(decoding: name, as: UTF8.self)]
    else { return nil }
    let plain: Data
    do {
      let box = try AES.GCM.SealedBox(combined: Data(data))
      plain = try AES.GCM.open(box, using: key, authenticating: ring.context)
    } catch {
      return nil
    }
    guard let keys = Self.keys(in: Array(plain)) else { return nil }
    self.keys = keys
  }

  /// The text for the client, encrypted with `ring`'s current key and a random nonce.
  func text(sealedWith ring: RevisionKeyring, randomness: any Randomness) throws -> String {
    let box = try AES.GCM.seal(
      plainText, using: ring.current.key,
      nonce: AES.GCM.Nonce(data: randomness.bytes(SealedRevisionKey.nonceBytes)),
      authenticating: ring.context)
    guard let data = box.combined else { throw CryptoKitError.incorrectParameterSize }
    var text: [UInt8] = []
    ProtobufFields.append(ring.current.id.utf8, as: 1, to: &text)
    ProtobufFields.append(data, as: 2, to: &text)
    return Data(text).base64EncodedString()
  }

  /// True if it holds this key with this interval data. The duration does not depend on the bytes of its keys,
  /// which the sender of a stolen token would like to guess.
  func covers(_ key: TemporaryExposureKey) -> Bool {
    let bytes = key.secretBytes
    return keys.reduce(false) { found, known in
      let isEqual =
        isEqualInConstantTime(known.secretBytes, bytes)
        && known.rollingStart == key.rollingStart && known.rollingPeriod == key.rollingPeriod
      return isEqual || found
    }
  }

  private var plainText: [UInt8] {
    let entries = max(keys.count, RevisionLimit.entriesMin)
    var text: [UInt8] = []
    text.reserveCapacity(entries * (2 + Self.entryByteCount))
    for key in keys {
      Self.append(key.secretWords, key.rollingStart.rawValue, key.rollingPeriod, to: &text)
    }
    for _ in keys.count..<entries { Self.append((0, 0), 0, 0, to: &text) }
    return text
  }

  private static func append(
    _ bytes: (UInt64, UInt64), _ start: UInt32, _ period: UInt32, to text: inout [UInt8]
  ) {
    ProtobufFields.appendHeader(of: 1, byteCount: entryByteCount, to: &text)
    withUnsafeBytes(of: bytes) { ProtobufFields.append($0, as: 1, to: &text) }
    ProtobufFields.append(start, as: 2, width: 5, to: &text)
    ProtobufFields.append(period, as: 3, width: 2, to: &text)
  }

  /// Bytes of one entry: each field's tag, the key with its length, and the two numbers.
  private static let entryByteCount = 2 + UploadLimit.keyByteCount + 1 + 5 + 1 + 2

  private static func keys(in plain: [UInt8]) -> [TemporaryExposureKey]? {
    guard let entries = ProtobufFields.fields(of: plain[...]) else { return nil }
    var keys: [TemporaryExposureKey] = []
    for entry in entries {
      guard case .bytes(let text) = entry.value, let fields = ProtobufFields.fields(of: text) else {
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
      keys.append(key)
    }
    return keys
  }

  var description: String { "RevisionToken(\(keys.count) keys)" }
}

/// Decides what an upload does with one of its keys, which may be stored already.
enum RevisionRule {
  enum Outcome: Hashable {
    /// The key is new.
    case insert
    /// The stored key gets the report type of the upload.
    case revise
    /// The stored key stays as it is.
    case leave
    /// The key is ignored, and not covered by the next revision token.
    case drop
    /// The whole upload is rejected.
    case refuse(RevisionRefusal)
  }

  /// The outcome of `sent`; `known` is the report of the stored key with the same bytes.
  static func outcome(
    of sent: DiagnosisKey, known: StoredReport?, under policy: RevisionPolicy
  ) -> Outcome {
    guard let known else {
      // A key that was never published cannot be revoked.
      return sent.reportType == .revoked ? .drop : .insert
    }
    guard case .token(_, let allowsPartial) = policy else { return .leave }
    if let refusal = policy.refusal(of: sent.key) {
      return allowsPartial ? .drop : .refuse(refusal)
    }
    let type = sent.reportType
    if type == known.type || type == known.revisedType { return .leave }
    if type == stated(known.type) { return .leave }
    guard known.revisedType == nil else { return .refuse(.alreadyRevised) }
    return canBecome(type, from: known.type) ? .revise : .refuse(.invalidTransition)
  }

  /// The outcome of a revised key in the file of another server, which has checked the permission; `known` is the
  /// report of the stored key with the same bytes.
  static func outcome(ofImported sent: DiagnosisKey, known: StoredReport?) -> Outcome {
    guard let known else { return sent.reportType == .revoked ? .drop : .insert }
    guard known.revisedType == nil, sent.reportType != known.type,
      canBecome(sent.reportType, from: known.type)
    else { return .leave }
    return .revise
  }

  /// True if a report type may change to `new`: it may become more certain or be revoked, never less certain.
  /// A missing one counts as a clinical diagnosis.
  static func canBecome(_ new: ReportType?, from old: ReportType?) -> Bool {
    switch stated(old) {
    case .confirmedClinicalDiagnosis: new == .confirmedTest || new == .revoked
    case .selfReport:
      new == .confirmedTest || new == .confirmedClinicalDiagnosis || new == .revoked
    default: false
    }
  }

  private static func stated(_ type: ReportType?) -> ReportType {
    guard let type, type != .unknown else { return .confirmedClinicalDiagnosis }
    return type
  }
}

/// The permission of an upload to revise stored keys.
enum RevisionPolicy: Sendable {
  /// Stored keys stay as they are, without an error: the rule of the ProteGO Safe contract.
  case leaveKnown
  /// The keys that the revision token covers may be revised. Others reject the upload, or are dropped if
  /// `allowsPartial`.
  case token(Sent, allowsPartial: Bool)

  /// The revision token of an upload.
  enum Sent: Sendable {
    case absent
    case invalid
    case valid(RevisionToken)
  }

  /// The reason why the stored `key` may not be revised; nil if it may.
  func refusal(of key: TemporaryExposureKey) -> RevisionRefusal? {
    switch self {
    case .leaveKnown, .token(.invalid, _): .invalidToken
    case .token(.absent, _): .missingToken
    case .token(.valid(let token), _): token.covers(key) ? nil : .invalidToken
    }
  }
}

/// The reason why a stored key may not be revised.
enum RevisionRefusal: Error, Hashable, Sendable {
  case missingToken
  case invalidToken
  case alreadyRevised
  case invalidTransition

  var code: PublishCode {
    switch self {
    case .missingToken: .missingRevisionToken
    case .invalidToken: .invalidRevisionToken
    case .alreadyRevised: .keyAlreadyRevised
    case .invalidTransition: .invalidReportTypeTransition
    }
  }

  var message: String {
    switch self {
    case .missingToken: "A key was uploaded before: send the revision token of the last response."
    case .invalidToken: "A key was uploaded before and is not covered by the revision token."
    case .alreadyRevised: "A key was revised before: a key can be revised only once."
    case .invalidTransition: "A key that was uploaded before cannot change to this report type."
    }
  }
}

/// The report types of a stored key, on which a revision depends.
struct StoredReport: Hashable, Sendable {
  let type: ReportType?
  /// Nil if the key was never revised.
  let revisedType: ReportType?
}

/// The parts of Protocol Buffers that revision tokens use: varints and byte fields.
private enum ProtobufFields {
  /// Appends `bytes` as field `number`.
  static func append(_ bytes: some Collection<UInt8>, as number: UInt8, to text: inout [UInt8]) {
    appendHeader(of: number, byteCount: bytes.count, to: &text)
    text.append(contentsOf: bytes)
  }

  /// Appends the tag and the length of field `number`, whose `byteCount` bytes follow.
  static func appendHeader(of number: UInt8, byteCount: Int, to text: inout [UInt8]) {
    text.append(number << 3 | 2)
    appendVarint(UInt64(byteCount), to: &text)
  }

  /// Appends `value` as field `number` in a varint of exactly `width` bytes, so that the length does not depend
  /// on the value. Every reader accepts the leading zero groups.
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

  enum Value {
    case number(UInt64)
    case bytes(ArraySlice<UInt8>)
  }

  /// The fields of `text` in their order; nil if it is truncated or has a field of another type.
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
