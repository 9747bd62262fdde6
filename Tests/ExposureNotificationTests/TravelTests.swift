import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Framework.md 5.7.
@Suite struct TravelTests {
  /// A phone's history that a test writes.
  final class History: TravelHistory {
    let state = Mutex<(answer: Bool?, asked: [String], since: Date?)>((nil, [], nil))

    func says(_ answer: Bool?) { state.withLock { $0.answer = answer } }

    /// The file of the history does not open.
    struct Unreadable: Error {}
    let isUnreadable = Mutex(false)

    func hasLeft(_ region: String, since date: Date) async throws -> Bool? {
      if isUnreadable.withLock({ $0 }) { throw Unreadable() }
      return state.withLock {
        $0.asked.append(region)
        $0.since = date
        return $0.answer
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

  @Test("The person is asked until there is a yes; then the phone's history answers, for 14 days")
  func asked() async throws {
    let manager = try await phone.enabledManager()
    history.says(true)
    phone.person.says(false)
    for _ in 1...2 {
      await #expect(throws: ENError(.travelStatusNotAvailable)) {
        _ = try await manager.userTraveled()
      }
    }
    #expect(history.state.withLock { $0.asked.isEmpty })
    phone.person.says(true)
    #expect(try await manager.userTraveled())
    history.says(false)
    #expect(try await !phone.enabledManager().userTraveled())
    #expect(phone.person.asked.filter { $0 == .showTravelStatus }.count == 3)
    #expect(history.state.withLock { $0.asked } == ["PL", "PL"])
    #expect(history.state.withLock { $0.since } == TestPhone.noon - 14 * TestPhone.day)
  }

  @Test("A history that fails by itself is an error that nobody knows, in the log by its kind")
  func failing() async throws {
    let manager = try await phone.enabledManager()
    history.isUnreadable.withLock { $0 = true }
    await #expect(throws: ENError(.unknown)) { _ = try await manager.userTraveled() }
    #expect(phone.log.errors == ["a call failed: Unreadable"])
  }

  @Test("A phone that does not know, or has no history, says that it does not know")
  func unknown() async throws {
    let manager = try await phone.enabledManager()
    await #expect(throws: ENError(.travelStatusNotAvailable)) {
      _ = try await manager.userTraveled()
    }
    var other = phone
    other.travel = nil
    let ignorant = try await other.enabledManager()
    await #expect(throws: ENError(.travelStatusNotAvailable)) {
      _ = try await ignorant.userTraveled()
    }
  }
}
