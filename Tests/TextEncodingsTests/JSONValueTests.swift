// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TextEncodings

@Suite("JSON value")
struct JSONValueTests {
  @Test(
    "A value is read from text and written with sorted fields",
    arguments: [
      ("null", JSONValue.null), ("true", true), ("false", false), ("0", 0), ("-7", -7),
      ("0.5", 0.5), (#""a/é""#, "a/é"), ("[]", []), ("{}", [:]),
      (#"[1,"1",true,null,[2]]"#, [1, "1", true, JSONValue.null, [2]]),
      (#"{"a":1,"b":{"c":[false]}}"#, ["b": ["c": [false]], "a": 1]),
    ] as [(String, JSONValue)])
  func roundTrip(_ text: String, _ value: JSONValue) {
    #expect(JSONValue(text: text) == value)
    #expect(value.text == text)
  }

  @Test(
    "Text that is not one JSON value is rejected",
    arguments: ["", " ", "nul", "{", #"{"a"}"#, "1 2", "'a'", "NaN", "+1", "{a:1}"])
  func invalid(_ text: String) {
    #expect(JSONValue(text: text) == nil)
  }

  @Test("A whole number has one value and one text, however it is written")
  func wholeNumbers() {
    for text in ["1800", "1800.0", "1.8e3"] {
      #expect(JSONValue(text: text) == 1_800)
      #expect(JSONValue(text: text)?.integer == 1_800)
      #expect(JSONValue(text: text)?.text == "1800")
    }
    #expect(JSONValue(text: "1.5")?.integer == nil)
    #expect(JSONValue(text: "1e300")?.integer == nil)
    #expect(JSONValue(text: "1e300")?.number == 1e300)
  }

  @Test("An accessor of another type returns nothing")
  func accessors() {
    let values: [JSONValue] = [.null, true, 1, "a", [1], ["a": 1]]
    #expect(values.map(\.bool) == [nil, true, nil, nil, nil, nil])
    #expect(values.map(\.number) == [nil, nil, 1, nil, nil, nil])
    #expect(values.map(\.string) == [nil, nil, nil, "a", nil, nil])
    #expect(values.map(\.elements) == [[], [], [], [], [1], []])
    #expect(values.map(\.fields) == [[:], [:], [:], [:], [:], ["a": 1]])
    #expect(values.map { $0["a"] } == [nil, nil, nil, nil, nil, 1])
    #expect(values.last?["b"] == nil)
  }

  @Test("A type is encoded to a value and decoded from it")
  func types() throws {
    let dates = ["a": [Date(timeIntervalSinceReferenceDate: 0.5)]]
    let value = try JSONValue(encoding: dates)
    #expect(value == ["a": [0.5]])
    #expect(try value.decode([String: [Date]].self) == dates)
    #expect(throws: DecodingError.self) { try value.decode([String: [String]].self) }
    #expect(throws: EncodingError.self) { try JSONValue(encoding: [Double.infinity]) }
  }

  @Test("A number that JSON does not have is written as null")
  func infinity() {
    #expect(JSONValue.number(.infinity).text == "null")
  }
}
