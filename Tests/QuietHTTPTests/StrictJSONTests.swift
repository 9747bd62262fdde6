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
