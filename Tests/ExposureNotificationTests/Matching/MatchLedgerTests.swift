import ExposureKeys
import Foundation
import Testing

@testable import ExposureNotification

/// Documentation/RiskScoring.md 1.7 and 1.8.
struct MatchLedgerTests {
  private func ledger(_ stranger: Stranger) -> FilledLedger {
    FilledLedger(Matcher([stranger.heard()]))
  }

  @Test("The same key in two batches counts once")
  func duplicates() throws {
    let stranger = try Stranger()
    var ledger = ledger(stranger)
    ledger.search([stranger.key, stranger.key])
    ledger.search([stranger.key])
    #expect(ledger.matches.count == 1)
  }

  @Test(
    "Both rules come after the matching: forged and repeated beacons match, and are not counted")
  func rules() throws {
    let stranger = try Stranger()
    let forged = stranger.heard(metadata: BluetoothMetadata(transmitPower: 100))
    let late = stranger.heard(after: 1_201)
    #expect(Matcher([forged, late]).match(of: stranger.key)?.sightings.count == 2)
    var ledger = FilledLedger(Matcher([forged]))
    ledger.search([stranger.key])
    #expect(ledger.matches.isEmpty)
    ledger = FilledLedger(Matcher([stranger.heard(), late]))
    ledger.search([stranger.key])
    #expect(ledger.matches.map(\.sightings.count) == [1])
  }

  @Test("The same key with another period counts as it came first")
  func otherPeriod() throws {
    let stranger = try Stranger()
    var ledger = ledger(stranger)
    ledger.search([stranger.key])
    ledger.search([try Stranger(period: 100).key])
    ledger.search([try Stranger(period: 100, reportType: .revoked).key], areRevised: true)
    #expect(ledger.matches.map(\.key.key.rollingPeriod) == [144])
  }

  @Test(
    "A contact of a contact is never matched, a withdrawn key never returned",
    arguments: [ReportType.recursive, .revoked])
  func leftOut(reportType: ReportType) throws {
    var ledger = ledger(try Stranger())
    ledger.search([try Stranger(reportType: reportType).key])
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
        let may = try Stranger(reportType: before).key
          .mayBecome(try Stranger(reportType: after).key)
        #expect(may == (allowed[before] ?? []).contains(after), "\(before as Any) to \(after)")
      }
    }
  }

  @Test("A key withdrawn by a revision is gone")
  func withdrawn() throws {
    let stranger = try Stranger(reportType: .selfReport)
    var ledger = ledger(stranger)
    ledger.search([stranger.key])
    #expect(ledger.matches.count == 1)
    ledger.search([try Stranger(reportType: .revoked).key], areRevised: true)
    #expect(ledger.matches.isEmpty)
  }

  @Test("A key that changes its report without being a revision stays as it was")
  func notARevision() throws {
    let stranger = try Stranger(reportType: .selfReport)
    var ledger = ledger(stranger)
    ledger.search([stranger.key])
    ledger.search([try Stranger(reportType: .confirmedTest).key])
    #expect(ledger.matches.map(\.key.reportType) == [.selfReport])
    ledger.search([try Stranger(reportType: .confirmedTest).key], areRevised: true)
    #expect(ledger.matches.map(\.key.reportType) == [.confirmedTest])
  }
}
