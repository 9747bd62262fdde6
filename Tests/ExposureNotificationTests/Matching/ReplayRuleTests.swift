import ExposureKeys
import Foundation
import Testing

@testable import ExposureNotification

/// Documentation/RiskScoring.md 1.5.
struct ReplayRuleTests {
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
      key: try Stranger().key, sightings: [forged, try .at(1_500), try .at(2_000)])
    #expect(match.credible?.sightings.count == 2)
  }

  @Test("A match of forged beacons only is no match")
  func onlyForged() throws {
    let forged = try MatchedSighting.at(0, metadata: BluetoothMetadata(transmitPower: 100))
    #expect(KeyMatch(key: try Stranger().key, sightings: [forged]).credible == nil)
  }
}
