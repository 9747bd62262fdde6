import Foundation
import HealthAuthorityConsole
import Logging
import QuietHTTP
import Terminal

/// The settings of the console: `console/settings.json`, and the defaults.
struct ConsoleSettings {
  /// The origin that officials open; `nil` for `http://localhost` with the port.
  var origin: String?
  /// The page that opens the app with a code.
  var appAddress: String?
  /// The verification server, if it does not run in this process.
  var verificationURL: String?
  /// The admin API key for it.
  var apiKey: String?
  var trustedProxies = TrustedProxies.none
  var logLevel = Logger.Level.error

  /// Reads `file`.
  ///
  /// - Throws: `CommandFailure` that names the file, the field and the values it accepts.
  init(_ file: SettingsFile) throws {
    _ = try file.resolve(Self.table, into: &self, readsFiles: true, options: [:])
    guard (verificationURL == nil) == (apiKey == nil) else {
      try file.naming {
        throw CommandFailure.badInput("verificationURL and apiKeyFile must be set together.")
      }
      return
    }
  }

  /// The addresses that only this machine reaches.
  static let loopbackHosts: Set<String> = ["127.0.0.1", "::1", "localhost"]

  /// The note if the console listens on another address than the servers.
  static let localNote =
    "The console listens on 127.0.0.1 only, so that no password crosses a network unencrypted. Set origin"
    + " in console/settings.json to the https address of its reverse proxy to let it listen on --host."

  private static let addressForm = "an https URL, or an http URL of this machine"

  private static func isAddress(_ text: String) -> Bool {
    URL(string: text).map { $0.isEncryptedOrLocal && $0.host() != nil } ?? false
  }

  private static var table: SettingsTable<Self> {
    SettingsTable(rows: [
      .text(
        "origin", \.origin, form: addressForm + ", without a path, in lower case",
        "the address of the console, to whose host name passkeys belong"
      ) { WebAddress($0)?.isOrigin == true },
      .text(
        "appAddress", \.appAddress, form: addressForm, "the page that opens the app with a code",
        isAddress),
      .text(
        "verificationURL", \.verificationURL, form: addressForm,
        "the verification server, if it runs elsewhere", isAddress),
      .file("apiKeyFile", required: false, "the file with an admin API key for it") {
        file, settings, place in
        settings.apiKey = try place.secret(file)
      },
      .proxies(\.trustedProxies),
      .logLevel(\.logLevel),
    ])
  }
}
