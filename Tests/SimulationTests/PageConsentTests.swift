import ExposureKeys
import ExposureNotification
import Foundation
import Logging
import SealedStorage
import Simulation
import TestSupport
import Testing

@testable import Town

@Suite("Consent page") struct PageConsentTests {
  private let consent = PageConsent(randomness: SeededRandomness(seed: 7, name: "consent"))

  @Test("A phone's request appears on the page, and the user's answer reaches the phone")
  func onThePage() async throws {
    try await withPage { page in
      let folder = try TemporaryFolder()
      let enabling = Task { [device = device(in: folder)] in try await Self.switchOn(device) }
      let shown = try await page.waitForRequest()
      #expect(shown.text.contains("org.example.app asks to:"))
      #expect(shown.text.contains("Exchange random identifiers with phones nearby."))
      #expect(try await page.answer("yes", to: shown.id) == 303)
      #expect(try await enabling.value == .active)
      #expect(try await page.text.contains("No pending request."))
    }
  }

  @Test("A refusal on the page is returned to the phone, and a second click changes nothing")
  func no() async throws {
    try await withPage { page in
      let folder = try TemporaryFolder()
      let enabling = Task { [device = device(in: folder)] in try await Self.switchOn(device) }
      let shown = try await page.waitForRequest()
      #expect(try await page.answer("no", to: shown.id) == 303)
      #expect(try await page.answer("yes", to: shown.id) == 303)
      await #expect(throws: ENError(.notAuthorized)) { try await enabling.value }
    }
  }

  @Test("Another path returns 404, and an invalid answer is rejected with 400")
  func strangers() async throws {
    try await withPage { page in
      let asking = Task { try await consent.allows(.shareDiagnosisKeys, for: "<b>app</b>") }
      let shown = try await page.waitForRequest()
      #expect(shown.text.contains("&lt;b&gt;app&lt;/b&gt;"))
      let other = page.at("/consent/" + String(repeating: "0", count: 32))
      #expect(try await other.status == 404)
      #expect(try await other.answer("yes", to: shown.id) == 404)
      #expect(try await page.answer("perhaps", to: shown.id) == 400)
      #expect(try await page.answer("yes", to: "another") == 303)
      #expect(await consent.oldest?.id == shown.id)
      #expect(try await page.answer("yes", to: shown.id) == 303)
      #expect(try await asking.value)
    }
  }

  @Test("A request above the limit is rejected, and cancelled requests disappear from the page")
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
    #expect(await consent.oldest == nil)
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
      radio: SilentRadio(), consent: consent,
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

/// A radio that receives nothing.
private struct SilentRadio: Radio {
  var isPoweredOn: Bool { true }
  func advertise(_ advertisement: Advertisement) async {}
  func stopAdvertising() async {}
  func listen(_ receive: @escaping @Sendable (Scan) async -> Void) async {}
  func stopListening() async {}
}

/// A browser that does not follow redirects.
struct ConsentBrowser {
  let port: Int
  let path: String

  /// Loads the page until it shows a request, and returns the text and the request's ID.
  func waitForRequest() async throws -> (text: String, id: String) {
    for _ in 0..<500 {
      let text = try await text
      if let id = text.firstMatch(of: #/name="request" value="([0-9a-f]+)"/#) {
        return (text, String(id.1))
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw NoRequest()
  }

  var text: String { get async throws { try await send("GET").text } }

  var status: Int { get async throws { try await send("GET").status } }

  /// Submits an answer and returns the status.
  func answer(_ answer: String, to id: String) async throws -> Int {
    try await send(
      "POST", headers: [("content-type", "application/x-www-form-urlencoded")],
      body: Data("request=\(id)&answer=\(answer)".utf8)
    ).status
  }

  /// The same browser with another path.
  func at(_ path: String) -> ConsentBrowser { ConsentBrowser(port: port, path: path) }

  private struct NoRequest: Error {}

  private func send(
    _ method: String, headers: [(String, String)] = [], body: Data? = nil
  ) async throws -> LoopbackClient.Response {
    try await LoopbackClient.send(
      method, "http://127.0.0.1:\(port)\(path)", headers: headers, body: body)
  }
}
