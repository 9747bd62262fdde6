// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import Testing

/// Runs the patterns of exposure notification on a phone of their own.
@Suite("What apps write against ExposureNotification")
final class ExposurePatternTests {
  private let phone: TestDevice
  private let manager: ENManager

  init() throws {
    phone = try TestDevice()
    manager = phone.manager()
  }

  private func enable() async throws {
    try await manager.activate()
    try await manager.setExposureNotificationEnabled(true)
  }

  @Test("The system calls the handler that an app's own setLaunchActivityHandler sets")
  func ownFlags() async throws {
    var count = 0
    listen(to: manager) { count += 1 }
    try await manager.activate()
    phone.device.wakeApp(for: .preAuthorizedKeyReleaseNotificationTapped)
    phone.device.wakeApp(for: .periodicRun)
    manager.dispatchQueue.sync {}
    #expect(count == 1)
  }

  @Test("The system calls the framework's activityHandler")
  func frameworkFlags() async throws {
    var flags: [UInt32] = []
    listenWithFramework(to: manager) { flags.append($0) }
    try await manager.activate()
    for flag: ExposureNotification.ENActivityFlags in [.periodicRun, .reserved1] {
      phone.device.wakeApp(for: flag)
    }
    phone.device.wakeApp(for: .preAuthorizedKeyReleaseNotificationTapped)
    manager.dispatchQueue.sync {}
    #expect(flags == [4, 8])
  }

  @Test("Keys are released by the consent in advance, otherwise the user is asked")
  func keysInAdvance() async throws {
    try await enable()
    let upload = KeyUpload(manager)
    for hasConsent in [false, true] {
      if hasConsent {
        let error = await withCheckedContinuation { done in
          upload.consent { done.resume(returning: $0) }
        }
        #expect(error == nil)
      }
      let keys: Int? = await withCheckedContinuation { done in
        upload.release { keys, _ in done.resume(returning: keys?.count) }
      }
      #expect(keys != nil)
    }
  }

  @Test(
    "The travel status is that of the phone, and unknown without a history",
    arguments: [true, false])
  func travel(_ hasHistory: Bool) async throws {
    let phone = try TestDevice(hasTraveled: hasHistory)
    let manager = phone.manager()
    try await manager.activate()
    try await manager.setExposureNotificationEnabled(true)
    let status = await withCheckedContinuation { done in
      travelStatus(of: manager) { done.resume(returning: $0) }
    }
    #expect(status == (hasHistory ? true : nil))
  }

  @Test("The status is observed from the beginning")
  func status() async throws {
    let model = StatusModel()
    model.observe(manager)
    try await enable()
    manager.dispatchQueue.sync {}
    #expect(model.statuses.first == .unknown && model.statuses.last == .active)
    #expect(model.isEnabled)
  }

  @Test("An error has the values that were passed to it, and fits into a pointer")
  func errors() {
    let error = ENError(.badFormat, userInfo: [NSLocalizedFailureReasonErrorKey: "signature"])
    var bridged: NSError?
    #expect(describe(error, out: &bridged) == "ENErrorDomain 15: signature")
    #expect(bridged?.domain == ENErrorDomain && bridged?.code == 15)
    #expect(describe(ENError(.rateLimited)).contains("Called too often"))
    #expect(ENError(.rateLimited).userInfo.isEmpty)
  }

  @Test("A manager works behind a protocol of an app that needs Foundation")
  func protocols() async {
    let checking: ExposureChecking = manager
    let code: ENError.Code? = await withCheckedContinuation { done in
      _ = checking.detectExposures(
        configuration: ENExposureConfiguration(), diagnosisKeyURLs: []
      ) { _, error in done.resume(returning: (error as? ENError)?.code) }
    }
    #expect(code == .apiMisuse)
    #expect(
      ENExposureWindow().days(before: ENExposureWindow().date.addingTimeInterval(90_000)) == 1)
  }
}
