// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// The languages and displays in which a tour checks each screen.
///
/// `make test` checks each screen in one language and one display, in turn, so that a tour of enough screens has every
/// language in every display. `make prove` checks each screen in all of them.
public struct ScreenCombinations<Language> {
  /// A language, and the displays in which a screen is checked in this language.
  public typealias Part = (language: Language, displays: [EmulatedDisplay])

  private let languages: [Language]
  private let displays: [EmulatedDisplay]
  private let isComplete: Bool
  private var screens = 0

  /// - Parameter isComplete: True to check each screen in all languages and displays.
  public init(
    languages: [Language], displays: [EmulatedDisplay], isComplete: Bool = Proof.isRunning
  ) {
    self.languages = languages
    self.displays = displays
    self.isComplete = isComplete
  }

  /// The combinations for the next screen.
  public mutating func next() -> [Part] {
    defer { screens += 1 }
    guard !isComplete else { return languages.map { ($0, displays) } }
    let language = languages[screens % languages.count]
    return [(language, [displays[screens / languages.count % displays.count]])]
  }

  /// The number of combinations in a tour of `screens` screens.
  public func count(ofScreens screens: Int) -> Int {
    isComplete ? screens * languages.count * displays.count : screens
  }
}
