import DiagnosisKeyFile
import ExposureKeys
import Foundation
import Testing

@testable import ExposureNotification

/// Documentation/RiskScoring.md 1.7 and 1.8.
struct MatchLedgerTests {
  private func ledger(_ user: DiagnosedUser) -> LedgerSearch {
    LedgerSearch(Matcher([user.heard()]))
  }

  @Test("The same key in two batches counts once")
  func duplicates() throws {
    let user = try DiagnosedUser()
    var ledger = ledger(user)
    ledger.search([user.key, user.key])
    ledger.search([user.key])
    #expect(ledger.matches.count == 1)
  }

  @Test(
    "Both rules come after the matching: forged and repeated beacons match, and are not counted")
  func rules() throws {
    let user = try DiagnosedUser()
    let forged = user.heard(metadata: BluetoothMetadata(transmitPower: 100))
    let late = user.heard(after: 1_201)
    #expect(Matcher([forged, late]).match(of: user.key)?.sightings.count == 2)
    var ledger = LedgerSearch(Matcher([forged]))
    ledger.search([user.key])
    #expect(ledger.matches.isEmpty)
    ledger = LedgerSearch(Matcher([user.heard(), late]))
    ledger.search([user.key])
    #expect(ledger.matches.map(\.sightings.count) == [1])
  }

  @Test("The same key with another period counts as it came first")
  func otherPeriod() throws {
    let user = try DiagnosedUser()
    var ledger = ledger(user)
    ledger.search([user.key])
    ledger.search([try DiagnosedUser(period: 100).key])
    ledger.search([try DiagnosedUser(period: 100, reportType: .revoked).key], areRevised: true)
    #expect(ledger.matches.map(\.key.key.rollingPeriod) == [144])
  }

  @Test(
    "A contact of a contact is never matched, a withdrawn key never returned",
    arguments: [ReportType.recursive, .revoked])
  func leftOut(reportType: ReportType) throws {
    var ledger = ledger(try DiagnosedUser())
    ledger.search([try DiagnosedUser(reportType: reportType).key])
    #expect(ledger.matches.isEmpty)
  }

  @Test("A revision makes a diagnosis surer or withdraws it, and a laboratory's word stands")
  func revisions() throws {
    let allowed: [ReportType?: Set<ReportType>] = [
      nil: Set(ReportType.allCases), .unknown: Set(ReportType.allCases),
      .selfReport: [.confirmedTest, .confirmedClinicalDiagnosis, .revoked],
      .confirmedClinicalDiagnosis: [.confirmedTest, .revoked],
    ]
    for before in [nil] + ReportType.allCases.map(Optional.some) {
      for after in ReportType.allCases {
        let may = try DiagnosedUser(reportType: before).key
          .canBeRevised(to: try DiagnosedUser(reportType: after).key)
        #expect(may == (allowed[before] ?? []).contains(after), "\(before as Any) to \(after)")
      }
    }
  }

  @Test("A key withdrawn by a revision is gone")
  func withdrawn() throws {
    let user = try DiagnosedUser(reportType: .selfReport)
    var ledger = ledger(user)
    ledger.search([user.key])
    #expect(ledger.matches.count == 1)
    ledger.search([try DiagnosedUser(reportType: .revoked).key], areRevised: true)
    #expect(ledger.matches.isEmpty)
  }

  @Test("A key that changes its report without being a revision stays as it was")
  func notARevision() throws {
    let user = try DiagnosedUser(reportType: .selfReport)
    var ledger = ledger(user)
    ledger.search([user.key])
    ledger.search([try DiagnosedUser(reportType: .confirmedTest).key])
    #expect(ledger.matches.map(\.key.reportType) == [.selfReport])
    ledger.search([try DiagnosedUser(reportType: .confirmedTest).key], areRevised: true)
    #expect(ledger.matches.map(\.key.reportType) == [.confirmedTest])
  }
}

/// Documentation/RiskScoring.md 1.5.
struct KeyMatchTests {
  @Test(
    "An identifier counts for twenty minutes after it was first heard",
    arguments: [(1_199.0, true), (1_200, true), (1_201, false)])
  func lifetime(seconds: TimeInterval, isKept: Bool) throws {
    let kept = ReplayRule.kept(of: [try .at(0), try .at(seconds)])
    #expect(kept.count == (isKept ? 2 : 1))
  }

  @Test("The next identifier begins its own twenty minutes")
  func nextIdentifier() throws {
    let kept = ReplayRule.kept(of: [try .at(0), try .at(1_300, step: 1), try .at(2_400, step: 1)])
    #expect(kept.count == 3)
  }

  @Test("The first sighting counts whatever the order they come in")
  func anyOrder() throws {
    let kept = ReplayRule.kept(of: [try .at(1_500), try .at(100)])
    #expect(kept.map(\.time) == [try MatchedSighting.at(100).time])
  }

  @Test("A forged beacon heard earlier does not make the true one a replay")
  func forgedFirst() throws {
    let forged = try MatchedSighting.at(0, metadata: BluetoothMetadata(transmitPower: 100))
    let match = KeyMatch(
      key: try DiagnosedUser().key, sightings: [forged, try .at(1_500), try .at(2_000)])
    #expect(match.credible?.sightings.count == 2)
  }

  @Test("A match of forged beacons only is no match")
  func onlyForged() throws {
    let forged = try MatchedSighting.at(0, metadata: BluetoothMetadata(transmitPower: 100))
    #expect(KeyMatch(key: try DiagnosedUser().key, sightings: [forged]).credible == nil)
  }

  @Test(
    "A transmit power that no phone has is dropped",
    arguments: [(Int8(-51), false), (-50, true), (20, true), (21, false)])
  func transmitPower(power: Int8, isKept: Bool) throws {
    let metadata = BluetoothMetadata(transmitPower: power)
    #expect(PlausibilityRule.isKept(try .at(0, metadata: metadata)) == isKept)
  }

  @Test(
    "Another major version than 1 is dropped",
    arguments: [(UInt8(0x00), false), (0x40, true), (0x50, true), (0x80, false), (0xc0, false)])
  func version(byte: UInt8, isKept: Bool) throws {
    let metadata = try required(BluetoothMetadata(bytes: [byte, 0, 0, 0]))
    #expect(PlausibilityRule.isKept(try .at(0, metadata: metadata)) == isKept)
  }

  @Test("Attenuation never goes below zero, however loud the beacon")
  func attenuation() throws {
    let loud = BluetoothMetadata(transmitPower: -50)
    #expect(try MatchedSighting.at(0, attenuation: -40, metadata: loud).attenuation.decibels == 0)
  }
}

/// A ledger with the matcher that fills it.
struct LedgerSearch {
  private let matcher: Matcher
  private(set) var ledger = MatchLedger()

  init(_ matcher: Matcher) {
    self.matcher = matcher
  }

  mutating func search(_ keys: [DiagnosisKey], areRevised: Bool = false) {
    var result = matcher.search(KeyBatch(keys))
    result.areRevised = areRevised
    ledger.add(result)
  }

  var matches: [KeyMatch] { ledger.matches }
}
