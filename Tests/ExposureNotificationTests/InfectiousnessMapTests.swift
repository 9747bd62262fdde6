import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Framework.md 6.6.
@Suite struct InfectiousnessMapTests {
  let folder: TemporaryFolder
  let phone: TestPhone

  init() throws {
    folder = try TemporaryFolder()
    var phone = TestPhone(in: folder.url)
    phone.apiVersion = 2
    self.phone = phone
  }

  private func detect(_ manager: ENManager, _ map: [NSNumber: NSNumber]) async throws {
    _ = try await manager.detectAgain(Passenger.configuration(map))
  }

  @Test("A map changes once a week; the one used last goes on working; a restart lifts nothing")
  func weekly() async throws {
    let manager = try await phone.enabledManager()
    try await detect(manager, [0: 1])
    try await detect(manager, [0: 2])
    let error = await #expect(throws: ENError.self) { try await detect(manager, [0: 1]) }
    #expect(error?.code == .rateLimited)
    #expect(error?.localizedDescription.hasPrefix("infectiousnessForDays") == true)
    try await detect(manager, [0: 2])
    phone.clock.move(by: DeviceLimit.mapChangeSeconds - 1)
    let restarted = try await phone.enabledManager()
    await #expect(throws: ENError.self) { try await detect(restarted, [0: 1]) }
    phone.clock.move(by: 1)
    try await detect(restarted, [0: 1])
  }

  @Test("A refused map is not counted as a call, and a day of none is as good as absent")
  func notCounted() async throws {
    let manager = try await phone.enabledManager()
    try await detect(manager, [0: 1])
    try await detect(manager, [1: 1])
    for day in 2...12 {
      await #expect(throws: ENError.self) { try await detect(manager, [NSNumber(value: day): 1]) }
    }
    for _ in 3...DeviceLimit.detectionsPerDayVersion2 {
      try await detect(manager, [1: 1, 2: 0])
    }
    await #expect(throws: ENError(.rateLimited)) { try await detect(manager, [1: 1]) }
  }

  @Test("The test entitlement lets the map change at will")
  func entitled() async throws {
    var phone = phone
    phone.entitlements = [.exposureNotification, .test]
    let manager = try await phone.enabledManager()
    for day in 0..<5 { try await detect(manager, [NSNumber(value: day): 1]) }
  }
}
