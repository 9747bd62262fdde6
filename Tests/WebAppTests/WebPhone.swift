// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing
import TextEncodings

/// A running phone that serves pages.
struct WebPhone {
  let process: ChildProcess
  /// The address on the first line of stdout, with the secret.
  let address: String

  var port: Int { URL(string: address)?.port ?? 0 }
  /// The address without the secret.
  var origin: String { "http://127.0.0.1:\(port)" }
}

extension PhoneFixture {
  /// A port for a phone that is started again: the kernel assigns no port below 32768 to other processes.
  static let ownPort = 20_000 + Int(ProcessInfo.processInfo.processIdentifier) % 12_000

  /// Runs the phone with `--web` while `body` runs.
  ///
  /// - Parameters:
  ///   - port: The port of the pages; 0 for a free one.
  ///   - pages: The folder of another web app.
  func serving<Value: Sendable>(
    port: Int = 0, pages: URL? = nil, clockOffset: Int = 0,
    _ body: nonisolated(nonsending) (WebPhone) async throws -> Value
  ) async throws -> Value {
    let options =
      ["--json", "--web", "\(port)"] + (pages.map { ["--pages", $0.path] } ?? [])
    return try await running(options, clockOffset: clockOffset) { process in
      let line = try await process.firstLine() ?? ""
      let ready = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      let address = try #require(ready?["web"] as? String, "\(line)")
      return try await body(WebPhone(process: process, address: address))
    }
  }
}

/// A phone and the servers of its health authority.
final class WebAppScene {
  let authority: ServedAuthority
  /// The network between the phone and the key server.
  let network: CuttableNetwork
  let phone: PhoneFixture
  /// Nil with the servers of the suite: a file would reach the phones of other tests.
  private let files: PublishedFiles?
  private let place: TemporaryFolder

  /// The servers of a phone.
  enum Servers {
    case own
    /// Those of `BrowserSuite`. The test cannot publish a key file, and sends no PIN and no key.
    case ofSuite
  }

  /// - Parameters:
  ///   - daysOfUse: The number of days for which the phone has been turned on; 0 for a new one.
  ///   - servers: The servers of the phone.
  init(daysOfUse: Int = 0, servers: Servers = .own) async throws {
    authority =
      switch servers {
      case .own: try await ServedAuthority.withoutExports()
      case .ofSuite: try #require(SharedAuthority.current)
      }
    place = try TemporaryFolder()
    files =
      switch servers {
      case .own: try PublishedFiles(of: authority.servers)
      case .ofSuite: nil
      }
    network = try CuttableNetwork(to: authority.keys)
    phone = try PhoneFixture(
      "phone", in: place.url,
      servers: ["verification": authority.verification, "keys": network.address],
      authority: authority.servers.data)
    guard daysOfUse > 0 else { return }
    // One run of a past day, so that there is a finished key.
    _ = try await phone.json("enable", clockOffset: -daysOfUse * 86_400)
  }

  /// Waits for the first check, after which the phone reports no change by itself.
  func settle(_ browser: Browser) async throws {
    #expect(try await phone.check().status == .done)
    try await browser.wait(
      until: "import('/app/store.js').then(m => m.store.state.lastCheck)")
  }

  /// The phone meets another one whose key is published afterwards: the next check finds an exposure of yesterday.
  func meetInfectedPhone() async throws {
    let files = try #require(files, "The test needs servers of its own.")
    let today = Int(Date().timeIntervalSince1970) / 86_400
    let start = today * 86_400
    let nearby = try NearbyPhone(on: Date(timeIntervalSince1970: Double(start - 86_400)))
    let heard = try await phone.ask(.hear(nearby.scans(7)))
    #expect(heard.status == .done, "\(heard.text)")
    let now = Int(Date().timeIntervalSince1970)
    try await files.publish(nearby.key, firstEnd: Int64(now - now % 14_400))
  }

  /// A PIN that no health authority has issued.
  static let wrongPIN = "ZZ99ZZ"
}

/// Runs servers for the tests of a suite that only need some.
struct SharedAuthority: SuiteTrait, TestScoping {
  @TaskLocal static var current: ServedAuthority?

  func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let authority = try await ServedAuthority.withoutExports()
    try await Self.$current.withValue(authority) { try await function() }
  }
}

extension Browser {
  /// Opens the web app and waits for a screen.
  func open(_ phone: WebPhone, at path: String = "/", expecting screen: String) async throws {
    try await open(phone.address)
    if path != "/" { try await script("location.hash = arguments[0]", .string(path)) }
    try await waitForScreen(screen)
  }

  /// Waits until a screen is complete.
  func waitForScreen(_ name: String) async throws {
    try await wait(
      until: "(m => m && m.dataset.screen === a[0] && !m.hasAttribute('aria-busy'))"
        + "(document.getElementById('main'))", .string(name))
  }

  /// Clicks a control of the screen.
  func act(_ action: String) async throws {
    try await click("main [data-action=\"\(action)\"]")
  }

  /// Clicks a control of the screen and waits for the screen to which it leads.
  func act(_ action: String, to screen: String) async throws {
    try await act(action)
    try await waitForScreen(screen)
  }

  /// Goes to a path of the web app without loading it again.
  func go(_ path: String, to screen: String) async throws {
    try await script("location.hash = arguments[0]", .string(path))
    try await waitForScreen(screen)
  }

  /// Presses the confirming button of the dialog.
  func confirm() async throws {
    try await click("[data-dialog] [data-action=confirm]")
    try await wait(until: "!document.querySelector('[data-dialog]')")
  }

  /// Chooses a value in a menu.
  func choose(_ value: String, in selector: String) async throws {
    try await click("\(selector) option[value=\"\(value)\"]")
  }

  /// Sends a message of the bridge without the page, and returns its answer.
  @discardableResult
  func message(_ type: Int, _ data: JSONValue = .null) async throws -> JSONValue {
    try await script(
      """
      const [type, data] = arguments;
      return fetch('/firebreak/messages', {
        method: 'POST', headers: { 'X-Firebreak-Bridge': '1', 'Content-Type': 'application/json' },
        body: JSON.stringify({
          type, data: data === null ? null : JSON.stringify(data), requestId: 'test-1',
        }),
      }).then(answer => answer.json()).then(answer => JSON.parse(answer.body || 'null'));
      """, .number(Double(type)), data)
  }

  /// Finishes the onboarding with consent, as a user does.
  func finishOnboarding() async throws {
    try await act("next", to: "how")
    try await act("next", to: "consent")
    try await act("agree", to: "ready")
    try await act("finish", to: "home")
  }
}
