// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import TextEncodings

extension Browser {
  /// A key that `press` knows by its WebDriver code.
  public enum Key: String, Sendable {
    case tab = "\u{E004}"
    case shift = "\u{E008}"
    case enter = "\u{E007}"
    case escape = "\u{E00C}"
    case space = " "
    case arrowDown = "\u{E015}"
    case arrowUp = "\u{E013}"
    case arrowRight = "\u{E014}"
    case arrowLeft = "\u{E012}"
  }

  // MARK: - Navigation

  /// Loads an address and waits for the `load` event.
  public func open(_ address: String) async throws {
    _ = try await connection.send(.POST, "/url", ["url": .string(address)])
  }

  public func reload() async throws { _ = try await connection.send(.POST, "/refresh") }

  public func back() async throws { _ = try await connection.send(.POST, "/back") }

  public func address() async throws -> String {
    try await connection.send(.GET, "/url").string ?? ""
  }

  public func title() async throws -> String {
    try await connection.send(.GET, "/title").string ?? ""
  }

  // MARK: - Scripts

  /// Runs the body of a JavaScript function with `arguments`, waits for its promise and returns its result.
  @discardableResult
  public func script(_ body: String, _ arguments: JSONValue...) async throws -> JSONValue {
    try await connection.send(
      .POST, "/execute/sync", ["script": .string(body), "args": .array(arguments)])
  }

  /// Runs a command of the DevTools protocol.
  @discardableResult
  public func devTools(_ command: String, _ parameters: JSONValue = [:]) async throws -> JSONValue {
    try await connection.send(
      .POST, "/goog/cdp/execute", ["cmd": .string(command), "params": parameters])
  }

  /// Waits until a JavaScript expression, or its promise, is true; `arguments` are in the array `a`.
  ///
  /// - Throws: `BrowserTimeout`, with the text of the page.
  public func wait(until expression: String, _ arguments: JSONValue...) async throws {
    let body: JSONValue = .string(
      "const a = [...arguments]; return Promise.resolve(\(expression)).then(value => !!value);")
    let arguments = JSONValue.array(arguments)
    var isTrue = false
    try await Patience.until {
      do {
        isTrue = try await connection.send(
          .POST, "/execute/sync", ["script": body, "args": arguments]
        ).isTruthy
      } catch let error as WebDriverError where error.isTransient {}
      return isTrue
    }
    guard isTrue else { throw try await timeout("\(expression) with \(arguments)") }
  }

  func timeout(_ condition: String) async throws -> BrowserTimeout {
    let page = try await script("return document.body ? document.body.innerText : ''").string ?? ""
    return BrowserTimeout(
      condition: condition, address: try await address(), page: String(page.prefix(600)))
  }

  // MARK: - Elements

  /// Waits until an element that matches the selector is visible, and returns its text.
  public func text(_ selector: String) async throws -> String {
    try await withElement(selector) { element in
      try await connection.send(.GET, "/element/\(element)/text").string ?? ""
    }
  }

  /// Waits until the element is visible, not covered and enabled, and clicks it.
  public func click(_ selector: String) async throws {
    let find = "const e = document.querySelector(arguments[0]); return e && !e.disabled ? e : null"
    _ = try await attempt(selector) { () async throws -> JSONValue? in
      let found = try await script(find, .string(selector))
      guard let id = found.fields.values.first?.string else { return nil }
      // The command refuses an element that is not visible or covered.
      return try await connection.send(.POST, "/element/\(id)/click")
    }
  }

  /// An event of the mouse, as DevTools name it.
  public enum MouseEvent: String, Sendable {
    case pressed = "mousePressed"
    case released = "mouseReleased"
  }

  /// Sends one event of the mouse to the middle of an element, for a click that lasts. The button is `left` or `right`.
  public func send(_ event: MouseEvent, button: String, to selector: String) async throws {
    let place = try await script(
      """
      const box = document.querySelector(arguments[0]).getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
      """, .string(selector))
    try await devTools(
      "Input.dispatchMouseEvent",
      [
        "type": .string(event.rawValue), "x": place["x"] ?? .null, "y": place["y"] ?? .null,
        "button": .string(button), "clickCount": 1,
      ])
  }

  /// Clicks the element, unless it is not there or disappears before.
  public func clickIfPresent(_ selector: String) async throws {
    guard try await count(selector) > 0 else { return }
    do {
      let found = try await connection.send(
        .POST, "/element", ["using": "css selector", "value": .string(selector)])
      let id = found.fields.values.first?.string ?? ""
      _ = try await connection.send(.POST, "/element/\(id)/click")
    } catch let error as WebDriverError where error.isTransient {
    }
  }

  /// Waits until the field is visible, and replaces its text by typing.
  public func type(_ text: String, into selector: String) async throws {
    try await withElement(selector) { element in
      _ = try await connection.send(.POST, "/element/\(element)/clear")
      _ = try await connection.send(
        .POST, "/element/\(element)/value", ["text": .string(text)])
    }
  }

  /// The number of elements that match the selector now.
  public func count(_ selector: String) async throws -> Int {
    try await script("return document.querySelectorAll(arguments[0]).length", .string(selector))
      .integer ?? 0
  }

  /// Waits until an element is there and `body` succeeds with its id.
  private func withElement<Value: Sendable>(
    _ selector: String, _ body: (_ id: String) async throws -> Value
  ) async throws -> Value {
    try await attempt(selector) {
      let found = try await connection.send(
        .POST, "/element", ["using": "css selector", "value": .string(selector)])
      let id = found.fields.values.first?.string ?? ""
      guard try await connection.send(.GET, "/element/\(id)/displayed").isTruthy else {
        return nil
      }
      return try await body(id)
    }
  }

  /// Waits until `body` succeeds and returns a value; nil means not yet.
  private func attempt<Value: Sendable>(
    _ selector: String, _ body: () async throws -> Value?
  ) async throws -> Value {
    var result: Value?
    var lastError: WebDriverError?
    try await Patience.until {
      do {
        result = try await body()
        return result != nil
      } catch let error as WebDriverError where error.isTransient {
        lastError = error
        return false
      }
    }
    guard let result else {
      let reason = lastError?.description ?? "is not visible or not enabled"
      throw try await timeout("\(selector) (\(reason))")
    }
    return result
  }

  // MARK: - Keys

  /// Presses and releases keys in the focused element, with modifiers held down.
  public func press(_ keys: Key..., holding modifiers: [Key] = []) async throws {
    func action(_ type: JSONValue, _ key: Key) -> JSONValue {
      ["type": type, "value": .string(key.rawValue)]
    }
    let actions =
      modifiers.map { action("keyDown", $0) }
      + keys.flatMap { [action("keyDown", $0), action("keyUp", $0)] }
      + modifiers.reversed().map { action("keyUp", $0) }
    _ = try await connection.send(
      .POST, "/actions",
      ["actions": [["type": "key", "id": "keyboard", "actions": .array(actions)]]])
  }

  // MARK: - Cookies, screenshots, log

  public func cookies() async throws -> [JSONValue] {
    try await connection.send(.GET, "/cookie").elements
  }

  /// The window as a PNG image.
  public func screenshot() async throws -> Data {
    let text = try await connection.send(.GET, "/screenshot").string ?? ""
    return Data(base64Encoded: text) ?? Data()
  }

  /// Errors of scripts, resources and policies since the last call, such as violations of the content security policy.
  public func errorLog() async throws -> [String] {
    try await connection.send(.POST, "/se/log", ["type": "browser"]).elements
      .filter { $0["level"].string == "SEVERE" }.compactMap { $0["message"].string }
      // Chromium asks for it before it has read which icon a page has.
      .filter { !$0.contains("/favicon.ico") }
  }
}
