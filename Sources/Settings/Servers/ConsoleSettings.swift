// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import QuietHTTP
import Secrets
import Terminal
import TextEncodings

/// The settings of the console: `console/settings.json`, and the defaults.
package struct ConsoleSettings: Redacted {
  /// The origin that officials open; `nil` for `http://localhost` with the port.
  package var origin: String?
  /// True if the console may listen on other addresses than the loopback address.
  package var allowsPlainHTTP = false
  /// The page that opens the app with a code.
  package var appAddress: String?
  /// The identifier of the office's time zone.
  package var timeZone = "Europe/Warsaw"
  /// The days for which a link for a new password works.
  package var linkDays = 1
  /// The verification server, if it does not run in this process.
  package var verificationURL: String?
  /// The admin API key for it.
  package var apiKey: String?
  package var trustedProxies = TrustedProxies.none
  /// The file that gets a copy of the audit log; `nil` for none.
  package var auditFile: String?
  /// The socket of the syslog daemon that gets a copy of the audit log; `nil` for none.
  package var auditSyslog: String?
  /// The file with the exposure windows of a field trial, for previews; `nil` for none.
  package var windowsFile: String?
  package var logLevel = Logger.Level.error
  /// All settings that are in force.
  package private(set) var inForce = JSONValue.object([:])

  /// Reads `file`.
  ///
  /// - Parameter readsFiles: If false, the file of the API key is not read.
  /// - Throws: `CommandFailure` that names the file, the field and the values it accepts.
  package init(_ file: SettingsFile, readsFiles: Bool = true) throws {
    inForce = try file.resolve(Self.table, into: &self, readsFiles: readsFiles, options: [:])
    guard auditFile == nil || auditSyslog == nil else {
      try file.naming {
        throw CommandFailure.badInput("auditFile and auditSyslog cannot be set together.")
      }
      return
    }
    guard readsFiles else { return }
    guard (verificationURL == nil) == (apiKey == nil) else {
      try file.naming {
        throw CommandFailure.badInput("verificationURL and apiKeyFile must be set together.")
      }
      return
    }
  }

  /// The addresses that only this machine reaches.
  package static let loopbackHosts: Set<String> = ["127.0.0.1", "::1", "localhost"]

  /// The note if the console listens on another address than the servers.
  package static let localNote =
    "The console listens on 127.0.0.1 only, so that no password crosses a network unencrypted. If its reverse proxy"
    + " runs on another machine, set origin in console/settings.json to the proxy's https address and"
    + " allowsPlainHTTP to true."

  private static func isAddress(_ text: String) -> Bool { WebAddress(text) != nil }

  static var table: SettingsTable<Self> {
    SettingsTable(rows: [
      .text(
        "origin", \.origin, form: WebAddress.form + ", without a path, in lower case",
        "the address of the console, to whose host name passkeys belong"
      ) { WebAddress($0)?.isOrigin == true },
      .flag(
        "allowsPlainHTTP", \.allowsPlainHTTP,
        "with an `https` `origin`: listen on `--host`, unencrypted, for a proxy on another machine"),
      .text(
        "appAddress", \.appAddress, form: WebAddress.form,
        "the page that opens the app with a code",
        isAddress),
      .timeZone(
        "timeZone", \.timeZone,
        "the time zone of the office, for the times and days of pages, texts for an SMS and lists"),
      .integer(
        "linkDays", \.linkDays, 1...14,
        "the days for which a link for a new password works; a letter by post needs more than one"),
      .text(
        "verificationURL", \.verificationURL, form: WebAddress.form,
        "the verification server, if it runs elsewhere", isAddress),
      .file("apiKeyFile", required: false, "the file with an admin API key for it") {
        file, settings, place in
        settings.apiKey = try place.secret(file)
      },
      .text(
        "auditFile", \.auditFile, form: "an absolute path",
        "a file that gets a copy of each entry of the audit log"
      ) { $0.hasPrefix("/") },
      .text(
        "auditSyslog", \.auditSyslog, form: "an absolute path",
        "the socket of a syslog daemon that gets a copy of each entry, such as `/dev/log`"
      ) { $0.hasPrefix("/") },
      .text(
        "windowsFile", \.windowsFile, form: "an absolute path",
        "the exposure windows of a field trial, on which the preview of a configuration shows its effect"
      ) { $0.hasPrefix("/") },
      .proxies(\.trustedProxies),
      .logLevel(\.logLevel),
    ])
  }
}
