// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import KeyServerAPI
import Terminal
import TextEncodings
import World

/// Vectors of the Cryptography Specification: one key and everything derived from it.
struct CryptoVectors: Decodable {
  let generated: Int
  let rollingStart: UInt32
  let rollingPeriod: UInt32
  let key: HexBytes
  let identifierKey: HexBytes
  let metadataKey: HexBytes
  let metadata: HexBytes
  let identifiers: [HexBytes]
  let sealedMetadata: [HexBytes]

  private enum CodingKeys: String, CodingKey {
    case generated = "key_generation_unix_seconds"
    case rollingStart = "rolling_start_interval_number"
    case rollingPeriod = "rolling_period"
    case key = "tek"
    case identifierKey = "rpik"
    case metadataKey = "aemk"
    case metadata = "ble_metadata"
    case identifiers = "rpi"
    case sealedMetadata = "aem"
  }

  /// The rolling start, both derived keys, and an identifier with metadata for each interval.
  func outcomes() throws -> [CaseOutcome] {
    let schedule = KeySchedule(try temporaryExposureKey())
    let plaintext = try bluetoothMetadata()
    return derived(schedule)
      + identifiers.indices.flatMap { index in
        let interval = IntervalNumber(rawValue: rollingStart + UInt32(index))
        let identifier = schedule.identifier(at: interval)
        return [
          CaseOutcome(
            name: "rpi[\(index)]", expected: identifiers[index].text,
            got: identifier.bytes.hexadecimal),
          CaseOutcome(
            name: "aem[\(index)]", expected: sealedMetadata[index].text,
            got: schedule.seal(plaintext, beside: identifier).bytes.hexadecimal),
        ]
      }
  }

  private func derived(_ schedule: KeySchedule) -> [CaseOutcome] {
    let start = IntervalNumber(Date(unixSecond: generated))?.startOfDay
    return [
      CaseOutcome(
        name: "rolling_start_interval_number", expected: "\(rollingStart)",
        got: start.map { "\($0.rawValue)" } ?? "none"),
      CaseOutcome(
        name: "rpik", expected: identifierKey.text,
        got: schedule.rollingProximityIdentifierKeyBytes.hexadecimal),
      CaseOutcome(
        name: "aemk", expected: metadataKey.text,
        got: schedule.associatedEncryptedMetadataKeyBytes.hexadecimal),
    ]
  }

  private func temporaryExposureKey() throws -> TemporaryExposureKey {
    guard
      let key = TemporaryExposureKey(
        bytes: key.bytes, rollingStart: IntervalNumber(rawValue: rollingStart),
        rollingPeriod: rollingPeriod)
    else {
      throw CommandFailure.badInput("tek must have 16 bytes, rolling_period must be from 1 to 144.")
    }
    guard identifiers.count == rollingPeriod, sealedMetadata.count == rollingPeriod else {
      throw CommandFailure.badInput("rpi and aem must have \(rollingPeriod) entries each.")
    }
    return key
  }

  private func bluetoothMetadata() throws -> BluetoothMetadata {
    guard let metadata = BluetoothMetadata(bytes: metadata.bytes) else {
      throw CommandFailure.badInput("ble_metadata must have 4 bytes.")
    }
    return metadata
  }
}

/// Bytes in hexadecimal.
struct HexBytes: Decodable {
  let bytes: [UInt8]

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let bytes = [UInt8](hexadecimal: try container.decode(String.self)) else {
      throw CommandFailure.badInput("\(container.codingPath.place) must be in hexadecimal.")
    }
    self.bytes = bytes
  }

  var text: String { bytes.hexadecimal }
}

/// Vectors of the HMAC over uploaded keys.
///
/// An absent risk and a risk of 0 give different texts for the same keys. If all risks are 0 or absent, both texts are
/// accepted.
struct HMACVectors: Decodable {
  let vectors: [Vector]

  /// An upload with the authenticated text and the HMAC.
  struct Vector: Decodable {
    let secretBase64: Data
    let keys: [UploadKey]
    let cleartext: String?
    let hmacSha256Base64: String

    /// The expected text, or `text` if the vector has none, and HMAC.
    fileprivate func expected(_ text: String) -> String {
      "\(cleartext ?? text) => \(hmacSha256Base64)"
    }

    /// Our text and HMAC of the keys.
    fileprivate func actual(_ keys: [UploadKey]) -> (text: String, line: String) {
      let text = KeyHMAC.text(over: keys)
      let code = KeyHMAC.authenticationCode(over: keys, secret: secretBase64)
      return (text, "\(text) => \(code.base64EncodedString())")
    }

    /// The equivalent forms of the keys: with all risks and without, if none is above 0.
    fileprivate var forms: [[UploadKey]] {
      guard keys.allSatisfy({ ($0.transmissionRisk ?? 0) == 0 }) else { return [keys] }
      return [keys, keys.map { $0.withRisk(0) }, keys.map { $0.withRisk(nil) }]
    }
  }

  func outcomes() -> [CaseOutcome] {
    vectors.enumerated().map { index, vector in
      let actual = vector.forms.map(vector.actual)
      let match = actual.first { vector.expected($0.text) == $0.line } ?? actual[0]
      return CaseOutcome(
        name: "vectors[\(index)]", expected: vector.expected(match.text), got: match.line)
    }
  }
}

extension UploadKey {
  fileprivate func withRisk(_ risk: Int?) -> UploadKey {
    var key = self
    key.transmissionRisk = risk
    return key
  }
}
