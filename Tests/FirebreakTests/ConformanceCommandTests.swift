// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite(
  "firebreak conformance", .needs(.process),
  .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
struct ConformanceCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static let files = [
    ("gaen-crypto", "vectors/gaen_crypto_vectors.json", 3 + 2 * 144),
    ("cwa-risk", "risk/cwa-ios/exposure-windows-risk-calculation.json", 28),
    ("tek-hmac", "vectors/hmac/tek-hmac.json", 1),
    ("key-files", "vectors/gaen_export_vectors.json", 7),
    ("key-files", "keyfiles", 5),
  ]

  /// Computed with another implementation of HMAC-SHA256 than ours.
  private static let codeWithZeros = "mFNI9zhTA17n4ndd1Vu5tsn4XQX0gPrIKyjeh/9noUE="
  private static let codeWithoutRisks = "J9S7xVebH/66dm14wGsIcAnSUR3PHD4NtDQEOGZbDUo="

  @Test("Every published suite passes", arguments: files)
  func passes(suite: String, file: String, count: Int) async throws {
    let run = try await Run("conformance", suite, SharedData.url(file).path)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output == "\(count) passed, 0 failed\n")
    let report = try await Run("conformance", suite, SharedData.url(file).path, "--json").json()
    #expect(report?["passed"] as? Int == count && report?["failed"] as? Int == 0)
  }

  @Test(
    "Absent risks and risks of 0 give different texts; if all are 0 or absent, both are accepted")
  func riskOfZero() async throws {
    let text = try String(contentsOf: SharedData.url(Self.files[2].1), encoding: .utf8)
    let code = "2u1nHt5WWurJytFLF3xitNzM99oNrad2y4YGOL53AeY="
    let cleartext = "dPCphLzfG4uzXneNimkPRQ==.144.144.5,z2Cx9hdz2SlxZ8GEgqTYpA==.1.144.3"
    func status(_ risks: (String, String), _ text: String, _ code: String) async throws -> Int32 {
      let keys = """
        {"vectors": [{"secretBase64": "AQIDBAUGBwgJCgsMDQ4PEA==", "keys": [
          {"key": "z2Cx9hdz2SlxZ8GEgqTYpA==", "rollingStartNumber": 1, "rollingPeriod": 144\(risks.0)},
          {"key": "dPCphLzfG4uzXneNimkPRQ==", "rollingStartNumber": 144, "rollingPeriod": 144\(risks.1)}
        ], "cleartext": "\(text)", "hmacSha256Base64": "\(code)"}]}
        """
      let file = folder.path("risks.json")
      try keys.write(to: file, atomically: true, encoding: .utf8)
      return try await Run("conformance", "tek-hmac", file.path).status
    }
    try #require(text.contains(code) && text.contains(cleartext))
    let zero = #", "transmissionRisk": 0"#
    let with = cleartext.replacing(".144.5,", with: ".144.0,").replacing(".144.3", with: ".144.0")
    let without = cleartext.replacing(".144.5,", with: ".144,").replacing(
      ".1.144.3", with: ".1.144")
    let codes = (Self.codeWithZeros, Self.codeWithoutRisks)
    for risks in [(zero, zero), ("", ""), (zero, "")] {
      #expect(try await status(risks, with, codes.0) == 0)
      #expect(try await status(risks, without, codes.1) == 0)
      #expect(try await status(risks, without, codes.0) == 1)
    }
    let mixed = (#", "transmissionRisk": 3"#, "")
    #expect(try await status(mixed, cleartext.replacing(".144.5,", with: ".144.0,"), code) == 1)
    #expect(
      try await status((#", "transmissionRisk": 3"#, #", "transmissionRisk": 5"#), cleartext, code)
        == 0)
  }

  @Test(
    "A changed case fails with its name, the expected and the actual result",
    arguments: [
      (
        "gaen-crypto", files[0].1, "8be6cd371c5c891604bfbe49df845096",
        "8be6cd371c5c891604bfbe49df845097", "rpi[0]"
      ),
      ("gaen-crypto", files[0].1, "\"40080000\"", "\"40090000\"", "aem[143]"),
      ("cwa-risk", files[1].1, "\"expTotalRiskLevel\": 2", "\"expTotalRiskLevel\": 1", "risk"),
      ("tek-hmac", files[2].1, "2u1nHt5W", "2u1nHt5X", "vectors[0]"),
      ("key-files", files[3].1, "ho9AqUPl", "ho9AqUPm", "golden_unsigned_export"),
      (
        "key-files", files[3].1, "\"verifies_signed_export_small\": false",
        "\"verifies_signed_export_small\": true", "negative_public_keys[1]"
      ),
    ])
  func fails(suite: String, file: String, part: String, other: String, name: String) async throws {
    let text = try String(contentsOf: SharedData.url(file), encoding: .utf8)
    try #require(text.contains(part))
    let changed = folder.path("changed.json")
    try text.replacing(part, with: other).write(to: changed, atomically: true, encoding: .utf8)
    let run = try await Run("conformance", suite, changed.path)
    #expect(run.status == 1)
    #expect(run.output.contains("FAILED \(name)") || name == "risk")
    #expect(run.output.contains("expected") && run.output.contains("got"))
    let last = run.output.split(separator: "\n").last
    #expect(last?.hasSuffix(" failed") == true && last?.hasSuffix(" 0 failed") == false)
  }

  @Test("The policy is read from the file: other weights change results, invalid ones are rejected")
  func policyIsData() async throws {
    let text = try String(contentsOf: SharedData.url(Self.files[1].1), encoding: .utf8)
    let weights = folder.path("weights.json")
    try text.replacing("\"weight\": 1\n", with: "\"weight\": 0.3\n")
      .write(to: weights, atomically: true, encoding: .utf8)
    #expect(try await Run("conformance", "cwa-risk", weights.path).status == 1)
    let scans = folder.path("scans.json")
    try text.replacing("\"minAttenuation\": 30", with: "\"minAttenuation\": 256")
      .write(to: scans, atomically: true, encoding: .utf8)
    let invalid = try await Run("conformance", "cwa-risk", scans.path)
    #expect(invalid.status == 2)
    #expect(
      invalid.errors.contains("testCases[0].exposureWindows[0].scanInstances[0].minAttenuation"))
    let policy = folder.path("policy.json")
    try text.replacing("\"weight\": 0.5", with: "\"weight\": -1")
      .write(to: policy, atomically: true, encoding: .utf8)
    let rejected = try await Run("conformance", "cwa-risk", policy.path)
    #expect(rejected.status == 2)
    #expect(rejected.errors.contains("minutesAtAttenuationWeights[1].weight"))
  }

  @Test("A file of another suite, an empty suite and a missing file are bad input")
  func badInput() async throws {
    for (suite, file) in zip(["cwa-risk", "tek-hmac", "key-files", "gaen-crypto"], Self.files) {
      let run = try await Run("conformance", suite, SharedData.url(file.1).path)
      #expect(run.status == 2 && run.output.isEmpty, "\(suite)")
      #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    }
    #expect(try await Run("conformance", "none", SharedData.url(Self.files[0].1).path).status == 2)
    #expect(try await Run("conformance", "tek-hmac", folder.path("none").path).status == 2)
    #expect(try await Run("conformance", "key-files", folder.url.path).status == 2)
    let empty = folder.path("empty.json")
    try #"{"vectors": []}"#.write(to: empty, atomically: true, encoding: .utf8)
    #expect(try await Run("conformance", "tek-hmac", empty.path).status == 2)
  }
}
