// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import Testing

@testable import ExposureNotification

struct MatchLedgerTests {
  private func ledger(_ user: BeaconSender) -> LedgerSearch {
    LedgerSearch(Matcher([user.sighting()]))
  }

  @Test("A key in two batches counts once")
  func duplicates() throws {
    let user = try BeaconSender()
    var ledger = ledger(user)
    ledger.search([user.key, user.key])
    ledger.search([user.key])
    #expect(ledger.matches.count == 1)
  }

  @Test(
    "Forged and replayed beacons match, but the ledger does not count them")
  func rules() throws {
    let user = try BeaconSender()
    let forged = user.sighting(metadata: BluetoothMetadata(transmitPower: 100))
    let late = user.sighting(after: 1_201)
    #expect(Matcher([forged, late]).match(of: user.key)?.sightings.count == 2)
    var ledger = LedgerSearch(Matcher([forged]))
    ledger.search([user.key])
    #expect(ledger.matches.isEmpty)
    ledger = LedgerSearch(Matcher([user.sighting(), late]))
    ledger.search([user.key])
    #expect(ledger.matches.map(\.sightings.count) == [1])
  }

  @Test("A key that is published again with another period keeps its first period")
  func otherPeriod() throws {
    let user = try BeaconSender()
    var ledger = ledger(user)
    ledger.search([user.key])
    ledger.search([try BeaconSender(period: 100).key])
    ledger.search([try BeaconSender(period: 100, reportType: .revoked).key], areRevised: true)
    #expect(ledger.matches.map(\.key.key.rollingPeriod) == [144])
  }

  @Test(
    "A recursive key is not matched, and a revoked key is not returned",
    arguments: [ReportType.recursive, .revoked])
  func leftOut(reportType: ReportType) throws {
    var ledger = ledger(try BeaconSender())
    ledger.search([try BeaconSender(reportType: reportType).key])
    #expect(ledger.matches.isEmpty)
  }

  @Test("A revision can confirm or revoke a diagnosis, and a confirmed test is final")
  func revisions() throws {
    let allowed: [ReportType?: Set<ReportType>] = [
      nil: Set(ReportType.allCases), .unknown: Set(ReportType.allCases),
      .selfReport: [.confirmedTest, .confirmedClinicalDiagnosis, .revoked],
      .confirmedClinicalDiagnosis: [.confirmedTest, .revoked],
    ]
    for before in [nil] + ReportType.allCases.map(Optional.some) {
      for after in ReportType.allCases {
        let may = try BeaconSender(reportType: before).key
          .canBeRevised(to: try BeaconSender(reportType: after).key)
        #expect(may == (allowed[before] ?? []).contains(after), "\(before as Any) to \(after)")
      }
    }
  }

  @Test("A key revoked by a revision is removed")
  func withdrawn() throws {
    let user = try BeaconSender(reportType: .selfReport)
    var ledger = ledger(user)
    ledger.search([user.key])
    #expect(ledger.matches.count == 1)
    ledger.search([try BeaconSender(reportType: .revoked).key], areRevised: true)
    #expect(ledger.matches.isEmpty)
  }

  @Test("A report type changes at most once")
  func changesOnce() throws {
    let user = try BeaconSender(reportType: .selfReport)
    for change in [ReportType.confirmedClinicalDiagnosis, .confirmedTest, .revoked] {
      var ledger = ledger(user)
      ledger.search([user.key])
      for reportType in [change, .confirmedTest, .revoked] {
        ledger.search([try BeaconSender(reportType: reportType).key], areRevised: true)
      }
      #expect(ledger.matches.map(\.key.reportType) == (change == .revoked ? [] : [change]))
    }
  }

  @Test("A revision without a new report type is not its change")
  func sameReportType() throws {
    let user = try BeaconSender()
    var ledger = ledger(user)
    ledger.search([user.key])
    for (risk, reportType) in [(3, ReportType.unknown), (4, .unknown), (5, .selfReport)] {
      ledger.search(
        [try BeaconSender(risk: UInt8(risk), reportType: reportType).key], areRevised: true)
      #expect(ledger.matches.map(\.key.transmissionRiskLevel) == [UInt8(risk)])
    }
    ledger.search([try BeaconSender(reportType: .confirmedTest).key], areRevised: true)
    #expect(ledger.matches.map(\.key.reportType) == [.selfReport])
  }

  @Test("A new report type outside the revised keys is ignored")
  func notARevision() throws {
    let user = try BeaconSender(reportType: .selfReport)
    var ledger = ledger(user)
    ledger.search([user.key])
    ledger.search([try BeaconSender(reportType: .confirmedTest).key])
    #expect(ledger.matches.map(\.key.reportType) == [.selfReport])
    ledger.search([try BeaconSender(reportType: .confirmedTest).key], areRevised: true)
    #expect(ledger.matches.map(\.key.reportType) == [.confirmedTest])
  }
}

/// A ledger with its matcher.
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
