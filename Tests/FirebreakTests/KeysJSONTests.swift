// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Testing

@testable import firebreak

@Suite("Keys in JSON")
struct KeysJSONTests {
  private func variant(_ field: String) throws -> VariantOfConcern? {
    let key = Data(repeating: 9, count: 16).base64EncodedString()
    let json = """
      {"temporaryExposureKeys": [{"key": "\(key)", "rollingStartNumber": 2642976\(field)}]}
      """
    return try #require(KeysJSON(decoding: Data(json.utf8)).keys.first).variantOfConcern
  }

  @Test("variantOfConcern is a number from 0 to 4 or absent")
  func valid() throws {
    for variant in VariantOfConcern.allCases {
      #expect(try self.variant(", \"variantOfConcern\": \(variant.rawValue)") == variant)
    }
    #expect(try variant("") == nil)
  }

  @Test(
    "An invalid variantOfConcern is rejected with the name of the field",
    arguments: ["-1", "5", "256", "\"type1\""])
  func invalid(_ value: String) throws {
    do {
      _ = try variant(", \"variantOfConcern\": \(value)")
      Issue.record("\(value) was accepted")
    } catch {
      #expect("\(error)".contains("temporaryExposureKeys[0].variantOfConcern"), "\(error)")
    }
  }
}
