// SPDX-License-Identifier: Apache-2.0
import Foundation
import StrictJSON
import Testing

@Suite("Validation of strict JSON")
struct StrictJSONValidatorTests {
  @Test(
    "A repeated field is rejected at any depth, also with an escaped name",
    arguments: [
      #"{"a":1,"a":1}"#, #"{"a":1,"b":{"c":1,"c":2}}"#, #"[{"a":1},{"b":1,"b":1}]"#,
      #"{"a":1,"\u0061":1}"#, "{ \"a\" : 1 ,\n\t\"a\" : 2 }", #"{"":1,"":2}"#,
    ])
  func twice(json: String) {
    #expect(!StrictJSONValidator.accepts(Data(json.utf8)))
  }

  @Test(
    "JSON without repeated fields is accepted",
    arguments: [
      "{}", "[]", "1", #""a""#, "null", #"{"a":{"a":{"a":[]}},"b":"a\"}{"}"#,
      #"[{"a":1},{"a":1}]"#, #" {"a" : [1, -2.5e3, true, null, "\\"]} "#,
    ])
  func once(json: String) {
    #expect(StrictJSONValidator.accepts(Data(json.utf8)))
  }

  @Test(
    "Text that is not JSON is rejected",
    arguments: [
      "", " ", "{", "[", #"{"a"#, #"{"a":"#, #"{"a":1"#, #"{"a":1,}"#, "[1,", #"["\"#, "{1:2}",
    ])
  func broken(json: String) {
    #expect(!StrictJSONValidator.accepts(Data(json.utf8)))
  }

  @Test(
    "JSON in another encoding or with a byte order mark is rejected",
    arguments: [
      String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32BigEndian,
    ])
  func encodings(encoding: String.Encoding) throws {
    let twice = #"{"name":"a","name":"b"}"#
    let bytes = try #require(twice.data(using: encoding))
    #expect(!StrictJSONValidator.accepts(bytes))
    #expect(!StrictJSONValidator.accepts(Data("\u{FEFF}\(twice)".utf8)))
  }

  @Test("Only blanks may follow the value", arguments: ["{} {}", "1 2", "{}]", "[]x"])
  func after(json: String) {
    #expect(StrictJSONValidator.accepts(Data("{} \r\n\t".utf8)))
    #expect(!StrictJSONValidator.accepts(Data(json.utf8)))
  }

  @Test("Nesting is accepted up to the limit")
  func depth() {
    for (depth, isGood) in [
      (StrictJSONValidator.depthMax - 1, true), (StrictJSONValidator.depthMax, true),
      (StrictJSONValidator.depthMax + 1, false),
      (100_000, false),
    ] {
      let json = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      #expect(StrictJSONValidator.accepts(Data(json.utf8)) == isGood)
      let objects =
        String(repeating: #"{"a":"#, count: depth) + "1"
        + String(repeating: "}", count: depth)
      #expect(StrictJSONValidator.accepts(Data(objects.utf8)) == isGood)
    }
  }

  @Test(
    "A number is accepted if it is valid JSON",
    arguments: [
      ("0", true), ("-0", true), ("10", true), ("0.5", true), ("1e5", true), ("1E-05", true),
      ("-2.5e+3", true), ("", false), ("-", false), ("01", false), ("+1", false), (".5", false),
      ("1.", false), ("1e", false), ("1e+", false), ("0x1", false), ("NaN", false), ("1_0", false),
    ])
  func numbers(_ number: (text: String, isValid: Bool)) {
    #expect(StrictJSONValidator.accepts(Data("{\"a\":\(number.text)}".utf8)) == number.isValid)
  }

  @Test(
    "A word other than true, false and null is rejected", arguments: ["nul", "True", "truex", "x"])
  func words(_ word: String) {
    for known in ["true", "false", "null"] {
      #expect(StrictJSONValidator.accepts(Data("[\(known)]".utf8)))
    }
    #expect(!StrictJSONValidator.accepts(Data("[\(word)]".utf8)))
  }

  private static func array(of count: Int) -> String {
    "[" + Array(repeating: "1", count: count).joined(separator: ",") + "]"
  }

  private static func object(of count: Int) -> String {
    "{" + (0..<count).map { "\"\($0)\":1" }.joined(separator: ",") + "}"
  }

  @Test("A request has at most 1,000 values in arrays and objects together", arguments: [-1, 0, 1])
  func values(offset: Int) {
    let count = 1_000 + offset
    let both = #"[[],{"a":"# + Self.array(of: count - 3) + "}]"
    for json in [Self.array(of: count), Self.object(of: count), both] {
      #expect(StrictJSONValidator.accepts(Data(json.utf8), atMost: .request) == (offset <= 0))
      #expect(StrictJSONValidator.accepts(Data(json.utf8)))
    }
  }

  @Test(
    "A request has at most 2,000 escape sequences in all strings together", arguments: [-1, 0, 1])
  func escapes(offset: Int) {
    let half = String(repeating: #"\/"#, count: 1_000)
    let rest = String(repeating: #"\u0041"#, count: 1_000 + offset)
    for json in [#"["\#(half)","\#(rest)"]"#, #"{"\#(half)":"\#(rest)"}"#, #"["\#(half + rest)"]"#]
    {
      #expect(StrictJSONValidator.accepts(Data(json.utf8), atMost: .request) == (offset <= 0))
      #expect(StrictJSONValidator.accepts(Data(json.utf8)))
    }
  }
}
