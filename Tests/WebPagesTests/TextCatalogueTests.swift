// SPDX-License-Identifier: Apache-2.0
import Testing
import WebPages

@Suite("Catalogues of texts")
struct TextCatalogueTests {
  private enum Language: String, PageLanguage {
    case english = "en"
    case polish = "pl"

    static let standard = Language.english
  }

  private func faults(
    _ polish: [String: String], of language: String = "pl"
  ) -> [String] {
    let english = TextCatalogue(
      language: "en", name: "English", texts: ["a": "One", "b": "%1 of %2", "c": "Three"])
    let other = TextCatalogue(language: language, name: "Polski", texts: polish)
    return TextCatalogue.faults(
      of: [Language.english: english, .polish: other], keys: ["a", "b", "c"], placeholder: /%\d/)
  }

  @Test("Catalogues with the same keys and placeholders, in any order, have no fault")
  func complete() {
    #expect(faults(["a": "Jeden", "b": "z %2: %1", "c": "Trzy"]).isEmpty)
  }

  @Test("Each fault of a catalogue is named with its language and key")
  func faulty() {
    #expect(
      faults(["a": "", "b": "%1 z %1", "d": "Cztery"], of: "en") == [
        "pl: it says en", "pl: a has no text", "pl: b has other placeholders than en",
        "pl: c has no text", "pl: no page uses d",
      ])
    let none: [Language: TextCatalogue] = [:]
    #expect(
      TextCatalogue.faults(of: none, keys: ["a"], placeholder: /%\d/) == [
        "en: there is no catalogue", "pl: there is no catalogue",
      ])
  }

  @Test("Catalogues that are not installed are left out, and the first one is named")
  func missing() {
    let catalogues: [Language: TextCatalogue] = TextCatalogue.installed(of: "None")
    #expect(catalogues.isEmpty)
    let path = TextCatalogue.missing(in: catalogues, of: "None")
    #expect(path?.hasSuffix("/firebreak_None.resources/Catalogues/en.json") == true)
  }
}
