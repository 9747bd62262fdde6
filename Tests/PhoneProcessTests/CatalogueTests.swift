// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import Testing

@testable import PhoneProcess

@Suite("Catalogues of texts")
struct CatalogueTests {
  private static let causes: [Notice.Cause] =
    [
      .bluetoothOff, .clockWrong, .permissionLost, .riskCorrected, .uploadFinished,
      .uploadUnfinished, .followingDaysRefused,
    ]
    + [.low, .medium, .high].map(Notice.Cause.risk)
    + CheckFailure.allCases.map(Notice.Cause.checksFailing)
    + StorageCondition.allCases.filter { $0 != .ready }.map(Notice.Cause.storage)
    + DataDamage.Content.allCases.map { .damage([$0]) }

  private static let uploadFailures: [UploadFailure] = [
    .invalidPIN, .locked(until: .now), .alreadyRunning, .paused, .notAgreed, .notEnabled,
    .keysUnreadable, .systemFailed, .nothingToShare, .clockWrong, .keysOfWrongTime, .tooManyKeys,
    .tooManyKeysOfOneDay,
    .keysOutOfOrder, .noDeviceToken, .pinRefused, .pinUsed, .uploadRefused,
    .serverBusy(retryAfterSeconds: 1),
    .noInternet, .stopped, .storage(.full),
  ]

  private func catalogue(_ language: Language) throws -> Catalogue {
    try #require(Catalogues.installed[language])
  }

  /// The key without the plural form.
  private func base(_ key: String) -> String {
    String(key.prefix { $0 != "#" })
  }

  /// The suffixes of the plural forms that CLDR has for whole numbers.
  private func pluralForms(_ language: Language) -> [String] {
    switch language {
    case .english, .german: ["#one", "#other"]
    case .polish, .ukrainian: ["#one", "#few", "#many"]
    }
  }

  /// The names of the placeholders in `text`.
  private func openPlaceholders(in text: String) -> Set<String> {
    Set(text.matches(of: /\{([A-Za-z]+)\}/).map { String($0.1) })
  }

  @Test("Every catalogue states its language and has a name", arguments: Language.allCases)
  func names(_ language: Language) throws {
    let catalogue = try catalogue(language)
    #expect(catalogue.language == language && !catalogue.name.isEmpty)
    #expect(catalogue.texts.allSatisfy { !$0.value.isEmpty })
    #expect(Catalogues.json(of: language) != nil)
  }

  @Test("All catalogues have the same keys, each with the plural forms of its language")
  func sameKeys() throws {
    let english = Set(try catalogue(.english).texts.keys.map(base))
    for language in Language.allCases {
      let keys = Set(try catalogue(language).texts.keys)
      #expect(Set(keys.map(base)).symmetricDifference(english) == [], "\(language)")
      for key in Set(keys.filter { $0.contains("#") }.map(base)) {
        for form in pluralForms(language) {
          #expect(keys.contains(key + form), "\(language): \(key)\(form)")
        }
      }
    }
  }

  @Test("The placeholders of a text are the same in all languages")
  func placeholders() throws {
    func byKey(_ language: Language) throws -> [String: Set<String>] {
      Dictionary(
        try catalogue(language).texts.map { (base($0), openPlaceholders(in: $1)) },
        uniquingKeysWith: { $0.union($1) })
    }
    let english = try byKey(.english)
    for language in Language.allCases {
      for (key, names) in try byKey(language) {
        #expect(names == english[key], "\(language): \(key)")
      }
    }
  }

  @Test(
    "Every notice has a title and a body without open placeholders", arguments: Language.allCases)
  func notices(_ language: Language) throws {
    #expect(Set(Self.causes.map(\.identifier)) == Set(Notice.Identifier.allCases))
    for cause in Self.causes {
      let words = try #require(Catalogues.installed.words(for: cause, in: language), "\(cause)")
      for text in [words.title, words.body] {
        #expect(!text.isEmpty && openPlaceholders(in: text).isEmpty, "\(cause): \(text)")
      }
    }
  }

  @Test("Every failure of a check and of an upload has a text", arguments: Language.allCases)
  func failures(_ language: Language) throws {
    let texts = try catalogue(language).texts
    let words = Set(CheckFailure.allCases.compactMap { texts["failure.check.\($0.rawValue)"] })
    #expect(words.count == CheckFailure.allCases.count)
    for failure in Self.uploadFailures {
      #expect(texts["failure.upload.\(failure.name)"] != nil, "\(failure)")
    }
    for content in DataDamage.Content.allCases {
      let text = try #require(texts["damage.\(content.rawValue)"], "\(content)")
      #expect(text.hasSuffix(".") && text.count < 200)
    }
  }

  @Test("A text takes its values, which are never read as placeholders")
  func filled() {
    let catalogue = Catalogue(
      language: .polish, name: "polski",
      texts: ["days": "{count} dni, {name}", "plain": "{name} {other}"])
    #expect(catalogue.text("days", ["count": "3", "name": "{count}"]) == "3 dni, {count}")
    #expect(catalogue.text("plain", ["name": "x"]) == "x {other}")
    #expect(catalogue.text("missing") == nil)
  }

  @Test("A catalogue that is missing falls back to English, and without any there is no text")
  func missing() throws {
    let none = Catalogues(in: URL(fileURLWithPath: "/nonexistent"))
    #expect(none.words(for: .bluetoothOff, in: .polish) == nil)
    #expect(none.text(of: CheckFailure.diskFull, in: .german) == "diskFull")
  }

  @Test("The environment chooses the language")
  func environment() {
    #expect(Language(environment: ["LANG": "pl_PL.UTF-8"]) == .polish)
    #expect(Language(environment: ["LANG": "pl_PL.UTF-8", "LC_ALL": "uk_UA"]) == .ukrainian)
    #expect(Language(environment: ["LANG": "C.UTF-8"]) == .english)
    #expect(Language(environment: [:]) == .english)
  }
}
