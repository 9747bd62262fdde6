import ExposureKeys
import ExposureNotification
import Foundation
import Logging
import SealedStorage
import Simulation
import TestSupport
import Testing

@testable import Town

@Suite struct PageConsentTests {
  private let consent = PageConsent(randomness: SeededRandomness(seed: 7, name: "consent"))

  @Test("A phone asks on a web page, and does what the person answers there")
  func onThePage() async throws {
    try await withPage { page in
      let folder = try TemporaryFolder()
      let enabling = Task { [device = device(in: folder)] in try await Self.switchOn(device) }
      let asked = try await page.untilAsked()
      #expect(asked.text.contains("org.example.app asks to:"))
      #expect(asked.text.contains("Exchange random identifiers with phones nearby."))
      #expect(try await page.answer("yes", to: asked.id) == 303)
      #expect(try await enabling.value == .active)
      #expect(try await page.text.contains("Nothing is asked."))
    }
  }

  @Test("A no on the page is the person's no; a second click changes nothing")
  func no() async throws {
    try await withPage { page in
      let folder = try TemporaryFolder()
      let enabling = Task { [device = device(in: folder)] in try await Self.switchOn(device) }
      let asked = try await page.untilAsked()
      #expect(try await page.answer("no", to: asked.id) == 303)
      #expect(try await page.answer("yes", to: asked.id) == 303)
      await #expect(throws: ENError(.notAuthorized)) { try await enabling.value }
    }
  }

  @Test("Whoever does not know the path sees nothing and can answer nothing; nonsense is refused")
  func strangers() async throws {
    try await withPage { page in
      let asking = Task { try await consent.allows(.shareDiagnosisKeys, for: "<b>app</b>") }
      let asked = try await page.untilAsked()
      #expect(asked.text.contains("&lt;b&gt;app&lt;/b&gt;"))
      let stranger = page.elsewhere("/consent/" + String(repeating: "0", count: 32))
      #expect(try await stranger.status == 404)
      #expect(try await stranger.answer("yes", to: asked.id) == 404)
      #expect(try await page.answer("perhaps", to: asked.id) == 400)
      #expect(try await page.answer("yes", to: "another") == 303)
      #expect(await consent.question?.id == asked.id)
      #expect(try await page.answer("yes", to: asked.id) == 303)
      #expect(try await asking.value)
    }
  }

  @Test("As many questions as the limit wait; one more is not put, and a cancelled one goes away")
  func limit() async throws {
    let waiting = (0..<PageConsent.waitingMax).map { _ in
      Task { try await consent.allows(.showTravelStatus, for: "org.example.app") }
    }
    while await consent.waitingCount < PageConsent.waitingMax { await Task.yield() }
    await #expect(throws: PageConsentError.self) {
      try await consent.allows(.showTravelStatus, for: "org.example.app")
    }
    for task in waiting { task.cancel() }
    for task in waiting {
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    #expect(await consent.question == nil)
  }

  private static func switchOn(_ device: Device) async throws -> ENStatus {
    let manager = ENManager(device: device)
    try await manager.activate()
    try await manager.setExposureNotificationEnabled(true)
    return manager.exposureNotificationStatus
  }

  private func device(in folder: TemporaryFolder) -> Device {
    let randomness = SeededRandomness(seed: 8, name: "phone")
    return Device(
      radio: StillRadio(), consent: consent,
      clock: SimulatedClock(now: Date(timeIntervalSince1970: 1_772_409_600)),
      randomness: randomness, folder: folder.path("phone"),
      sealingKey: SealingKey(from: randomness), region: RegionConfiguration(region: "PL", keys: []),
      bundleIdentifier: "org.example.app")
  }

  private func withPage(_ body: (ConsentBrowser) async throws -> Void) async throws {
    let server = try PageConsentServer(consent, logger: Logger(label: "test"))
    let running = Task { try await server.run() }
    defer { running.cancel() }
    let port = await server.boundPort
    try await body(ConsentBrowser(port: port, path: consent.path))
  }
}

/// A radio that is on and hears nobody.
private struct StillRadio: Radio {
  var isPoweredOn: Bool { true }
  func advertise(_ advertisement: Advertisement) async {}
  func stopAdvertising() async {}
  func listen(_ receive: @escaping @Sendable ([Sighting]) async -> Void) async {}
  func stopListening() async {}
}
