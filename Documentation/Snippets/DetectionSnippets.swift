// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

@MainActor
func configurationPage() async throws {
  // Page: ENExposureConfiguration
  let configuration = ENExposureConfiguration()
  configuration.attenuationDurationThresholds = [55, 63, 75]
  configuration.immediateDurationWeight = 150
  configuration.infectiousnessForDaysSinceOnsetOfSymptoms = [-2: 1, -1: 1, 0: 2, 1: 2, 2: 1]
  print(configuration.nearDurationWeight, configuration.reportTypeNoneMap)
  // End of page.
}

@MainActor
func infectiousnessPage() async throws {
  // Page: ENInfectiousness
  let configuration = ENExposureConfiguration()
  configuration.infectiousnessForDaysSinceOnsetOfSymptoms = [
    0: ENInfectiousness.high.rawValue as NSNumber,
    5: ENInfectiousness.standard.rawValue as NSNumber,
  ]
  print(configuration.infectiousnessForDaysSinceOnsetOfSymptoms?[5] ?? 0)
  // End of page.
}

@MainActor
func diagnosisReportTypePage() async throws {
  // Page: ENDiagnosisReportType
  let configuration = ENExposureConfiguration()
  configuration.reportTypeNoneMap = .selfReported
  print(configuration.reportTypeNoneMap, configuration.reportTypeNoneMap.rawValue)
  // End of page.
}

@MainActor
func detectingAgainPage() async throws {
  let phone = try await SamplePhone(apiVersion: 2)
  let manager = phone.manager
  // Page: DetectingAgain
  let first = try await phone.summary(.everyDayCounts)
  print(first.daySummaries.first?.daySummary.scoreSum ?? 0, "seconds")
  let configuration = ENExposureConfiguration.everyDayCounts
  configuration.reportTypeConfirmedTestWeight = 50
  await withCheckedContinuation { done in
    manager.detectExposures(configuration: configuration) { summary, error in
      print(summary?.daySummaries.first?.daySummary.scoreSum ?? 0, "seconds, halved")
      done.resume()
    }
  }
  // End of page.
}

@MainActor
func summaryPage() async throws {
  let phone = try await SamplePhone()
  // Page: ENExposureDetectionSummary
  let summary = try await phone.summary()
  print("seconds, nearest first:", summary.attenuationDurations)
  print("highest score:", summary.maximumRiskScore)
  // End of page.
}

@MainActor
func dayPage() async throws {
  let phone = try await SamplePhone(apiVersion: 2)
  // Page: ENExposureDaySummary
  let summary = try await phone.summary(.everyDayCounts)
  for day in summary.daySummaries {
    print(day.date.formatted(.iso8601.year().month().day()), day.daySummary.weightedDurationSum)
  }
  // End of page.
}

@MainActor
func exposureSummaryItemPage() async throws {
  let phone = try await SamplePhone(apiVersion: 2)
  // Page: ENExposureSummaryItem
  let day = try await phone.summary(.everyDayCounts).daySummaries.first
  print("tested:", day?.confirmedTestSummary?.scoreSum ?? 0)
  print("self-reported:", day?.selfReportedSummary?.scoreSum ?? 0)
  // End of page.
}

@MainActor
func infoPage() async throws {
  let phone = try await SamplePhone()
  let manager = phone.manager
  // Page: ENExposureInfo
  let summary = try await phone.summary()
  await withCheckedContinuation { done in
    manager.getExposureInfo(summary: summary, userExplanation: "To show your exposures.") {
      infos, error in
      for info in infos ?? [] {
        print(
          info.duration / 60, "minutes at", info.attenuationValue, "dB, score", info.totalRiskScore)
      }
      done.resume()
    }
  }
  // End of page.
}

@MainActor
func exposureWindowsPage() async throws {
  let phone = try await SamplePhone(apiVersion: 2)
  let manager = phone.manager
  // Page: ExposureWindows
  let summary = try await phone.summary(.everyDayCounts)
  await withCheckedContinuation { done in
    manager.getExposureWindows(summary: summary) { windows, error in
      let spreading = windows?.filter { $0.variantOfConcernType == .type2 }
      print(spreading?.count ?? 0, "of", windows?.count ?? 0, "with a variant that spreads easily")
      done.resume()
    }
  }
  // End of page.
}

@MainActor
func windowPage() async throws {
  let phone = try await SamplePhone(apiVersion: 2)
  // Page: ENExposureWindow
  for window in try await phone.windows() {
    print(window.scanInstances.count, "scans,", window.diagnosisReportType, window.infectiousness)
  }
  // End of page.
}

@MainActor
func scanPage() async throws {
  let phone = try await SamplePhone(apiVersion: 2)
  // Page: ENScanInstance
  let scans = try await phone.windows().flatMap(\.scanInstances)
  let near = scans.filter { $0.typicalAttenuation <= 55 }
  print(near.reduce(0) { $0 + $1.secondsSinceLastScan } / 60, "minutes nearby")
  // End of page.
}

@MainActor
func calibrationConfidencePage() async throws {
  let phone = try await SamplePhone(apiVersion: 2)
  // Page: ENCalibrationConfidence
  for window in try await phone.windows() {
    print(window.calibrationConfidence)
  }
  // End of page.
}

@MainActor
func variantOfConcernTypePage() async throws {
  let phone = try await SamplePhone(apiVersion: 2)
  // Page: ENVariantOfConcernType
  for window in try await phone.windows() {
    print(window.variantOfConcernType, window.variantOfConcernType.rawValue)
  }
  // End of page.
}
