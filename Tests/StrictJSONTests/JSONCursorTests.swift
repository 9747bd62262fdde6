// SPDX-License-Identifier: Apache-2.0
import StrictJSON
import Testing

@Suite("The JSON cursor")
struct JSONCursorTests {
  private struct Fields: Equatable {
    var name: String?
    var count: Int64?
    var flags: [Bool] = []
  }

  private func read(_ json: String, ignoringCase: Bool = false) throws(StrictJSONError) -> Fields {
    var fields = Fields()
    var cursor = JSONCursor(Array(json.utf8))
    try cursor.object(["name", "count", "flags"], ignoringCase: ignoringCase) {
      (field, cursor) throws(StrictJSONError) in
      switch field {
      case 0: fields.name = try cursor.string()
      case 1: fields.count = try cursor.integer()
      default:
        try cursor.array { (cursor) throws(StrictJSONError) in
          fields.flags.append(try cursor.boolean())
        }
      }
    }
    try cursor.end()
    return fields
  }

  @Test("Fields are read in any order, with blanks, and null counts as absent")
  func fields() throws {
    #expect(try read(#" { "count" : -7 , "name":"a\u0062" } "#) == Fields(name: "ab", count: -7))
    #expect(try read(#"{"flags":[true, false],"name":null}"#) == Fields(flags: [true, false]))
    #expect(try read("{}") == Fields())
  }

  @Test("Field names match in another case only if that is requested")
  func letterCase() throws {
    #expect(try read(#"{"NaMe":"a"}"#, ignoringCase: true) == Fields(name: "a"))
    #expect(throws: StrictJSONError.unknownField) { try read(#"{"NaMe":"a"}"#) }
    #expect(throws: StrictJSONError.repeatedField) {
      try read(#"{"NaMe":"a","name":"b"}"#, ignoringCase: true)
    }
  }

  @Test(
    "An invalid object is rejected with the reason",
    arguments: [
      (#"{"other":1}"#, StrictJSONError.unknownField),
      (#"{"name":"a","name":"b"}"#, .repeatedField),
      (#"{"name":"a","n\u0061me":"b"}"#, .repeatedField),
      (#"{"name":null,"name":"b"}"#, .repeatedField),
      (#"{"name":1}"#, .wrongType), (#"{"count":"1"}"#, .wrongType),
      (#"{"count":1.0}"#, .wrongType),
      (#"{"count":1e1}"#, .wrongType), (#"{"count":9223372036854775808}"#, .wrongType),
      (#"{"count":01}"#, .malformed), (#"{"count":-}"#, .wrongType),
      (#"{"flags":[1]}"#, .wrongType),
      (#"{"flags":{}}"#, .wrongType), ("[]", .wrongType), ("7", .wrongType), ("", .malformed),
      (#"{"name":x}"#, .malformed), (#"{"name":"a",}"#, .malformed), (#"{"name" "a"}"#, .malformed),
      (#"{"flags":[true,]}"#, .malformed), ("{} {}", .moreThanOneValue), ("{}x", .moreThanOneValue),
    ])
  func invalid(_ json: String, _ error: StrictJSONError) {
    #expect(throws: error) { try read(json) }
  }

  @Test("Integers are read up to the limits of 64 bits")
  func integers() throws {
    for number in [Int64.min, -1, 0, 1, .max] {
      #expect(try read(#"{"count":\#(number)}"#).count == number)
    }
  }

  @Test("Every error has a message as description")
  func sentences() {
    for error in StrictJSONError.allCases { #expect(error.description.hasSuffix(".")) }
  }
}
