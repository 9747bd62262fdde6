import Foundation
import QuietHTTP

/// An address that a server may show secrets to: https anywhere, http on this machine only.
struct WebAddress {
  let text: String
  let url: URL

  /// Nil where `text` is none.
  init?(_ text: String) {
    guard text.utf8.count <= SettingLimit.nameCharacters.upperBound,
      let parts = URLComponents(string: text), let url = parts.url, let host = parts.host,
      !host.isEmpty, parts.user == nil, parts.query == nil, parts.fragment == nil
    else { return nil }
    guard url.isNeverPlain else { return nil }
    self.text = text
    self.url = url
  }

  /// Whether it is an origin as browsers write one: no path, not even a slash.
  var isOrigin: Bool { URLComponents(string: text)?.path.isEmpty == true }
}
