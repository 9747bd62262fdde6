// SPDX-License-Identifier: Apache-2.0
import Crypto
import Testing

/// A change of each kind: its form, the title of its effect, and the action in the audit log.
struct ChangeKind: Sendable, CustomTestStringConvertible {
  let path: String
  let fields: [String: String]
  let title: String
  let action: String

  init(_ path: String, _ fields: [String: String], _ title: String, _ action: String) {
    (self.path, self.fields, self.title, self.action) = (path, fields, title, action)
  }

  var testDescription: String { action }

  static let file = String(repeating: "0b", count: 32)
  static let withdrawn = String(repeating: "0c", count: 32)
  private static let pem = P256.Signing.PrivateKey().publicKey.pemRepresentation
  static let all = [
    ChangeKind("/keys/rotate", ["server": "keys"], "New signing key", "signing-key.rotated"),
    ChangeKind(
      "/codes/rules",
      ["laboratory": "60", "doctor": "15", "link": "1440", "digits": "8"],
      "Change the rules for codes", "code-rules.changed"),
    ChangeKind(
      "/keys/api", ["name": "lab", "kind": "admin"], "Add an API key for lab", "api-key.added"),
    ChangeKind("/keys/api/revoke", ["id": "k0"], "Revoke the API key of app", "api-key.revoked"),
    ChangeKind(
      "/keys/authorities",
      ["issuer": "de", "audience": "a", "key-id": "v1", "pem": pem],
      "Accept the key v1 of the authority de", "authority.added"),
    ChangeKind(
      "/keys/authorities/remove", ["issuer": "pl"], "Remove the authority pl", "authority.removed"),
    ChangeKind(
      "/keys/authorities/withdraw-key", ["issuer": "pl", "key-id": "v1"],
      "Withdraw the key v1 of the authority pl", "authority.key-withdrawn"),
    ChangeKind(
      "/keys/apps", ["app": "org.new", "regions": "PL, DE", "authorities": "pl"],
      "Allow the app org.new to upload", "app.added"),
    ChangeKind(
      "/keys/apps/remove", ["app": "org.example"], "Remove the app org.example", "app.removed"),
    ChangeKind("/phones/pause", ["hours": "25"], "Pause all phones for 25 hours", "phones.paused"),
    ChangeKind("/phones/resume", [:], "Resume all phones", "phones.resumed"),
    ChangeKind("/phones/withdraw", ["hash": file], "Withdraw the key file 1.zip", "file.withdrawn"),
    ChangeKind("/phones/restore", ["hash": withdrawn], "Undo the withdrawal of", "file.restored"),
    ChangeKind(
      "/accounts", ["name": "Marek", "role": "administrator"],
      "Add the account Marek, administrator", "account.added"),
    ChangeKind("/accounts/3/link", [:], "New link for the account Ewa", "account.link-made"),
    ChangeKind("/accounts/3/disable", [:], "Disable the account Ewa", "account.disabled"),
    ChangeKind("/accounts/4/enable", [:], "Enable the account Zofia", "account.enabled"),
  ]
}
