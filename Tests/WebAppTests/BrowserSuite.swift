// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import TestSupport
import Testing
import TextEncodings

/// The browser tests of the web app and of the browser itself. They run one after another: many browsers at once would
/// slow each other down.
@Suite(.serialized, .needs(.browser), SharedAuthority())
enum BrowserSuite {
  @Suite("The browser of the tests")
  struct BrowserTests {}

  @Suite("The accessibility checks of the tests")
  struct PageChecksTests {}
}

/// The browser tests of the demo's report, of the town, of a class and of QR codes. They run one after another, beside
/// the tests of `BrowserSuite`, which take about as long.
@Suite(.serialized, .needs(.browser))
enum DemonstrationSuite {}

extension BrowserSuite.BrowserTests {
  @Test("Clicks, typed text and keys reach the page, which is polled for their effect")
  func commands() async throws {
    let page = try TestPage(
      """
      <h1>One</h1><label>Name <input id="name"></label><button id="go" disabled>Go</button>
      <p id="result"></p><script>
      setTimeout(() => { go.disabled = false }, 50);
      const answer = () => { result.textContent = 'Hello ' + document.querySelector('input').value };
      go.onclick = () => setTimeout(answer, 50);
      </script>
      """)
    try await Browser.withRunning { browser in
      try await browser.open(page.address)
      #expect(try await browser.title() == "Test")
      try await browser.type("Ala", into: "#name")
      try await browser.press(.tab)
      try await browser.click("#go")
      try await browser.wait(until: "result.textContent === a[0]", "Hello Ala")
      #expect(try await browser.text("#result") == "Hello Ala")
      #expect(try await browser.count("button") == 1)
      try await browser.press(.tab, holding: [.shift])
      #expect(try await browser.script("return document.activeElement.id") == "name")
      #expect(try await browser.screenshot().starts(with: [0x89, 0x50, 0x4E, 0x47]))
    }
  }

  @Test("Colors, width and network are emulated without loading the page again")
  func emulation() async throws {
    let page = try TestPage("<h1>One</h1>")
    try await Browser.withRunning { browser in
      try await browser.open(page.address)
      let display = """
        return [matchMedia('(prefers-color-scheme: dark)').matches,
          matchMedia('(forced-colors: active)').matches, innerWidth, navigator.onLine]
        """
      #expect(try await browser.script(display) == [false, false, 1280, true])
      try await browser.emulate(EmulatedDisplay(colors: .dark, width: 320))
      #expect(try await browser.script(display) == [true, false, 320, true])
      try await browser.emulate(EmulatedDisplay(colors: .forced))
      try await browser.setOffline(true)
      #expect(try await browser.script(display) == [true, true, 1280, false])
    }
  }

  @Test("The accessibility tree has roles, names, states and nesting, and no repeated text")
  func tree() async throws {
    let page = try TestPage(
      """
      <main><h1>One</h1><p>Some <b>text</b></p><ul><li>First</li></ul>
      <label><input type="checkbox" checked> Share</label>
      <button aria-expanded="false" disabled>More</button><div hidden>Hidden</div></main>
      """)
    try await Browser.withRunning { browser in
      try await browser.open(page.address)
      let text = try await browser.accessibilityTree().text
      #expect(
        text == """
          document "Test"
            main
              heading "One" level=1
              paragraph
                text "Some"
                text "text"
              list
                listitem
                  text "First"
              checkbox "Share" checked
              button "More" disabled

          """, "\(text)")
    }
  }

  @Test("No process of a browser outlives its test, also if the test fails")
  func leftovers() async throws {
    struct TestFailure: Error {}
    let marker = "firebreak-browser-\(UUID().uuidString)"
    var running: Set<Int32> = []
    await #expect(throws: TestFailure.self) {
      try await Browser.withRunning(marker: marker) { _ in
        running = try processes(with: marker)
        throw TestFailure()
      }
    }
    #expect(running.count > 1)
    try await Patience.until { !running.contains(where: isRunning) }
    for process in running { #expect(!isRunning(process)) }
  }

  /// False for a process that has ended and was not reaped yet.
  private func isRunning(_ process: Int32) -> Bool {
    FileManager.default.contents(atPath: "/proc/\(process)/cmdline")?.isEmpty == false
  }

  /// The processes whose command line has `marker`, and those that they have started.
  private func processes(with marker: String) throws -> Set<Int32> {
    let all = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }
    let lines = all.map { ($0, FileManager.default.contents(atPath: "/proc/\($0)/cmdline")) }
    var found = Set(
      lines.filter { $0.1.map { String(decoding: $0, as: UTF8.self).contains(marker) } == true }
        .map(\.0))
    var count = 0
    while count < found.count {
      count = found.count
      found.formUnion(all.filter { parent(of: $0).map(found.contains) == true })
    }
    return found
  }

  private func parent(of process: Int32) -> Int32? {
    // A process that has just ended has no file, and no parent.
    let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    return (status?.firstMatch(of: /PPid:\s+(\d+)/)?.1).flatMap { Int32($0) }
  }
}
