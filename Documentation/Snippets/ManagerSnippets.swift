// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

@MainActor
func exposureNotificationPage() async throws {
  _ = try await SamplePhone(isEnabled: false)
  // Page: ExposureNotification
  let manager = ENManager()
  try await manager.activate()
  try await manager.setExposureNotificationEnabled(true)
  print(manager.exposureNotificationStatus)
  // End of page.
}

@MainActor
func managerPage() async throws {
  let phone = try await SamplePhone()
  let manager = phone.manager
  let keyFiles = try await phone.meetDiagnosedUser()
  // Page: ENManager
  let configuration = ENExposureConfiguration()
  await withCheckedContinuation { done in
    manager.detectExposures(configuration: configuration, diagnosisKeyURLs: keyFiles) {
      summary, error in
      print(
        summary?.matchedKeyCount ?? 0, "matching key,", summary?.daysSinceLastExposure ?? 0,
        "days ago")
      done.resume()
    }
  }
  // End of page.
}

@MainActor
func endingAManagerPage() async throws {
  let manager = try await SamplePhone().manager
  // Page: EndingAManager
  await withCheckedContinuation { done in
    manager.invalidationHandler = {
      print("ended")
      done.resume()
    }
    manager.invalidate()
  }
  do {
    try await manager.activate()
  } catch ENError.invalidated {
    print("create a new manager")
  }
  // End of page.
}

@MainActor
func statusPage() async throws {
  let manager = try await SamplePhone().manager
  // Page: ENStatus
  try await manager.setExposureNotificationEnabled(false)
  switch manager.exposureNotificationStatus {
  case .active: print("on")
  case .disabled: print("turned off in the app")
  case let other: print("not now: \(other)")
  }
  // End of page.
}

@MainActor
func authorizationPage() async throws {
  let phone = try await SamplePhone(isEnabled: false)
  let manager = phone.manager
  // Page: ENAuthorizationStatus
  print("before:", ENManager.authorizationStatus)
  try await manager.activate()
  try await manager.setExposureNotificationEnabled(true)
  print("after:", ENManager.authorizationStatus)
  // End of page.
}

@MainActor
func activityFlagsPage() async throws {
  let phone = try await SamplePhone(isEnabled: false)
  let (manager, device) = (phone.manager, phone.device)
  // Page: ENActivityFlags
  manager.activityHandler = { flags in
    if flags.contains(.periodicRun) { print("check for new key files now") }
  }
  try await manager.activate()
  device.wakeApp(for: .periodicRun)
  // End of page.
  await drained(manager)
}

@MainActor
func errorPage() async throws {
  let manager = try await SamplePhone(user: DecliningUser(), isEnabled: false).manager
  try await manager.activate()
  // Page: ENError
  do {
    try await manager.setExposureNotificationEnabled(true)
  } catch ENError.notAuthorized {
    print("The user declined; ask them to check the settings.")
  }
  // End of page.
}

@MainActor
func errorCodePage() async throws {
  // Page: ENErrorCode
  let error: any Error = ENError(.rateLimited)
  switch (error as? ENError)?.code {
  case .rateLimited: print("wait until tomorrow")
  case let other: print("error \(other?.rawValue ?? 0)")
  }
  // End of page.
}
