import ExposureKeys
import Testing

@testable import ExposureNotification

/// Documentation/RiskScoring.md 3.
struct BucketEdgesTests {
  @Test(
    "Each edge of attenuation lies where Apple has it",
    arguments: zip([UInt8(73), 63, 51, 33, 27, 15, 10], 0..<7))
  func attenuation(edge: UInt8, level: Int) {
    #expect(RiskLevel.of(attenuation: Attenuation(decibels: edge + 1)) == level)
    #expect(RiskLevel.of(attenuation: Attenuation(decibels: edge)) == level + 1)
    #expect(RiskLevel.of(attenuation: Attenuation(decibels: edge - 1)) == level + 1)
  }

  @Test(
    "Each edge of days lies where Apple has it", arguments: zip([14, 12, 10, 8, 6, 4, 2], 0..<7))
  func days(edge: Int, level: Int) {
    #expect(RiskLevel.of(days: edge + 1) == level)
    #expect(RiskLevel.of(days: edge) == level)
    #expect(RiskLevel.of(days: edge - 1) == level + 1)
  }

  @Test(
    "Each edge of minutes lies where Apple has it",
    arguments: zip([0, 5, 10, 15, 20, 25, 30], 0..<7))
  func minutes(edge: Int, level: Int) {
    #expect(RiskLevel.of(minutes: edge - 1) == level)
    #expect(RiskLevel.of(minutes: edge) == level)
    #expect(RiskLevel.of(minutes: edge + 1) == level + 1)
  }

  @Test("A transmission risk level is its own place in the table, 8 counting as 7")
  func transmissionRisk() {
    #expect((0...8).map { RiskLevel.of(transmissionRiskLevel: $0) } == [0, 1, 2, 3, 4, 5, 6, 7, 7])
  }

  @Test("The extremes have a level", arguments: [UInt8.min, .max])
  func extremes(decibels: UInt8) {
    let level = RiskLevel.of(attenuation: Attenuation(decibels: decibels))
    #expect(level == (decibels == 0 ? 7 : 0))
  }

  @Test(
    "An attenuation on a threshold is on the near side",
    arguments: [
      (UInt8(49), 0), (50, 0), (51, 1), (69, 1), (70, 1), (71, 2), (89, 2), (90, 2), (91, 3),
    ])
  func thresholds(decibels: UInt8, range: Int) {
    #expect(AttenuationRange.index(of: decibels, thresholds: [50, 70, 90]) == range)
  }
}
