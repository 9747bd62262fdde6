// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import SealedStorage
import TestSupport
import Testing
import World

@testable import PhoneProcess

@Suite("Consent and travel on a phone without a screen")
struct PhoneConsentTests {
  private static let requests: [ConsentRequest] = [
    .enableExposureNotification, .shareDiagnosisKeys, .preAuthorizeDiagnosisKeys,
    .showTravelStatus,
  ]

  @Test(
    "A command grants exactly the request that it announces, while it runs",
    arguments: [
      (PhoneOperation.enable, ConsentRequest?.some(.enableExposureNotification)),
      (.upload(sharesAbroad: false), .shareDiagnosisKeys), (.travel(to: nil), .showTravelStatus),
      (.followingDays(.share), .preAuthorizeDiagnosisKeys), (.followingDays(.end), nil),
      (.check, nil), (.status, nil), (.remove(.everything), nil),
    ])
  func granted(_ operation: PhoneOperation, _ expected: ConsentRequest?) async {
    let consent = PhoneConsent()
    await consent.granting(operation) {
      for request in Self.requests {
        #expect(await consent.allows(request, for: "app") == (request == expected))
      }
    }
    for request in Self.requests { #expect(await !consent.allows(request, for: "app")) }
  }

  @Test("Of two uploads at once, the end of one does not end the consent of the other")
  func nested() async {
    let consent = PhoneConsent()
    await consent.granting(.upload(sharesAbroad: false)) {
      await consent.granting(.upload(sharesAbroad: true)) {}
      #expect(await consent.allows(.shareDiagnosisKeys, for: "app"))
    }
  }

  @Test("Showing exposures to the owner needs no command")
  func told() async {
    #expect(await PhoneConsent().allows(.showExposureInfo(explanation: ""), for: "app"))
  }

  @Test("The stays of fourteen days show if the owner has left the region")
  func travel() async throws {
    let temporary = try TemporaryFolder()
    let folder = try PhoneFolder(creating: temporary.path("phone").path)
    let clock = ManualClock(Date(timeIntervalSince1970: 1_600_000_000))
    let log = TravelLog(
      in: folder, key: SealingKey(from: SystemRandomness()), clock: clock,
      retention: PhoneRetention(), randomness: SystemRandomness(), logger: CollectedLog().logger)
    func hasLeft(_ region: String) async throws -> Bool? {
      try await log.hasLeft(
        region, since: clock.now.addingTimeInterval(-14 * 86_400))
    }
    #expect(try await hasLeft("US") == nil)
    try log.record("US-CA")
    #expect(try await hasLeft("US") == false)
    #expect(try await hasLeft("US-NY") == true)
    #expect(try await hasLeft("U") == true)
    try log.record("DE")
    #expect(try await hasLeft("US") == true)
    clock.advance(by: 13 * 86_400)
    try log.record("US")
    #expect(try await hasLeft("US") == true)
    clock.advance(by: 2 * 86_400)
    #expect(try await hasLeft("US") == false)
    try log.record("US")
    #expect(try log.regions().map(\.region) == ["US"])
    try log.removeAll()
    #expect(try await hasLeft("US") == nil)
  }

  @Test(
    "Regions are codes of ISO 3166",
    arguments: [
      ("PL", true), ("US-CA", true), ("GB-ENG", true), ("pl", false), ("P", false),
      ("POL", false), ("US-", false), ("US-CALI", false), ("PL ", false),
    ])
  func region(_ text: String, _ isRegion: Bool) {
    #expect(TravelLimit.isRegion(text) == isRegion)
  }
}
