import Foundation
import Testing

@testable import QuietHTTP

/// Documentation/QuietHTTP.md 2.5.
@Suite struct StrictJSONTests {
  struct Asked: Decodable, NamedFields, Sendable {
    var name: String?
    var inner: [Strict<Inner>]?
    static let fieldNames: Set<String> = ["name", "inner"]
  }

  struct Inner: Decodable, NamedFields, Sendable {
    var number: Int?
    static let fieldNames: Set<String> = ["number"]
  }

  @Test(
    "A field that comes twice is found at any depth, also under an escaped name",
    arguments: [
      #"{"a":1,"a":1}"#, #"{"a":1,"b":{"c":1,"c":2}}"#, #"[{"a":1},{"b":1,"b":1}]"#,
      #"{"a":1,"\u0061":1}"#, "{ \"a\" : 1 ,\n\t\"a\" : 2 }", #"{"":1,"":2}"#,
    ])
  func twice(json: String) {
    #expect(!StrictJSON.accepts(Data(json.utf8)))
  }

  @Test(
    "JSON with every field once is let through",
    arguments: [
      "{}", "[]", "1", #""a""#, "null", #"{"a":{"a":{"a":[]}},"b":"a\"}{"}"#,
      #"[{"a":1},{"a":1}]"#, #" {"a" : [1, -2.5e3, true, null, "\\"]} "#,
    ])
  func once(json: String) {
    #expect(StrictJSON.accepts(Data(json.utf8)))
  }

  @Test(
    "What is no JSON ends without a crash",
    arguments: [
      "", " ", "{", "[", #"{"a"#, #"{"a":"#, #"{"a":1"#, #"{"a":1,}"#, "[1,", #"["\"#, "{1:2}",
    ])
  func broken(json: String) {
    #expect(!StrictJSON.accepts(Data(json.utf8)))
  }

  @Test(
    "In another encoding, or behind a byte order mark, fields would go by unseen: it is refused",
    arguments: [
      String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32BigEndian,
    ])
  func encodings(encoding: String.Encoding) throws {
    let twice = #"{"name":"a","name":"b"}"#
    let bytes = try #require(twice.data(using: encoding))
    #expect(!StrictJSON.accepts(bytes))
    #expect(!StrictJSON.accepts(Data("\u{FEFF}\(twice)".utf8)))
  }

  @Test("Blanks may stand after it, and nothing else", arguments: ["{} {}", "1 2", "{}]", "[]x"])
  func after(json: String) {
    #expect(StrictJSON.accepts(Data("{} \r\n\t".utf8)))
    #expect(!StrictJSON.accepts(Data(json.utf8)))
  }

  @Test("Nesting is borne to its limit and no deeper")
  func depth() {
    for (depth, isGood) in [
      (StrictJSON.depthMax - 1, true), (StrictJSON.depthMax, true),
      (StrictJSON.depthMax + 1, false),
      (100_000, false),
    ] {
      let json = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      #expect(StrictJSON.accepts(Data(json.utf8)) == isGood)
      let objects =
        String(repeating: #"{"a":"#, count: depth) + "1"
        + String(repeating: "}", count: depth)
      #expect(StrictJSON.accepts(Data(objects.utf8)) == isGood)
    }
  }

  @Test("A field without a name of ours is refused, inside a list as well")
  func unknown() throws {
    for (json, isGood) in [
      (#"{"name":"a","inner":[{"number":1},{}]}"#, true), ("{}", true), (#"{"nam":"a"}"#, false),
      (#"{"inner":[{"number":1,"more":2}]}"#, false), (#"{"Name":"a"}"#, false),
    ] {
      let read = try? JSONDecoder().decode(Strict<Asked>.self, from: Data(json.utf8))
      #expect((read != nil) == isGood, "\(json)")
    }
  }
}
