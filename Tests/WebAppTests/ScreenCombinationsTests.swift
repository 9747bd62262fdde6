// SPDX-License-Identifier: Apache-2.0
import Browser
import Testing

@Suite("Combinations of a tour")
struct ScreenCombinationsTests {
  private static let displays = [320, 1280].map { EmulatedDisplay(width: $0) }

  @Test("A sample has one combination for each screen, and every language in every display")
  func sample() {
    var combinations = ScreenCombinations(
      languages: ["en", "pl", "de"], displays: Self.displays, isComplete: false)
    var found: Set<String> = []
    for _ in 0..<6 {
      let parts = combinations.next()
      #expect(parts.count == 1 && parts.first?.displays.count == 1)
      for (language, displays) in parts { found.insert("\(language) \(displays[0].width)") }
    }
    #expect(found.count == 6)
    #expect(combinations.count(ofScreens: 6) == 6)
  }

  @Test("A complete tour has every language and display for each screen")
  func complete() {
    var combinations = ScreenCombinations(
      languages: ["en", "pl"], displays: Self.displays, isComplete: true)
    for _ in 0..<2 {
      let parts = combinations.next()
      #expect(parts.map(\.language) == ["en", "pl"])
      #expect(parts.allSatisfy { $0.displays == Self.displays })
    }
    #expect(combinations.count(ofScreens: 2) == 8)
  }
}
