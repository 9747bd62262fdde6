import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Framework.md 9.3.
@Suite("The variant of concern of a meeting")
struct VariantOfConcernTests {
  let folder: TemporaryFolder
  let authority: Authority
  let phone: TestPhone
  let configuration = Passenger.configuration()

  init() throws {
    folder = try TemporaryFolder()
    authority = try Authority()
    var phone = TestPhone(in: folder.url)
    phone.apiVersion = 2
    phone.region = RegionConfiguration(region: "PL", keys: try authority.verificationKeys)
    self.phone = phone
  }

  /// A phone that met somebody of each of `variants` for half an hour, and the file of their keys.
  private func afterMeeting(_ variants: [VariantOfConcern?]) async throws -> (ENManager, URL) {
    let manager = try await phone.enabledManager()
    let keys = try variants.enumerated().map { index, variant in
      (try Passenger(UInt32(index + 1)), variant)
    }
    for (passenger, _) in keys { await passenger.sits(beside: phone) }
    phone.clock.move(by: TestPhone.day)
    return (manager, try authority.publish(keys.map { try $0.published(variant: $1) }))
  }

  private func variants(_ windows: [ENExposureWindow]) -> Set<ENVariantOfConcernType> {
    Set(windows.map(\.variantOfConcernType))
  }

  @Test("A window says what the signed file says, and an app can filter by it")
  func told() async throws {
    let (manager, file) = try await afterMeeting([nil] + VariantOfConcern.allCases)
    let summary = try await manager.detect([file], configuration)
    #expect(summary.matchedKeyCount == 6)
    let windows = try await manager.windows(of: summary)
    #expect(variants(windows) == [.typeUnknown, .type1, .type2, .type3, .type4])
    // Two people of whom nothing is known, one of each variant.
    let perPerson = windows.count { $0.variantOfConcernType == .type2 }
    #expect(perPerson > 0 && windows.count == 6 * perPerson)
    #expect(windows.count { $0.variantOfConcernType == .typeUnknown } == 2 * perPerson)
  }

  @Test("No score counts the variant")
  func scores() async throws {
    let (manager, file) = try await afterMeeting([nil, .vaccineBreakthrough])
    let both = try await manager.detect([file], configuration)
    let day = try #require(both.daySummaries.first?.daySummary)
    #expect(day.scoreSum > 0)
    let windows = try await manager.windows(of: both)
    let score = windows.map { $0.scanInstances.reduce(0) { $0 + $1.secondsSinceLastScan } }
    #expect(day.scoreSum == Double(score.reduce(0, +)))
  }

  @Test("A later call without the file still knows it, also after a restart")
  func kept() async throws {
    let (manager, file) = try await afterMeeting([.highSeverity])
    _ = try await manager.detect([file], configuration)
    let restarted = try await phone.enabledManager()
    let again = try await restarted.detectAgain(configuration)
    #expect(variants(try await restarted.windows(of: again)) == [.type3])
  }
}
