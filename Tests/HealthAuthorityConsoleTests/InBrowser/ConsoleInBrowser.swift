// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import TestSupport
import Testing
import TextEncodings
import World

@testable import HealthAuthorityConsole

/// The console in Chromium. All tests use one browser, one after another.
@Suite("The console in a browser", .serialized, .needs(.browser), SharedBrowser())
enum ConsoleInBrowser {}

/// Runs one browser for all tests of a suite.
struct SharedBrowser: SuiteTrait, TestScoping {
  @TaskLocal static var current: Browser?

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await Browser.withRunning { browser in
      try await Self.$current.withValue(browser) { try await function() }
    }
  }
}

/// A browser at a running console.
struct ConsoleVisit {
  let console: RunningConsole
  let browser: Browser

  /// Runs a new console, and `test` with the browser of the suite, which has no cookies.
  ///
  /// - Parameter scripts: False for the flows that must work without scripts.
  static func run(
    scripts: Bool, authority: SimulatedAuthority = SimulatedAuthority(),
    configure: (inout ConsoleConfiguration) -> Void = { _ in },
    _ test: (ConsoleVisit) async throws -> Void
  ) async throws {
    let browser = try #require(SharedBrowser.current)
    let folder = try TemporaryFolder()
    try await RunningConsole.run(in: folder.url, authority: authority, configure: configure) {
      console async throws in
      try await browser.open("about:blank")
      try await browser.devTools("Network.clearBrowserCookies")
      try await browser.setScripts(areAllowed: scripts)
      try await browser.emulate(EmulatedDisplay())
      _ = try await browser.errorLog()
      try await test(ConsoleVisit(console: console, browser: browser))
    }
  }

  // MARK: - Pages

  /// The address of a page. Passkeys need the name of the host.
  func address(_ path: String) -> String { "http://localhost:\(console.port)\(path)" }

  func open(_ path: String) async throws { try await browser.open(address(path)) }

  /// Clicks an element that leads to another page, and waits for that page.
  func follow(_ selector: String) async throws {
    try await browser.script("document.documentElement.dataset.left = ''")
    try await browser.click(selector)
    try await browser.wait(
      until: "!('left' in document.documentElement.dataset) && document.readyState === 'complete'")
  }

  /// Waits for the page with a heading.
  func arrive(at heading: String) async throws {
    try await browser.wait(
      until: "document.querySelector('h1')?.innerText === a[0]", .string(heading))
  }

  /// The status of the response with the page.
  func status() async throws -> Int {
    try await browser.script(
      "return performance.getEntriesByType('navigation')[0].responseStatus"
    ).integer ?? 0
  }

  /// The message of a page that refuses something. There must be one, and a way to go on.
  func message() async throws -> String {
    let page = try await browser.script(
      """
      const all = selector => [...document.querySelectorAll(selector)];
      return {
        messages: all('#message, #fault').map(element => element.innerText),
        ways: all('main a.button, main form').length,
      };
      """)
    #expect(page["messages"].elements.count == 1 && page["ways"].integer ?? 0 > 0, "\(page)")
    return page["messages"].elements.first?.string ?? ""
  }

  // MARK: - Accounts

  /// Adds an account and signs in with the form.
  @discardableResult
  func signIn(
    _ role: Role, name: String, to path: String = "/"
  ) async throws -> ConsoleAdministration.Credentials {
    let credentials = try await console.administration.addAccount(name: name, role: role)
    try await signIn(credentials, to: path)
    return credentials
  }

  func signIn(_ credentials: ConsoleAdministration.Credentials, to path: String = "/") async throws
  {
    try await open(path)
    try await fill(name: credentials.name, password: credentials.password)
    try await browser.type(try code(of: credentials.codeSecret), into: "#code")
    try await follow("#sign-in")
    _ = try await browser.text("#signed-in")
  }

  func fill(name: String, password: String) async throws {
    try await browser.type(name, into: "#name")
    try await browser.type(password, into: "#password")
  }

  /// The next code of a code app. A code works once.
  func code(of secret: String) throws -> String {
    console.clock.advance(by: 30)
    let generator = try #require(CodeGenerator(typed: secret))
    return generator.code(step: CodeGenerator.step(at: console.clock.now.unixSecond))
  }

  /// Signs out and opens the sign-in again.
  func signOut() async throws {
    try await follow("#sign-out")
    try await follow("main a[href='/sign-in']")
    _ = try await browser.text("#sign-in")
  }
}
