// SPDX-License-Identifier: Apache-2.0
/// A language of the phone's texts.
package enum Language: String, Codable, CaseIterable, Sendable {
  /// English, the language of keys that another catalogue lacks.
  case english = "en"
  /// Polish.
  case polish = "pl"
  /// German.
  case german = "de"
  /// Ukrainian.
  case ukrainian = "uk"

  /// The language of a locale such as `pl_PL.UTF-8`; `nil` if there is no catalogue for it.
  package init?(locale: String) {
    let code = locale.prefix { $0.isLetter }.lowercased()
    self.init(rawValue: code)
  }

  /// The first language that the environment names in `LC_ALL`, `LC_MESSAGES` or `LANG`; otherwise English.
  package init(environment: [String: String]) {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }
      .first { !$0.isEmpty }
    self = locale.flatMap { Language(locale: $0) } ?? .english
  }
}
