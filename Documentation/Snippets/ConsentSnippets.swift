// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

@MainActor
func promptPage() async throws {
  // Page: ConsentPrompt
  struct CarefulUser: ConsentPrompt {
    func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool {
      request == .enableExposureNotification
    }
  }
  print(await CarefulUser().allows(.shareDiagnosisKeys, for: "org.example.app"))
  // End of page.
}

@MainActor
func consentRequestPage() async throws {
  // Page: ConsentRequest
  let request = ConsentRequest.showExposureInfo(explanation: "To show your exposures.")
  if case .showExposureInfo(let explanation) = request {
    print(explanation)
  }
  // End of page.
}

@MainActor
func consentNoticePage() async throws {
  // Page: ConsentNotice
  struct Listener: ConsentPrompt {
    func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool { true }
    func tell(_ notice: ConsentNotice, for bundleIdentifier: String) async {
      print(bundleIdentifier, notice)
    }
  }
  await Listener().tell(.preAuthorizedKeysReleased, for: "org.example.app")
  // End of page.
}

@MainActor
func keyPage() async throws {
  let phone = try await SamplePhone(apiVersion: 2)
  let manager = phone.manager
  // Page: ENTemporaryExposureKey
  for key in try await manager.diagnosisKeys() {
    key.transmissionRiskLevel = 5
    print(key.keyData.count, "bytes for", key.rollingPeriod, "intervals")
  }
  // End of page.
}

@MainActor
func preAuthorizedKeysPage() async throws {
  let phone = try await SamplePhone(apiVersion: 2)
  let manager = phone.manager
  // Page: PreAuthorizedKeys
  try await manager.preAuthorizeDiagnosisKeys()
  manager.diagnosisKeysAvailableHandler = { keys in
    print(keys.count, "key to upload")
  }
  try await manager.requestPreAuthorizedDiagnosisKeys()
  // End of page.
  await drained(manager)
}

@MainActor
func entitlementsPage() async throws {
  // Page: Entitlements
  Device.install(try await .simulated(entitlements: [.exposureNotification, .test]))
  let manager = ENManager()
  try await manager.activate()
  try await manager.setExposureNotificationEnabled(true)
  for key in try await manager.testDiagnosisKeys() {
    print("today's key, for", key.rollingPeriod, "intervals")
  }
  // End of page.
}

@MainActor
func travelPage() async throws {
  let manager = try await SamplePhone().manager
  // Page: Travel
  do {
    print(try await manager.userTraveled())
  } catch ENError.travelStatusNotAvailable {
    print("not known")
  }
  // End of page.
}

@MainActor
func travelHistoryPage() async throws {
  // Page: TravelHistory
  struct Itinerary: TravelHistory {
    func hasLeft(_ region: String, since date: Date) async -> Bool? { region == "PL" }
  }
  Device.install(try await .simulated(isEnabled: true, travel: Itinerary()))
  let manager = ENManager()
  try await manager.activate()
  print(try await manager.userTraveled())
  // End of page.
}
