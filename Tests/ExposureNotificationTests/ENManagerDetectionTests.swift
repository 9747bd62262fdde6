// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

@Suite struct ENManagerDetectionTests {
  let folder: TemporaryFolder
  let authority: Authority
  var phone: TestPhone

  init() throws {
    folder = try TemporaryFolder()
    authority = try Authority()
    phone = TestPhone(in: folder.url)
    phone.region = RegionConfiguration(region: "PL", keys: try authority.verificationKeys)
  }

  /// A phone that met an unknown user for half an hour yesterday, and the file with that user's key.
  private func afterAMeeting(_ phone: TestPhone) async throws -> (ENManager, URL) {
    let manager = try await phone.enabledManager()
    let key = try key(1)
    let schedule = KeySchedule(key)
    for minute in stride(from: 0.0, through: 30, by: 5) {
      let time = phone.clock.now + minute * 60
      let identifier = schedule.identifier(at: try #require(IntervalNumber(time)))
      let metadata = schedule.seal(BluetoothMetadata(transmitPower: 8), beside: identifier)
      await phone.radio.receive([
        Sighting(
          advertisement: Advertisement(identifier: identifier, metadata: metadata), time: time,
          signalStrength: -40)
      ])
    }
    phone.clock.advance(by: TestPhone.day)
    return (manager, try publish([key], as: "meeting.zip"))
  }

  private func key(_ number: UInt32) throws -> TemporaryExposureKey {
    let bytes = withUnsafeBytes(of: number.bigEndian, Array.init)
    let start = try #require(IntervalNumber(TestPhone.noon)).startOfDay
    return try #require(
      TemporaryExposureKey(bytes: Array(repeating: 7, count: 12) + bytes, rollingStart: start))
  }

  private func publish(_ keys: [TemporaryExposureKey], as name: String) throws -> URL {
    let diagnosed = keys.compactMap {
      DiagnosisKey(
        key: $0, transmissionRiskLevel: 7, reportType: .confirmedTest,
        daysSinceOnsetOfSymptoms: 0)
    }
    return try authority.publish(diagnosed, as: name)
  }

  @Test("Version 1: a meeting results in one exposure, shown after the app's explanation")
  func exposureInfo() async throws {
    let (manager, file) = try await afterAMeeting(phone)
    let summary = try await manager.detect([file])
    #expect(summary.matchedKeyCount == 1)
    #expect(summary.daysSinceLastExposure == 1)
    let infos = try await manager.info(of: summary, explanation: "You had an exposure.")
    #expect(infos.count == 1)
    #expect(infos.first.map { $0.duration > 1200 && $0.totalRiskScore > 0 } == true)
    #expect(phone.user.requests.last == .showExposureInfo(explanation: "You had an exposure."))
    await #expect(throws: ENError(.unsupported)) { _ = try await manager.windows(of: summary) }
    phone.user.decides(false)
    await #expect(throws: ENError(.notAuthorized)) {
      _ = try await manager.info(of: summary, explanation: "You had an exposure.")
    }
  }

  @Test("Version 2: a meeting results in exposure windows and no exposure infos")
  func exposureWindows() async throws {
    var phone = phone
    phone.apiVersion = 2
    let (manager, file) = try await afterAMeeting(phone)
    let configuration = ENExposureConfiguration()
    configuration.infectiousnessForDaysSinceOnsetOfSymptoms = [0: 1]
    let summary = try await manager.detect([file], configuration)
    #expect(summary.matchedKeyCount == 1)
    #expect(try await !manager.windows(of: summary).isEmpty)
    await #expect(throws: ENError(.unsupported)) {
      _ = try await manager.info(of: summary, explanation: "")
    }
  }

  @Test("Without files nothing matches, and the summary of an earlier detection is rejected")
  func otherSummary() async throws {
    let (manager, file) = try await afterAMeeting(phone)
    let first = try await manager.detect([file])
    let second = try await manager.detect([])
    #expect(second.matchedKeyCount == 0)
    #expect(try await manager.info(of: second, explanation: "").isEmpty)
    let error = await #expect(throws: ENError.self) {
      _ = try await manager.info(of: first, explanation: "")
    }
    #expect(error?.code == .badParameter)
  }

  @Test("A truncated file or one of another authority is rejected, and a valid one works later")
  func badFormat() async throws {
    let (manager, file) = try await afterAMeeting(phone)
    let content = try Data(contentsOf: file)
    let cut = folder.path("cut.zip")
    try content.dropLast(content.count / 2).write(to: cut)
    let stranger = try Authority()
    for bad in [cut, try stranger.publish([], as: "foreign.zip")] {
      let error = await #expect(throws: ENError.self) { _ = try await manager.detect([file, bad]) }
      #expect(error?.code == .badFormat)
    }
    #expect(try await manager.detect([file]).matchedKeyCount == 1)
  }

  @Test("Calls with invalid parameters are not counted, and the sixteenth valid call is rejected")
  func rateLimited() async throws {
    let manager = try await phone.enabledManager()
    let bad = ENExposureConfiguration()
    bad.attenuationLevelValues = [9]
    for _ in 0..<DeviceLimit.detectionsPerDayVersion1 {
      _ = try await manager.detect([])
      let error = await #expect(throws: ENError.self) { _ = try await manager.detect([], bad) }
      #expect(error?.code == .badParameter)
    }
    await #expect(throws: ENError(.rateLimited)) { _ = try await manager.detect([]) }
    let restarted = try await phone.enabledManager()
    await #expect(throws: ENError(.rateLimited)) { _ = try await restarted.detect([]) }
    phone.clock.advance(by: TestPhone.day)
    _ = try await restarted.detect([])
  }

  @Test("Version 2 allows six calls, and removing all data does not lift the limit")
  func rateLimitedVersion2() async throws {
    var phone = phone
    phone.apiVersion = 2
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    let configuration = ENExposureConfiguration()
    configuration.infectiousnessForDaysSinceOnsetOfSymptoms = [0: 1]
    for _ in 0..<DeviceLimit.detectionsPerDayVersion2 {
      _ = try await manager.detect([], configuration)
    }
    try await device.removeAllData()
    await #expect(throws: ENError(.rateLimited)) {
      _ = try await manager.detect([], configuration)
    }
  }

  @Test("A device that is turned off or not authorized runs no detection")
  func notEnabled() async throws {
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    try await manager.setExposureNotificationEnabled(false)
    await #expect(throws: ENError(.notEnabled)) { _ = try await manager.detect([]) }
    try await device.setAuthorizedInSettings(false)
    await #expect(throws: ENError(.notAuthorized)) { _ = try await manager.detect([]) }
    #expect(!folder.files().map(\.lastPathComponent).contains("detections"))
  }

  @Test("A cancelled detection stops, fails with userCancelled and stores nothing")
  func cancelled() async throws {
    let (manager, file) = try await afterAMeeting(phone)
    let before = try await manager.detect([file])
    let many = try publish(try (2...12_000).map(key), as: "many.zip")
    let (end, progress) = manager.beginDetection(
      [file, many], progress: CancelledProgress(afterFiles: 1))
    await #expect(throws: CocoaError(.userCancelled)) { _ = try await end() }
    #expect(progress.completedUnitCount == 1)
    #expect(try await manager.info(of: before, explanation: "").count == 1)
    #expect(try await manager.detect([file]).matchedKeyCount == 1)
  }

  /// A progress that is cancelled when `count` files are completed, before the detection goes on.
  private final class CancelledProgress: Progress, @unchecked Sendable {
    private let count: Int64

    init(afterFiles count: Int64) {
      self.count = count
      super.init(parent: nil, userInfo: nil)
    }

    override var completedUnitCount: Int64 {
      get { super.completedUnitCount }
      set {
        super.completedUnitCount = newValue
        if newValue == count { cancel() }
      }
    }
  }

  @Test("Invalidation cancels a running detection")
  func invalidated() async throws {
    let (manager, file) = try await afterAMeeting(phone)
    let many = try publish(try (2...12_000).map(key), as: "many.zip")
    let (end, progress) = manager.beginDetection([file, many])
    manager.invalidate()
    await #expect(throws: CocoaError(.userCancelled)) { _ = try await end() }
    #expect(progress.isCancelled)
  }

  @Test("No result of a detection is written to the disk")
  func nothingWritten() async throws {
    let (manager, file) = try await afterAMeeting(phone)
    let before = Set(folder.files())
    _ = try await manager.detect([file])
    #expect(Set(folder.files()).subtracting(before).map(\.lastPathComponent) == ["detections"])
    let detections = try Data(contentsOf: folder.path("detections"))
    #expect(detections.range(of: Data("calls".utf8)) == nil)
  }
}
