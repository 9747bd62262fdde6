// SPDX-License-Identifier: Apache-2.0
import Testing
import WebPages

@Suite("The language of a page")
struct PageLanguageTests {
  private enum Language: String, PageLanguage {
    case english = "en"
    case polish = "pl"
    case german = "de"

    static let standard = Language.english
  }

  @Test(
    "The language is the preferred one of those that exist, and the first of equal weights",
    arguments: [
      (nil, "en"), ("", "en"), ("fr", "en"), (",;q", "en"), ("pl", "pl"), ("PL-pl", "pl"),
      ("pl-PL,en;q=0.8", "pl"), ("en;q=0.5,pl;q=0.9", "pl"), ("fr,pl;q=0.1", "pl"),
      ("de, pl", "de"), ("pl;q=0", "en"), ("pl ; q=0.2 , de ; q=0.3", "de"),
      ("pl;q=x,de;q=0.1", "de"), ("pl;level=1;q=0.1,de;q=0.2", "de"),
    ] as [(String?, String)])
  func accepted(header: String?, code: String) {
    #expect(Language(accepted: header).rawValue == code)
  }
}
