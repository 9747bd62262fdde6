// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Testing

@Suite("Transmission risks in the remote configuration")
struct TransmissionRiskConfigurationTests {
  private static let table = TransmissionRiskConfiguration(
    withoutDate: 6, daysSinceTest: ["-2": 5, "0": 8, "1": 0],
    daysSinceOnsetOfSymptoms: ["-14": 1, "14": 2])

  private func decoded(_ json: String) throws -> RemoteConfiguration {
    try JSONDecoder().decode(RemoteConfiguration.self, from: Data(json.utf8))
  }

  @Test("A configuration without the tables has none, so that all keys get ProteGO Safe's risk")
  func missing() throws {
    #expect(RemoteConfiguration.protegoDefault.transmissionRiskConfiguration == nil)
    #expect(try decoded(#"{"version":3}"#).transmissionRiskConfiguration == nil)
  }

  @Test(
    "The tables are encoded, decoded and read; 0 and missing days mean that a key is not shared")
  func complete() throws {
    let configuration = RemoteConfiguration(
      version: 1, transmissionRiskConfiguration: Self.table)
    #expect(configuration.fault == nil)
    let bytes = try JSONEncoder().encode(configuration)
    #expect(try JSONDecoder().decode(RemoteConfiguration.self, from: bytes) == configuration)
    #expect([-2, 0, 1, 2].map { Self.table.risk(daysSinceTest: $0) } == [5, 8, nil, nil])
    #expect([-14, 14, 0].map { Self.table.risk(daysSinceOnsetOfSymptoms: $0) } == [1, 2, nil])
  }

  @Test(
    "Incomplete tables are refused as a whole",
    arguments: [
      #"{}"#, #"{"withoutDate":8,"daysSinceTest":{"0":8}}"#,
      #"{"withoutDate":8,"daysSinceTest":[8],"daysSinceOnsetOfSymptoms":{"0":8}}"#,
      #"{"withoutDate":"8","daysSinceTest":{"0":8},"daysSinceOnsetOfSymptoms":{"0":8}}"#,
    ])
  func incomplete(_ json: String) {
    #expect(throws: DecodingError.self) {
      try decoded(#"{"version":1,"transmissionRiskConfiguration":\#(json)}"#)
    }
  }

  @Test(
    "A value out of bounds is a fault with the name of its field",
    arguments: ["15", "-15", "01", "x"])
  func faults(_ day: String) throws {
    var table = Self.table
    table.daysSinceTest[day] = 3
    let wrong = RemoteConfiguration(version: 1, transmissionRiskConfiguration: table)
    #expect(wrong.fault?.contains("transmissionRiskConfiguration.daysSinceTest") == true)
    for risk in [-1, 9] {
      table = Self.table
      table.daysSinceOnsetOfSymptoms["0"] = risk
      let wrong = RemoteConfiguration(version: 1, transmissionRiskConfiguration: table)
      #expect(wrong.fault?.contains("daysSinceOnsetOfSymptoms") == true)
    }
    table = Self.table
    table.daysSinceTest = ["0": 0]
    #expect(
      RemoteConfiguration(version: 1, transmissionRiskConfiguration: table).fault?
        .contains("no key is shared") == true)
    table = Self.table
    table.withoutDate = 0
    #expect(RemoteConfiguration(version: 1, transmissionRiskConfiguration: table).fault != nil)
  }
}
