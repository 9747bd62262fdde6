// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

@Suite("Variants of concern")
struct VariantOfConcernTests: SuiteOfTrustingPhone {
  let scene: TrustingPhone

  init() throws { scene = try TrustingPhone() }

  /// A phone that met one user of each of `variants` for half an hour, and the file of their keys.
  private func afterMeeting(_ variants: [VariantOfConcern?]) async throws -> (ENManager, URL) {
    let manager = try await phone.enabledManager()
    let keys = try variants.enumerated().map { index, variant in
      (try DiagnosedUser(UInt32(index + 1)), variant)
    }
    for (diagnosed, _) in keys { await diagnosed.meets(phone) }
    phone.clock.advance(by: TestPhone.day)
    return (manager, try authority.publish(keys.map { try $0.published(variant: $1) }))
  }

  private func variants(_ windows: [ENExposureWindow]) -> Set<ENVariantOfConcernType> {
    Set(windows.map(\.variantOfConcernType))
  }

  @Test("A window has the variant of the signed key file")
  func variantOfWindows() async throws {
    let (manager, file) = try await afterMeeting([nil] + VariantOfConcern.allCases)
    let summary = try await manager.detect([file], configuration)
    #expect(summary.matchedKeyCount == 6)
    let windows = try await manager.windows(of: summary)
    #expect(variants(windows) == [.typeUnknown, .type1, .type2, .type3, .type4])
    // Two users without a known variant, and one of each other variant.
    let perPerson = windows.count { $0.variantOfConcernType == .type2 }
    #expect(perPerson > 0 && windows.count == 6 * perPerson)
    #expect(windows.count { $0.variantOfConcernType == .typeUnknown } == 2 * perPerson)
  }

  @Test("Scores do not depend on the variant")
  func scores() async throws {
    let (manager, file) = try await afterMeeting([nil, .vaccineBreakthrough])
    let both = try await manager.detect([file], configuration)
    let day = try #require(both.daySummaries.first?.daySummary)
    #expect(day.scoreSum > 0)
    let windows = try await manager.windows(of: both)
    let score = windows.map { $0.scanInstances.reduce(0) { $0 + $1.secondsSinceLastScan } }
    #expect(day.scoreSum == Double(score.reduce(0, +)))
  }

  @Test("The variant of a retained key is kept over a restart")
  func kept() async throws {
    let (manager, file) = try await afterMeeting([.highSeverity])
    _ = try await manager.detect([file], configuration)
    let restarted = try await phone.enabledManager()
    let again = try await restarted.detectAgain(configuration)
    #expect(variants(try await restarted.windows(of: again)) == [.type3])
  }
}
