/// Runs the snippet of one page of the framework's reference: `snippets ENManager`.
@main
@MainActor
enum Snippets {
  static let pages: [String: @MainActor () async throws -> Void] = [
    "ExposureNotification": exposureNotificationPage, "ENManager": managerPage,
    "ENExposureConfiguration": configurationPage, "ENExposureDetectionSummary": summaryPage,
    "ENExposureInfo": infoPage, "ENExposureWindow": windowPage, "ENScanInstance": scanPage,
    "ENExposureDaySummary": dayPage, "ENTemporaryExposureKey": keyPage, "ENError": errorPage,
    "ENStatus": statusPage, "ENAuthorizationStatus": authorizationPage, "Device": devicePage,
    "ConsentPrompt": promptPage, "RegionConfiguration": regionPage,
  ]

  static func main() async throws {
    guard let name = CommandLine.arguments.dropFirst().first, let page = pages[name] else {
      return print(pages.keys.sorted().joined(separator: "\n"))
    }
    try await page()
  }
}
