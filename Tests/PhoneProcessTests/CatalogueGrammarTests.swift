// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import PhoneProcess

@Suite("Plural and case forms of the catalogues")
struct CatalogueGrammarTests {
  private func texts(_ language: Language) throws -> [String: String] {
    try #require(Catalogues.installed[language]).texts
  }

  /// The plural form of a whole number, by the rules of CLDR, which browsers have.
  private func form(_ count: Int, in language: Language) -> String {
    let (ten, hundred) = (count % 10, count % 100)
    let isFew = (2...4).contains(ten) && !(12...14).contains(hundred)
    return switch language {
    case .english, .german: count == 1 ? "one" : "other"
    case .polish: count == 1 ? "one" : isFew ? "few" : "many"
    case .ukrainian: ten == 1 && hundred != 11 ? "one" : isFew ? "few" : "many"
    }
  }

  private static let polish: [(String, [(Int, String)])] = [
    (
      "unit.minutes",
      [
        (0, "0 minut"), (1, "1 minuta"), (2, "2 minuty"), (5, "5 minut"), (12, "12 minut"),
        (22, "22 minuty"), (101, "101 minut"),
      ]
    ),
    (
      "home.encounters",
      [(1, "1 kontakt"), (3, "3 kontakty"), (5, "5 kontaktów"), (21, "21 kontaktów")]
    ),
    (
      "review.keys",
      [
        (1, "1 losowy klucz tego telefonu."), (4, "4 losowe klucze tego telefonu."),
        (14, "14 losowych kluczy tego telefonu."),
      ]
    ),
    (
      "history.check",
      [
        (1, "Porównano 1 klucz"), (24, "Porównano 24 klucze"), (112, "Porównano 112 kluczy"),
      ]
    ),
    ("history.matches", [(1, "1 zgodność"), (2, "2 zgodności"), (5, "5 zgodności")]),
    (
      "history.confirm",
      [(1, "Usunąć 1 wpis?"), (2, "Usunąć 2 wpisy?"), (11, "Usunąć 11 wpisów?")]
    ),
    ("history.showAll", [(9, "Pokaż wszystkie (9)"), (22, "Pokaż wszystkie 22")]),
    ("traffic.more", [(1, "Pokaż jeszcze 1"), (3, "Pokaż więcej (3)"), (20, "Pokaż więcej (20)")]),
  ]

  private static let ukrainian: [(String, [(Int, String)])] = [
    (
      "unit.minutes",
      [
        (0, "0 хвилин"), (1, "1 хвилина"), (2, "2 хвилини"), (5, "5 хвилин"), (11, "11 хвилин"),
        (12, "12 хвилин"), (21, "21 хвилина"), (22, "22 хвилини"), (111, "111 хвилин"),
      ]
    ),
    (
      "home.encounters",
      [(1, "1 контакт"), (3, "3 контакти"), (5, "5 контактів"), (21, "21 контакт")]
    ),
    (
      "review.keys",
      [
        (1, "1 випадковий ключ цього телефону."), (4, "4 випадкові ключі цього телефону."),
        (14, "14 випадкових ключів цього телефону."),
      ]
    ),
    (
      "history.check",
      [
        (1, "Порівняно 1 ключ"), (24, "Порівняно 24 ключі"), (112, "Порівняно 112 ключів"),
      ]
    ),
    ("history.matches", [(1, "1 збіг"), (2, "2 збіги"), (5, "5 збігів"), (31, "31 збіг")]),
    (
      "history.confirm",
      [(1, "Видалити 1 запис?"), (2, "Видалити 2 записи?"), (11, "Видалити 11 записів?")]
    ),
    ("history.showAll", [(9, "Показати всі 9"), (21, "Показати 21"), (22, "Показати всі 22")]),
    ("traffic.more", [(1, "Показати ще 1"), (3, "Показати ще 3"), (20, "Показати ще 20")]),
  ]

  private static let german: [(String, [(Int, String)])] = [
    ("unit.minutes", [(0, "0 Minuten"), (1, "1 Minute"), (2, "2 Minuten"), (21, "21 Minuten")]),
    ("home.encounters", [(1, "1 Begegnung"), (2, "2 Begegnungen")]),
    (
      "review.keys",
      [
        (1, "1 zufälliger Schlüssel dieses Telefons."),
        (2, "2 zufällige Schlüssel dieses Telefons."),
      ]
    ),
    ("history.check", [(1, "1 Schlüssel verglichen"), (2, "2 Schlüssel verglichen")]),
    ("history.matches", [(1, "1 Übereinstimmung"), (2, "2 Übereinstimmungen")]),
    ("history.confirm", [(1, "1 Eintrag entfernen?"), (2, "2 Einträge entfernen?")]),
    ("history.showAll", [(9, "Alle 9 zeigen")]),
    ("traffic.more", [(1, "1 weitere zeigen"), (20, "20 weitere zeigen")]),
  ]

  @Test(
    "A number of things has the noun in the form that the number requires",
    arguments: [
      (Language.polish, CatalogueGrammarTests.polish),
      (.ukrainian, CatalogueGrammarTests.ukrainian), (.german, CatalogueGrammarTests.german),
    ])
  func plurals(_ language: Language, _ rows: [(String, [(Int, String)])]) throws {
    let catalogue = try #require(Catalogues.installed[language])
    let counted = catalogue.texts.keys.filter { $0.contains("#") }.map { $0.prefix { $0 != "#" } }
    #expect(Set(counted.map(String.init)) == Set(rows.map(\.0)), "a counted text has no row here")
    for (key, expected) in rows {
      for (count, text) in expected {
        let found = catalogue.text("\(key)#\(form(count, in: language))", ["count": "\(count)"])
        #expect(found == text, "\(language): \(key) \(count)")
      }
    }
  }

  @Test("Polish declines the PIN after a preposition and a negation")
  func polishCases() throws {
    for (key, text) in try texts(.polish) {
      let wrong = text.firstMatch(of: /\b(bez|do|od|za pomocą|nie ma|tym|kodem) PIN\b(?!-)/)
      #expect(wrong == nil, "\(key): \(text)")
    }
    let learned = try texts(.polish).filter { $0.key.hasSuffix(".learned") }
    // The object of these verbs is in the genitive.
    #expect(
      learned["kind.upload.learned"] == "Losowych kluczy z 14 dni i zaraźliwości w każdym z nich.")
    #expect(learned["receiver.keyServer.learned"]?.contains("jego adresu internetowego") == true)
  }

  @Test("German uses the dative after “mit”, and never confuses the reader with the others")
  func germanCases() throws {
    for (key, text) in try texts(.german) {
      let wrong = text.firstMatch(of: /\bmit (die|diese|dieselbe|eine|das|den Telefone)\b/)
      #expect(wrong == nil, "\(key): \(text)")
    }
    #expect(try texts(.german)["home.positive.text"]?.contains("Diese erfahren nicht") == true)
  }

  @Test("Ukrainian uses its own letters, signs and cases")
  func ukrainianCases() throws {
    for (key, text) in try texts(.ukrainian) {
      #expect(!text.contains { "ёъыэЁЪЫЭ".contains($0) }, "\(key): \(text)")
      #expect(!text.contains("dB") && !text.contains("'"), "\(key): \(text)")
      #expect(!text.lowercased().contains("епідемічн"), "\(key): \(text)")
      // After “з” and “до” a nominative is wrong.
      let wrong = text.firstMatch(of: /(^|\s)(до|від|без) служба\b/)
      #expect(wrong == nil, "\(key): \(text)")
    }
  }

  @Test("A level of risk has one word in all texts", arguments: Language.allCases)
  func riskWords(_ language: Language) throws {
    let words: [Language: (title: String, notice: String)] = [
      .english: ("High risk", "high risk"), .german: ("Hohes Risiko", "hohem Risiko"),
      .polish: ("Wysokie ryzyko", "wysokim ryzykiem"),
      .ukrainian: ("Високий ризик", "високим ризиком"),
    ]
    let expected = try #require(words[language])
    let texts = try texts(language)
    #expect(texts["risk.high.title"] == expected.title)
    #expect(texts["risk.high.short"] == expected.title)
    #expect(texts["notice.risk.high.title"]?.contains(expected.notice) == true)
  }

  /// Words that mislead or are not in use, and the words that stand in their places.
  private static let misleading: [(Language, [String], [(key: String, word: String)])] = [
    (.english, ["within the next days", "spent longer close to"], []),
    (
      .german, ["sie erfahren nicht, wer Sie", "Höchstzahl", "rufen früh an"],
      [("home.positive.text", "Diese erfahren nicht")]
    ),
    (
      .polish, ["usuń kontakty", "usunąć kontakty", "przesłania", "sprawdź wpis."],
      [
        ("pin.wrong", "Sprawdź wpisane znaki"),
        ("delete.exposures.action", "Usuń wykryte kontakty"),
      ]
    ),
    (
      .ukrainian, ["видалити контакти", "санітарно", "епідемі", "dB"],
      [("delete.exposures.action", "Видалити виявлені контакти")]
    ),
  ]

  @Test(
    "Misleading words are in no text of the catalogue", arguments: CatalogueGrammarTests.misleading)
  func words(
    _ language: Language, _ words: [String], _ expected: [(key: String, word: String)]
  ) throws {
    let texts = try texts(language)
    for (key, text) in texts {
      for word in words {
        #expect(!text.lowercased().contains(word.lowercased()), "\(key): \(text)")
      }
    }
    for (key, word) in expected {
      #expect(texts[key]?.contains(word) == true, "\(key): \(texts[key] ?? "")")
    }
  }

  @Test(
    "The help for PINs and the errors of them state the same lengths",
    arguments: [
      (Language.english, ["six", "ten", "eleven"]), (.german, ["sechs", "zehn", "elf"]),
      (.polish, ["sześciu", "dziesięciu", "jedenastu"]),
      (.ukrainian, ["шести", "десяти", "одинадцяти"]),
    ])
  func lengthsOfPINs(_ language: Language, _ numbers: [String]) throws {
    let texts = try texts(language)
    for key in ["pin.help", "pin.wrong", "failure.upload.invalidPIN"] {
      let text = try #require(texts[key]).lowercased()
      for number in numbers { #expect(text.contains(number), "\(key): \(number)") }
    }
  }

  @Test(
    "No text asks to try a PIN of half an hour again tomorrow",
    arguments: [
      (Language.english, "tomorrow"), (.german, "morgen"), (.polish, "jutro"),
      (.ukrainian, "завтра"),
    ])
  func tomorrow(_ language: Language, _ word: String) throws {
    for (key, text) in try texts(language) where key.hasPrefix("failure.upload.") {
      // Only a new PIN is of use tomorrow, when there is a key of a right time.
      let isOfNewPIN = key == "failure.upload.keysOfWrongTime"
      #expect(text.lowercased().contains(word) == isOfNewPIN, "\(key): \(text)")
    }
  }

  @Test("Encounters are not called like the entries of an address book where they are removed")
  func removedContacts() throws {
    for (language, word) in [(Language.polish, "wykryte"), (.ukrainian, "виявлені")] {
      let texts = try texts(language)
      for key in ["delete.exposures", "delete.exposures.action", "history.exposures.removeAll"] {
        #expect(texts[key]?.lowercased().contains(word) == true, "\(language): \(key)")
      }
    }
  }
}
