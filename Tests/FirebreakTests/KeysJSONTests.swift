import ExposureKeys
import Foundation
import Testing

@testable import firebreak

/// Documentation/CommandLine.md 2.2.
@Suite("The variant of concern in a file of keys")
struct KeysJSONTests {
  private func variant(_ field: String) throws -> VariantOfConcern? {
    let key = Data(repeating: 9, count: 16).base64EncodedString()
    let json = """
      {"temporaryExposureKeys": [{"key": "\(key)", "rollingStartNumber": 2642976\(field)}]}
      """
    return try #require(KeysJSON(decoding: Data(json.utf8)).keys.first).variantOfConcern
  }

  @Test("It is a number from 0 to 4, or left out")
  func read() throws {
    for variant in VariantOfConcern.allCases {
      #expect(try self.variant(", \"variantOfConcern\": \(variant.rawValue)") == variant)
    }
    #expect(try variant("") == nil)
  }

  @Test(
    "Anything else is refused with a sentence that names it",
    arguments: ["-1", "5", "256", "\"type1\""])
  func refused(_ value: String) throws {
    do {
      _ = try variant(", \"variantOfConcern\": \(value)")
      Issue.record("\(value) was taken")
    } catch {
      #expect("\(error)".contains("temporaryExposureKeys[0].variantOfConcern"), "\(error)")
    }
  }
}
