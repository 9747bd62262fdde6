import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Framework.md 1.7.
@Suite struct WakingTests {
  let folder: TemporaryFolder
  let phone: TestPhone

  init() throws {
    folder = try TemporaryFolder()
    phone = TestPhone(in: folder.url)
  }

  final class Heard: Sendable {
    let flags = Mutex<[ENActivityFlags]>([])
  }

  @Test(
    "Why the app was woken waits for its manager, and later reasons come at once, until the end")
  func woken() async throws {
    let device = phone.device()
    device.wakeApp(for: .periodicRun)
    let manager = phone.manager(of: device)
    let queue = manager.dispatchQueue
    let heard = Heard()
    manager.setLaunchActivityHandler { flags in heard.flags.withLock { $0.append(flags) } }
    #expect(heard.flags.withLock { $0.isEmpty })
    try await manager.activate()
    device.wakeApp(for: .preAuthorizedKeyReleaseNotificationTapped)
    queue.sync {}
    let expected: [ENActivityFlags] = [.periodicRun, .preAuthorizedKeyReleaseNotificationTapped]
    #expect(heard.flags.withLock { $0 } == expected)
    manager.invalidate()
    device.wakeApp(for: .periodicRun)
    queue.sync {}
    #expect(heard.flags.withLock { $0 } == expected)
    #expect(manager.activityHandler == nil)
  }

  @Test("A manager without a handler, or one that was let go, takes no reason away from the next")
  func nobodyListens() async throws {
    let device = phone.device()
    do {
      let gone = phone.manager(of: device)
      gone.activityHandler = { _ in Issue.record("let go") }
      try await gone.activate()
    }
    try await phone.manager(of: device).activate()
    device.wakeApp(for: .periodicRun)
    let manager = phone.manager(of: device)
    let heard = Heard()
    manager.activityHandler = { flags in heard.flags.withLock { $0.append(flags) } }
    try await manager.activate()
    manager.dispatchQueue.sync {}
    #expect(heard.flags.withLock { $0 } == [.periodicRun])
  }

  @Test("A handler may be stored under its key, as flags or as a number")
  func keyValueCoding() throws {
    let manager = phone.manager()
    let heard = Heard()
    let flags: ENActivityHandler = { flags in heard.flags.withLock { $0.append(flags) } }
    let number: (UInt32) -> Void = { raw in flags(ENActivityFlags(rawValue: raw)) }
    for handler: Any in [flags, number] {
      manager.setValue(handler, forKey: "activityHandler")
      manager.activityHandler?(.periodicRun)
    }
    #expect(heard.flags.withLock { $0 } == [.periodicRun, .periodicRun])
    manager.setValue(nil, forKey: "another")
    #expect(manager.activityHandler != nil)
    manager.setValue(nil, forKey: "activityHandler")
    #expect(manager.activityHandler == nil)
  }
}
