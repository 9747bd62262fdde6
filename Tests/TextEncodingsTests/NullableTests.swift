// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings
import Testing

@Suite("Absent values in JSON")
struct NullableTests {
  private struct Report: Codable, Hashable {
    let name: String
    @Nullable var count: Int?
  }

  @Test("An absent value is written as null, and a present one as itself")
  func written() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    for (count, json) in [(nil, "null"), (5, "5")] {
      let text = try encoder.encode(Report(name: "a", count: count))
      #expect(String(decoding: text, as: UTF8.self) == #"{"count":\#(json),"name":"a"}"#)
    }
  }

  @Test(
    "A missing key and null are an absent value",
    arguments: [#"{"name":"a"}"#, #"{"count":null,"name":"a"}"#])
  func absent(_ json: String) throws {
    let report = try JSONDecoder().decode(Report.self, from: Data(json.utf8))
    #expect(report == Report(name: "a", count: nil))
  }

  @Test("A value of another type is an error")
  func otherType() {
    let json = Data(#"{"count":"5","name":"a"}"#.utf8)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Report.self, from: json) }
  }
}
