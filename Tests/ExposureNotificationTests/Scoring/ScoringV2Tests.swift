// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import ExposureNotification

struct ScoringV2Tests {
  private static let day = Date(timeIntervalSince1970: 1_585_785_600)

  private func window(
    _ minutesAt: [(minutes: Int, decibels: UInt8)], on day: Date = day,
    _ infectiousness: ENInfectiousness = .standard,
    _ reportType: ENDiagnosisReportType = .confirmedTest
  ) -> ExposureWindow {
    var window = ExposureWindow()
    window.date = day
    window.infectiousness = infectiousness
    window.diagnosisReportType = reportType
    window.scanInstances = minutesAt.map {
      ScanInstance(
        minimumAttenuation: $0.decibels, typicalAttenuation: $0.decibels,
        secondsSinceLastScan: $0.minutes * 60)
    }
    return window
  }

  private func scoring(_ change: (ENExposureConfiguration) -> Void) throws -> WindowScoring {
    let configuration = ENExposureConfiguration()
    change(configuration)
    return try WindowScoring(configuration)
  }

  @Test("Apple's example: 22.5 weighted minutes, doubled to 45")
  func exposureRiskValue() throws {
    let scoring = try scoring {
      $0.immediateDurationWeight = 150
      $0.mediumDurationWeight = 50
      $0.otherDurationWeight = 0
      $0.infectiousnessHighWeight = 200
    }
    let window = window([(5, 50), (10, 70), (10, 90), (5, 91)], .high)
    #expect(scoring.weightedDuration(of: window) == WeightedSeconds(1_350))
    #expect(scoring.score(of: window) == WeightedSeconds(2_700))
  }

  @Test(
    "Apple's example of a day: 120 weighted minutes, maximum 100, sum 130")
  func dayOfThree() throws {
    let scoring = try scoring {
      $0.infectiousnessHighWeight = 200
      $0.infectiousnessStandardWeight = 100
      $0.reportTypeSelfReportedWeight = 0
    }
    let bob = window([(50, 40)], .high)
    let carol = window([(30, 40)])
    let dave = window([(40, 40)], .standard, .selfReported)
    let day = try #require(scoring.days(of: [bob, carol, dave], today: Self.day).first)
    let summary = ENExposureDaySummary(day)
    #expect(summary.daySummary.weightedDurationSum == 120 * 60)
    #expect(summary.daySummary.maximumScore == 100 * 60)
    #expect(summary.daySummary.scoreSum == 130 * 60)
    #expect(summary.confirmedTestSummary?.scoreSum == 7_800.0)
    #expect(summary.selfReportedSummary?.weightedDurationSum == 2_400.0)
    #expect(summary.selfReportedSummary?.scoreSum == 0.0)
    #expect(summary.confirmedClinicalDiagnosisSummary == nil)
    #expect(summary.recursiveSummary == nil)
  }

  @Test("Windows older than the threshold are excluded, unless it is 0")
  func age() throws {
    let windows = [window([(10, 40)])]
    for (threshold, days, isKept) in [(2, 1, true), (2, 2, true), (2, 3, false), (0, 13, true)] {
      let scoring = try scoring { $0.daysSinceLastExposureThreshold = threshold }
      let today = Self.day.addingTimeInterval(Double(days) * 86_400 + 3_600)
      #expect(scoring.days(of: windows, today: today).isEmpty == !isKept)
    }
  }

  @Test(
    "Windows below the minimum score are excluded",
    arguments: [(599.0, true), (600, true), (601, false)])
  func minimum(minimum: Double, isKept: Bool) throws {
    let scoring = try scoring { $0.minimumRiskScoreFullRange = minimum }
    #expect(scoring.days(of: [window([(10, 40)])], today: Self.day).isEmpty == !isKept)
  }

  @Test("A weighted duration of 480 s is reported as 480 s")
  func exactDuration() throws {
    // With binary fractions, 300 s x 111 % and 300 s x 49 % add up to more than 480 s.
    let factors: [Double] = [1.11, 0.49]
    #expect(factors.reduce(0.0) { $0 + 300.0 * $1 } > 480.0)
    let scoring = try scoring {
      $0.immediateDurationWeight = 111
      $0.nearDurationWeight = 49
    }
    let days = scoring.days(of: [window([(5, 50), (5, 70)])], today: Self.day)
    let item = ENExposureDaySummary(try #require(days.first)).daySummary
    #expect(item.weightedDurationSum == 480 as Double)
    #expect(item.scoreSum == 480 as Double && item.maximumScore == 480 as Double)
  }

  @Test(
    "A window exactly at the minimum counts, whatever its weights",
    arguments: [35, 57.5, 70, 115, 113.7, 140, 205, 228, 0.1, 33.3])
  func exactMinimum(percent: Double) throws {
    for minutes in 1...5 {
      // In thousandths: 60 s x 0.1 % is 0.06 s.
      let exact = Int((Double(minutes) * percent * 600).rounded())
      for (added, isKept) in [(-1, true), (0, true), (1, false)] {
        let minimum = Double(exact + added) / 1_000
        let scoring = try scoring {
          $0.immediateDurationWeight = percent
          $0.minimumRiskScoreFullRange = minimum
        }
        let days = scoring.days(of: [window([(minutes, 40)])], today: Self.day)
        #expect(days.isEmpty == !isKept, "\(minutes) min, minimum \(minimum)")
      }
    }
  }

  @Test("The minimum may be as high as the highest possible score of a window")
  func highestMinimum() throws {
    // 35 minutes, the longest that the scans of a window sum up to, and three weights of 250 %.
    let highest: Double = 2_100 * 15.625
    var longest = window(Array(repeating: (5, 40), count: 7), .high)
    let weights: (ENExposureConfiguration) -> Void = {
      $0.immediateDurationWeight = 250
      $0.infectiousnessHighWeight = 250
      $0.reportTypeConfirmedTestWeight = 250
      $0.minimumRiskScoreFullRange = highest
    }
    #expect(try scoring(weights).days(of: [longest], today: Self.day).count == 1)
    longest.scanInstances.removeLast()
    #expect(try scoring(weights).days(of: [longest], today: Self.day).isEmpty)
    let error = #expect(throws: ENError.self) {
      try scoring { $0.minimumRiskScoreFullRange = highest.nextUp }
    }
    #expect(error?.localizedDescription.contains("from 0 to 32812.5") == true)
  }

  @Test("Days are sorted, oldest first")
  func days() throws {
    let next = Self.day.addingTimeInterval(86_400)
    let days = try scoring { _ in }
      .days(of: [window([(1, 1)], on: next), window([(1, 1)])], today: next)
    #expect(days.map(\.date) == [Self.day, next])
  }

  @Test("Scores are rounded to the nearest minute, weighted durations up to the next")
  func rounding() {
    var sums = ExposureSums()
    sums.add(duration: WeightedSeconds(61), score: WeightedSeconds(89))
    #expect(sums.roundedScoreSum == 60 && sums.roundedMaximumScore == 60)
    #expect(sums.roundedWeightedDurationSum == 120)
    sums.add(duration: .zero, score: WeightedSeconds(1))
    #expect(sums.roundedScoreSum == 120 && sums.roundedMaximumScore == 60)
  }

  @Test("EN Express's weights apply at its thresholds of 30, 50 and 60 dB")
  func weightsOfExpress() throws {
    let configuration = ENExposureConfiguration()
    configuration.attenuationDurationThresholds = [30, 50, 60]
    configuration.immediateDurationWeight = 150
    configuration.mediumDurationWeight = 50
    configuration.otherDurationWeight = 0
    var window = ExposureWindow()
    window.infectiousness = .standard
    window.diagnosisReportType = .confirmedTest
    window.scanInstances = [UInt8(30), 31, 50, 51, 60, 61].map {
      ScanInstance(minimumAttenuation: $0, typicalAttenuation: $0, secondsSinceLastScan: 60)
    }
    #expect(
      try WindowScoring(configuration).score(of: window)
        == WeightedSeconds(90 + 60 + 60 + 30 + 30 + 0))
  }
}
