// SPDX-License-Identifier: Apache-2.0
/// An action of an official, as it is recorded.
package struct AuditEvent: Hashable, Sendable {
  /// The account that acted; a command of the operator is `AuditEvent.commandLine`.
  let actor: String
  let action: AuditAction
  /// The thing that was changed, such as the UUID of a code or the name of an account.
  let subject: String
  /// Further facts. Never a code, a password or a key.
  let detail: String

  /// The actor of commands.
  package static let commandLine = "command line"

  init(_ actor: String, _ action: AuditAction, _ subject: String = "", detail: String = "") {
    self.actor = actor
    self.action = action
    self.subject = subject
    self.detail = detail
  }
}
