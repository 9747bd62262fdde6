import Foundation

/// A screen of ProteGO Safe's web app with its parameters: message 69.
package struct PageRoute: Hashable, Sendable {
  /// The screens of the web app.
  package static let names: Set<String> = [
    "addTranslation", "currentRestrictions", "daily", "dailyData", "diagnosis", "home",
    "howItWorks", "iAmSick", "importantInformation", "InfoVaccinations", "labTest",
    "labTestResult", "menu", "historyActivities", "pinReceiver", "privacyPolicy",
    "privacyPolicyDetails", "recommendations", "regulations", "reportBug", "riskTest",
    "riskTestData", "settings", "settingsBluetooth", "settingsLanguages",
    "settingsNotifications", "statistics", "summaryRiskTest", "uploadHistoricalData",
    "userData", "userDataChange", "userDataSettings", "warningInEurope",
  ]

  /// Names that phones have used for screens of another name.
  private static let aliases = ["notificationsHistory": "historyActivities"]

  /// The name of the screen, which the web app knows.
  package let name: String
  /// The parameters, such as `pin`.
  package let parameters: [String: String]

  /// The screen `name`, also by an alias; `nil` if the web app has none.
  package init?(_ name: some StringProtocol, parameters: [String: String] = [:]) {
    let name = Self.aliases[String(name)] ?? String(name)
    guard Self.names.contains(name) else { return nil }
    self.name = name
    self.parameters = parameters
  }

  var push: BridgePush {
    BridgePush(
      MessageID.route,
      ["name": .string(name), "params": .object(parameters.mapValues(JSONValue.string))])
  }
}
