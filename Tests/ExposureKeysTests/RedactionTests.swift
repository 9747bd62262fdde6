// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Testing

@Suite("Redaction")
struct RedactionTests {
  /// Bytes with decimal and hexadecimal forms that occur nowhere else.
  private static let secret = [UInt8](repeating: 0xab, count: 16)
  private static let traces = ["171", "ab", "AB", "12297829382473034410", "q6ur"]

  private func key() throws -> TemporaryExposureKey {
    try #require(
      TemporaryExposureKey(bytes: Self.secret, rollingStart: IntervalNumber(rawValue: 5)))
  }

  private func printed(_ value: Any) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    return [dumped, String(describing: value), String(reflecting: value), "\(value)"]
  }

  @Test("No way of printing a key, an identifier, metadata or their containers shows a byte")
  func silent() throws {
    let key = try key()
    let identifier = try #require(RollingProximityIdentifier(bytes: Self.secret))
    let metadata = try #require(AssociatedEncryptedMetadata(bytes: Self.secret.prefix(4)))
    let advertisement = Advertisement(identifier: identifier, metadata: metadata)
    let values: [Any] = [
      key, KeySchedule(key), try #require(DiagnosisKey(key: key)), identifier, metadata,
      advertisement,
      Sighting(
        advertisement: advertisement, time: Date(timeIntervalSince1970: 0), signalStrength: -5),
      try #require(SixteenBytes(Self.secret)), [key], ["key": key],
    ]
    for text in values.flatMap(printed) {
      for trace in Self.traces where text.contains(trace) {
        Issue.record("a secret is in \(text.debugDescription)")
      }
    }
  }

  @Test("The bytes are available by name")
  func byName() throws {
    #expect(try key().secretBytes == Self.secret)
  }
}
