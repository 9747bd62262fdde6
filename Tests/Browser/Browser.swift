// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import TextEncodings

/// A headless Chromium with one window, driven by WebDriver commands that chromedriver receives over HTTP.
///
/// `make prepare-tests` installs both. Functions that wait poll a condition as long as `Patience` allows.
public struct Browser: Sendable {
  /// The size of a new window in CSS pixels.
  public static let defaultSize = (width: 1280, height: 800)

  let connection: WebDriverConnection

  /// Runs a browser with an empty profile as long as `body` runs.
  ///
  /// - Parameters:
  ///   - language: The language of the browser, such as `pl`.
  ///   - marker: A text in the command line of its processes, to find them.
  ///   - camera: A video in the format YUV4MPEG2 that the camera shows again and again; nil for no camera.
  /// - Throws: The error of `body`, or `BrowserMissing` if the browser cannot run on this machine.
  public nonisolated(nonsending) static func withRunning<Value: Sendable>(
    language: String = "en", marker: String = "", camera: URL? = nil,
    body: nonisolated(nonsending) (Browser) async throws -> Value
  ) async throws -> Value {
    var attempt = 1
    while true {
      do {
        return try await runOnce(
          language: language, marker: marker, camera: camera, body: body)
      } catch is PortTaken where attempt < startsMax {
        attempt += 1
      }
    }
  }

  /// The number of attempts to start chromedriver. It listens on IPv4 and then on the same port of IPv6, which another
  /// process may have taken.
  private static let startsMax = 5

  private nonisolated(nonsending) static func runOnce<Value: Sendable>(
    language: String, marker: String, camera: URL?,
    body: nonisolated(nonsending) (Browser) async throws -> Value
  ) async throws -> Value {
    let profile = try TemporaryFolder()
    let environment = ProcessInfo.processInfo.environment.merging([
      "HOME": profile.url.path, "TMPDIR": profile.url.path, "LANGUAGE": language, "TZ": "UTC",
      // By default Chromium writes it beside its program.
      "CHROME_LOG_FILE": profile.path("chrome.log").path,
    ]) { $1 }
    return try await ChildProcess.withRunning(
      URL(fileURLWithPath: "/usr/bin/env"), ["chromedriver", "--port=0"], environment: environment
    ) { process in
      let driver = WebDriverConnection(address: "http://127.0.0.1:\(try await port(of: process))")
      let session: JSONValue
      do {
        session = try await driver.send(
          .POST, "/session",
          capabilities(
            profile: profile.url, language: language, marker: marker, camera: camera))
      } catch let error as WebDriverError {
        throw BrowserMissing(reason: error.description)
      }
      let id = session["sessionId"].string ?? ""
      let browser = Browser(
        connection: WebDriverConnection(address: "\(driver.address)/session/\(id)"))
      let result: Value
      do {
        result = try await body(browser)
      } catch {
        _ = try? await browser.connection.send(.DELETE, "")
        throw error
      }
      // An orderly end: what remains is killed with the process group.
      _ = try await browser.connection.send(.DELETE, "")
      return result
    }
  }

  /// The port that chromedriver reports on stdout.
  private nonisolated(nonsending) static func port(of process: ChildProcess) async throws -> Int {
    let end = ContinuousClock.now + .seconds(Patience.seconds)
    while ContinuousClock.now < end {
      let hasEnded = process.status != nil
      if let match = try process.output.firstMatch(of: /successfully on port (\d+)/),
        let port = Int(match.1)
      {
        return port
      }
      if hasEnded {
        let reason = try process.errors
        if reason.contains("Address already in use") { throw PortTaken() }
        throw BrowserMissing(reason: reason)
      }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw BrowserMissing(reason: "chromedriver reported no port within \(Patience.seconds) seconds")
  }

  private static func capabilities(
    profile: URL, language: String, marker: String, camera: URL?
  ) -> JSONValue {
    let arguments =
      [
        "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
        "--disable-crash-reporter", "--disable-component-update", "--disable-background-networking",
        "--no-first-run", "--hide-scrollbars", "--force-color-profile=srgb",
        "--lang=\(language)", "--accept-lang=\(language)",
        "--window-size=\(defaultSize.width),\(defaultSize.height)",
        "--user-data-dir=\(profile.appendingPathComponent("profile\(marker)").path)",
      ] + (camera.map(cameraArguments) ?? [])
    return [
      "capabilities": [
        "alwaysMatch": [
          "browserName": "chrome-headless-shell", "pageLoadStrategy": "normal",
          "unhandledPromptBehavior": "ignore",
          "timeouts": [
            "script": .number(Double(Patience.seconds) * 1_000),
            "pageLoad": .number(Double(Patience.seconds) * 1_000),
          ],
          "goog:chromeOptions": [
            "browserStartupTimeout": .number(Double(Patience.seconds) * 1_000),
            "binary": .string(BrowserScript.chromium.url.path),
            "args": .array(arguments.map(JSONValue.string)),
          ],
          "goog:loggingPrefs": ["browser": "ALL"],
        ]
      ]
    ]
  }

  /// The user's permission is given, so that a page can use the camera at once.
  private static func cameraArguments(_ video: URL) -> [String] {
    [
      "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
      "--use-file-for-fake-video-capture=\(video.path)",
    ]
  }
}

/// The port that chromedriver has chosen is taken.
private struct PortTaken: Error {}

/// The browser that a test needs could not be started.
public struct BrowserMissing: Error, CustomStringConvertible {
  let reason: String

  public var description: String {
    """
    The browser could not be started: run `make prepare-tests`, which installs the packages \
    chromium-headless-shell and chromium-driver. The reason: \(reason.split(separator: "\n").last ?? "none")
    """
  }
}

/// A condition that did not become true.
public struct BrowserTimeout: Error, CustomStringConvertible {
  let condition: String
  let address: String
  /// The start of the page's text.
  let page: String

  public var description: String { "\(condition) did not become true at \(address): \(page)" }
}
