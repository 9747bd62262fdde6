// SPDX-License-Identifier: Apache-2.0
/// Runs the snippet of one page of the framework's reference: `snippets ENManager`. Without a name it lists
/// the pages.
@main
@MainActor
enum Snippets {
  static let pages: [String: @MainActor () async throws -> Void] = [
    "ExposureNotification": exposureNotificationPage, "ENManager": managerPage,
    "ENExposureConfiguration": configurationPage, "ENExposureDetectionSummary": summaryPage,
    "ENExposureInfo": infoPage, "ENExposureWindow": windowPage, "ENScanInstance": scanPage,
    "ENExposureDaySummary": dayPage, "ENTemporaryExposureKey": keyPage, "ENError": errorPage,
    "ENStatus": statusPage, "ENAuthorizationStatus": authorizationPage, "Device": devicePage,
    "SimulatedRegion": simulatedRegionPage,
    "ConsentPrompt": promptPage, "RegionConfiguration": regionPage,
    "PreAuthorizedKeys": preAuthorizedKeysPage,
    "DetectingAgain": detectingAgainPage,
    "ExposureWindows": exposureWindowsPage,
    "EndingAManager": endingAManagerPage,
    "Travel": travelPage,
    "ENActivityFlags": activityFlagsPage,
    "Entitlements": entitlementsPage,
    "TravelHistory": travelHistoryPage,
    "ConsentNotice": consentNoticePage,
    "ConsentRequest": consentRequestPage,
    "RegionConfigurationError": regionConfigurationErrorPage,
    "RegionConfigurationErrorCode": regionConfigurationErrorCodePage,
    "StorageDamage": storageDamagePage,
    "StoredData": storedDataPage,
    "DeviceVariant": deviceVariantPage,
    "ENErrorCode": errorCodePage,
    "ENCalibrationConfidence": calibrationConfidencePage,
    "ENDiagnosisReportType": diagnosisReportTypePage,
    "ENInfectiousness": infectiousnessPage,
    "ENVariantOfConcernType": variantOfConcernTypePage,
    "ENExposureSummaryItem": exposureSummaryItemPage,
    "NSKeyValueObservation": keyValueObservationPage,
    "NSKeyValueObservingOptions": keyValueObservingOptionsPage,
    "NSKeyValueObservedChange": keyValueObservedChangePage,
    "NSKeyValueChange": keyValueChangePage,
  ]

  static func main() async throws {
    guard let name = CommandLine.arguments.dropFirst().first, let page = pages[name] else {
      return print(pages.keys.sorted().joined(separator: "\n"))
    }
    try await page()
  }
}
