// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Terminal
import Testing

@Suite("Keys in JSON")
struct KeysJSONTests {
  private static func key(_ number: UInt8) -> String {
    #""\#(Data(repeating: number, count: 16).base64EncodedString())""#
  }

  /// A key with the additional `fields`.
  private static func object(_ number: UInt8 = 9, _ fields: String = "") -> String {
    #"{"key": \#(key(number)), "rollingStartNumber": 2642976\#(fields)}"#
  }

  private func read(_ keys: String, revised: String = "") throws -> KeysJSON {
    try KeysJSON(
      decoding: Data(
        #"{"temporaryExposureKeys": [\#(keys)], "revisedKeys": [\#(revised)]}"#.utf8))
  }

  private func failure(_ read: () throws -> KeysJSON) throws -> String {
    let failure = try #require(#expect(throws: CommandFailure.self) { try read() })
    #expect(failure.status == .badInput && failure.message.hasSuffix("."))
    return failure.message
  }

  private func variant(_ field: String) throws -> VariantOfConcern? {
    try #require(read(Self.object(9, field)).keys.first).variantOfConcern
  }

  @Test("variantOfConcern is a number from 0 to 4 or absent")
  func valid() throws {
    for variant in VariantOfConcern.allCases {
      #expect(try self.variant(", \"variantOfConcern\": \(variant.rawValue)") == variant)
    }
    #expect(try variant("") == nil)
    #expect(try variant(", \"variantOfConcern\": null") == nil)
  }

  @Test(
    "Values on their limits are accepted",
    arguments: [
      "rollingPeriod\": 1", "rollingPeriod\": 144", "transmissionRisk\": 0",
      "transmissionRisk\": 8", "reportType\": 0", "reportType\": 5", "reportType\": \"revoked\"",
      "daysSinceOnset\": -14", "daysSinceOnset\": 14", "daysSinceOnsetOfSymptoms\": -14",
      "daysSinceOnset\": null",
    ])
  func limits(field: String) throws {
    #expect(try read(Self.object(9, ", \"" + field)).keys.count == 1)
  }

  @Test(
    "A value outside its limits is rejected with the place of the key and the name of the field",
    arguments: [
      ("rollingPeriod", "0"), ("rollingPeriod", "145"), ("rollingPeriod", "-1"),
      ("rollingPeriod", "1.5"), ("transmissionRisk", "9"), ("transmissionRisk", "-1"),
      ("transmissionRisk", "300"), ("reportType", "6"), ("reportType", "-1"),
      ("reportType", "\"SICK\""), ("daysSinceOnset", "15"), ("daysSinceOnset", "-15"),
      ("daysSinceOnset", "5000000000"), ("daysSinceOnset", "\"1\""),
      ("daysSinceOnsetOfSymptoms", "15"), ("variantOfConcern", "-1"), ("variantOfConcern", "5"),
      ("variantOfConcern", "256"), ("variantOfConcern", "\"type1\""),
    ])
  func outside(field: String, value: String) throws {
    let keys = Self.object(1) + "," + Self.object(9, ", \"\(field)\": \(value)")
    let message = try failure { try read(keys) }
    #expect(message.hasPrefix("temporaryExposureKeys[1].\(field) needs "), "\(message)")
    let revised = try failure { try read("", revised: keys) }
    #expect(revised.hasPrefix("revisedKeys[1].\(field) needs "), "\(revised)")
  }

  @Test(
    "An invalid key or start is rejected with its place",
    arguments: [
      (#"{"key": "AAAA", "rollingStartNumber": 1}"#, "[0].key needs 16 bytes in base64"),
      (#"{"key": 7, "rollingStartNumber": 1}"#, "[0].key needs 16 bytes in base64"),
      (#"{"rollingStartNumber": 1}"#, "[0].key is missing"),
      (#"{"key": \#(key(1))}"#, "[0].rollingStartNumber is missing"),
      (#"{"key": \#(key(1)), "rollingStartNumber": -1}"#, "[0].rollingStartNumber needs"),
      (#"{"key": \#(key(1)), "rollingStartNumber": 2147483505}"#, "from 0 to 2147483504"),
      (
        #"{"key": \#(key(1)), "rollingStartNumber": 2147483648, "rollingPeriod": 1}"#,
        "from 0 to 2147483647"
      ),
    ])
  func invalid(key: String, words: String) throws {
    let message = try failure { try read(key) }
    #expect(message.contains(words), "\(message)")
  }

  @Test("An unknown field is rejected with its place")
  func unknownFields() throws {
    let message = try failure {
      try read(Self.object(1) + "," + Self.object(2, ", \"rollingStart\": 1"))
    }
    #expect(message.hasPrefix("temporaryExposureKeys[1].rollingStart is not a field"), "\(message)")
    let top = try failure {
      try KeysJSON(decoding: Data(#"{"temporaryExposureKeys": [], "keys": []}"#.utf8))
    }
    #expect(top.hasPrefix("keys is not a field"), "\(top)")
    let both = try failure {
      try read(Self.object(1, ", \"daysSinceOnset\": 1, \"daysSinceOnsetOfSymptoms\": 2"))
    }
    #expect(both.contains("[0].daysSinceOnsetOfSymptoms repeats daysSinceOnset"), "\(both)")
  }

  @Test("The same key twice is rejected with both places, also as a revised key")
  func duplicates() throws {
    let keys = [1, 2, 3, 2].map { Self.object($0) }.joined(separator: ",")
    let message = try failure { try read(keys) }
    #expect(
      message.hasPrefix("temporaryExposureKeys[3] has the same key as temporaryExposureKeys[1]"),
      "\(message)")
    let revised = try failure { try read(Self.object(1), revised: Self.object(1)) }
    #expect(
      revised.hasPrefix("revisedKeys[0] has the same key as temporaryExposureKeys[0]"),
      "\(revised)")
  }

  @Test("A field that is given twice is rejected")
  func fieldTwice() throws {
    let message = try failure { try read(Self.object(1, ", \"rollingStartNumber\": 1")) }
    #expect(message.hasPrefix("it has a field twice"), "\(message)")
  }

  @Test("A byte order mark before the JSON is skipped")
  func byteOrderMark() throws {
    let text = "\u{feff}{\"temporaryExposureKeys\": [\(Self.object(1))]}"
    #expect(try KeysJSON(decoding: Data(text.utf8)).keys.count == 1)
  }

  @Test("An error names the file", arguments: ["[]", "no JSON", #"{"temporaryExposureKeys": 1}"#])
  func named(content: String) throws {
    let folder = try TemporaryFolder()
    let file = folder.path("keys.json")
    try Data(content.utf8).write(to: file)
    let message = try failure { try KeysJSON(at: file.path) }
    #expect(message.hasPrefix("The keys file \(file.path): "), "\(message)")
  }
}
