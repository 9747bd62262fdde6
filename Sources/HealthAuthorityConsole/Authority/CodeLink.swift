import Foundation

/// The link that opens the app with a PIN, and the text for an SMS that an official sends from a phone.
struct CodeLink: Sendable {
  /// The address of the app's page, such as `https://app.example/`.
  let app: URL

  /// The link. The PIN is in the fragment, which browsers do not send to servers.
  func address(code: String) -> String {
    let base = app.absoluteString
    return "\(base)\(base.hasSuffix("/") ? "" : "/")#/share?pin=\(code)"
  }

  /// A link that opens the phone's own program for SMS with a text.
  static func sms(_ text: String) -> String {
    var allowed = CharacterSet.alphanumerics
    allowed.insert(charactersIn: "-._~")
    return "sms:?body=" + (text.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
  }
}
