// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import TextEncodings

/// An authenticator of the browser for passkeys, whose owner is always present and verified.
public struct VirtualAuthenticator: Sendable {
  let id: String
}

extension Browser {
  // MARK: - Passkeys

  /// Runs `body` with an authenticator that is built into the machine and stores passkeys.
  public nonisolated(nonsending) func withAuthenticator<Value: Sendable>(
    _ body: nonisolated(nonsending) (VirtualAuthenticator) async throws -> Value
  ) async throws -> Value {
    try await devTools("WebAuthn.enable")
    let added = try await devTools(
      "WebAuthn.addVirtualAuthenticator",
      [
        "options": [
          "protocol": "ctap2", "transport": "internal", "hasResidentKey": true,
          "hasUserVerification": true, "isUserVerified": true, "automaticPresenceSimulation": true,
        ]
      ])
    let value: Value
    do {
      value = try await body(VirtualAuthenticator(id: added["authenticatorId"].string ?? ""))
    } catch {
      _ = try? await devTools("WebAuthn.disable")
      throw error
    }
    try await devTools("WebAuthn.disable")
    return value
  }

  /// The number of passkeys in an authenticator.
  public func passkeyCount(of authenticator: VirtualAuthenticator) async throws -> Int {
    try await devTools(
      "WebAuthn.getCredentials", ["authenticatorId": .string(authenticator.id)]
    )["credentials"].elements.count
  }

  // MARK: - Clipboard

  /// Cuts a text from a field of its own and pastes it into the empty field that matches the selector.
  public func paste(_ text: String, into selector: String) async throws {
    try await script(
      """
      const field = document.body.appendChild(document.createElement('textarea'));
      field.value = arguments[0];
      field.focus();
      """, .string(text))
    try await edit("selectAll", "cut")
    try await script(
      """
      document.body.lastElementChild.remove();
      document.querySelector(arguments[0]).focus();
      """, .string(selector))
    try await edit("paste")
  }

  /// Presses the keys of editing commands in the focused element.
  private func edit(_ commands: String...) async throws {
    for command in commands {
      try await devTools(
        "Input.dispatchKeyEvent",
        ["type": "keyDown", "key": "Control", "commands": [.string(command)]])
      try await devTools("Input.dispatchKeyEvent", ["type": "keyUp", "key": "Control"])
    }
  }

  // MARK: - Files

  /// Stores downloads in `folder` without a question.
  public func storeDownloads(in folder: URL) async throws {
    try await devTools(
      "Browser.setDownloadBehavior", ["behavior": "allow", "downloadPath": .string(folder.path)])
  }

  /// Waits until a file that is not empty is there as a whole, and returns its text.
  public func download(_ file: URL) async throws -> String {
    // The browser creates an empty file, and replaces it with the complete one.
    try await Patience.until { (try? Data(contentsOf: file))?.isEmpty == false }
    return try String(contentsOf: file, encoding: .utf8)
  }

  /// Drags a file from outside the browser onto an element and drops it there.
  public func drop(_ file: URL, on selector: String) async throws {
    let center = try await script(
      """
      const field = document.querySelector(arguments[0]);
      field.scrollIntoView({ block: 'center' });
      const box = field.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2]
      """, .string(selector)
    ).elements
    guard center.count == 2 else { return }
    for type in ["dragEnter", "dragOver", "drop"] {
      try await devTools(
        "Input.dispatchDragEvent",
        [
          "type": .string(type), "x": center[0], "y": center[1],
          "data": ["items": [], "files": [.string(file.path)], "dragOperationsMask": 1],
        ])
    }
  }

  /// Chooses a file in a field for files.
  public func choose(_ file: URL, in selector: String) async throws {
    try await type(file.path, into: selector)
  }
}
