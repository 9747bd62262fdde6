// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The texts of pages in one language: a JSON file that is installed beside the program, named after the language.
///
/// Its fields are `language`, `name`, which is that of the language in itself, and `texts` by their keys.
package struct TextCatalogue: Codable, Hashable, Sendable {
  /// The code of the language, such as `pl`.
  package let language: String
  /// The name of the language in itself.
  package let name: String
  /// The texts by their keys.
  package let texts: [String: String]

  /// Creates a catalogue.
  package init(language: String, name: String, texts: [String: String]) {
    self.language = language
    self.name = name
    self.texts = texts
  }

  /// Reads the catalogues of all languages from the folder `Catalogues` in the resources of a target. One that is
  /// missing or not readable is left out: `missing` names it.
  package static func installed<Language: PageLanguage>(
    of target: String
  ) -> [Language: TextCatalogue] {
    let files = Language.allCases.map { ($0, file(of: $0.rawValue, target)) }
    return Dictionary(
      uniqueKeysWithValues: files.compactMap { language, file in
        let catalogue = FileManager.default.contents(atPath: file.path).flatMap {
          // One that is not readable is left out, as one that is missing.
          try? JSONDecoder().decode(TextCatalogue.self, from: $0)
        }
        return catalogue.map { (language, $0) }
      })
  }

  /// The path of the first catalogue of a target that is not among `catalogues`; nil if all are there.
  package static func missing<Language: PageLanguage>(
    in catalogues: [Language: TextCatalogue], of target: String
  ) -> String? {
    Language.allCases.first { catalogues[$0] == nil }.map { file(of: $0.rawValue, target).path }
  }

  // `Bundle.module` would end the program if the resources are missing.
  private static func file(of language: String, _ target: String) -> URL {
    Bundle.main.bundleURL.appendingPathComponent(
      "firebreak_\(target).resources/Catalogues/\(language).json")
  }

  /// The faults of catalogues that must have the same texts: a language that is missing or in another's file, a key
  /// that is missing or not used, an empty text, and placeholders that differ between languages.
  ///
  /// - Parameters:
  ///   - keys: The keys that the pages use.
  ///   - placeholder: A place for a value in a text, such as `%1` or `{name}`.
  /// - Returns: A sentence for each fault, in the order of the languages and keys.
  package static func faults<Language: PageLanguage>(
    of catalogues: [Language: TextCatalogue], keys: Set<String>, placeholder: Regex<Substring>
  ) -> [String] {
    func places(_ text: String) -> [String] {
      text.matches(of: placeholder).map { String($0.output) }.sorted()
    }
    let standard = catalogues[.standard]?.texts ?? [:]
    return Language.allCases.flatMap { language -> [String] in
      let code = language.rawValue
      guard let catalogue = catalogues[language] else { return ["\(code): there is no catalogue"] }
      var faults = catalogue.language == code ? [] : ["\(code): it says \(catalogue.language)"]
      for key in keys.union(catalogue.texts.keys).sorted() {
        guard keys.contains(key) else {
          faults.append("\(code): no page uses \(key)")
          continue
        }
        guard let text = catalogue.texts[key], !text.isEmpty else {
          faults.append("\(code): \(key) has no text")
          continue
        }
        if places(text) != places(standard[key] ?? "") {
          faults.append("\(code): \(key) has other placeholders than \(Language.standard.rawValue)")
        }
      }
      return faults
    }
  }
}
