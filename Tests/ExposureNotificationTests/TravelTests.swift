// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ExposureNotification

@Suite struct TravelTests {
  /// A travel history that a test sets.
  final class History: TravelHistory {
    let state = Mutex<(hasLeft: Bool?, regions: [String], since: Date?)>((nil, [], nil))

    func set(_ hasLeft: Bool?) { state.withLock { $0.hasLeft = hasLeft } }

    /// The error of a history that cannot be read.
    struct Unreadable: Error {}
    let isUnreadable = Mutex(false)

    func hasLeft(_ region: String, since date: Date) async throws -> Bool? {
      if isUnreadable.withLock({ $0 }) { throw Unreadable() }
      return state.withLock {
        $0.regions.append(region)
        $0.since = date
        return $0.hasLeft
      }
    }
  }

  let folder: TemporaryFolder
  let phone: TestPhone
  let history = History()

  init() throws {
    folder = try TemporaryFolder()
    var phone = TestPhone(in: folder.url)
    phone.travel = history
    phone.region = RegionConfiguration(region: "PL", keys: [])
    self.phone = phone
  }

  @Test("The user is asked until they agree; then the travel history of 14 days is used")
  func consent() async throws {
    let manager = try await phone.enabledManager()
    history.set(true)
    phone.user.decides(false)
    for _ in 1...2 {
      await #expect(throws: ENError(.travelStatusNotAvailable)) {
        _ = try await manager.userTraveled()
      }
    }
    #expect(history.state.withLock { $0.regions.isEmpty })
    phone.user.decides(true)
    #expect(try await manager.userTraveled())
    history.set(false)
    #expect(try await !phone.enabledManager().userTraveled())
    #expect(phone.user.requests.filter { $0 == .showTravelStatus }.count == 3)
    #expect(history.state.withLock { $0.regions } == ["PL", "PL"])
    #expect(history.state.withLock { $0.since } == TestPhone.noon - 14 * TestPhone.day)
  }

  @Test("An error of the travel history becomes unknown, and only its type is logged")
  func failing() async throws {
    let manager = try await phone.enabledManager()
    history.isUnreadable.withLock { $0 = true }
    await #expect(throws: ENError(.unknown)) { _ = try await manager.userTraveled() }
    #expect(phone.log.errors == ["ENManager call failed: Unreadable"])
  }

  @Test("Without a known history the call fails with travelStatusNotAvailable")
  func unknown() async throws {
    let manager = try await phone.enabledManager()
    await #expect(throws: ENError(.travelStatusNotAvailable)) {
      _ = try await manager.userTraveled()
    }
    var other = phone
    other.travel = nil
    let withoutHistory = try await other.enabledManager()
    await #expect(throws: ENError(.travelStatusNotAvailable)) {
      _ = try await withoutHistory.userTraveled()
    }
  }
}
