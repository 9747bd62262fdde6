// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A name reduced to its shape: names that people confuse are equal.
///
/// It ignores case, width, accents, white space and invisible characters. Letters of other alphabets that look
/// like Latin ones, and the pairs `0`/`o`, `1`/`i`/`l`, `rn`/`m` and `vv`/`w`, count as one.
package struct LookAlikeName: Hashable, Sendable {
  private let shape: String

  /// The shape of `name`.
  package init(_ name: String) {
    let plain = name.precomposedStringWithCompatibilityMapping.lowercased()
      .decomposedStringWithCanonicalMapping
    let letters = plain.unicodeScalars.compactMap { scalar -> Character? in
      guard !Self.isIgnored(scalar) else { return nil }
      let character = Character(scalar)
      return Self.latin[character] ?? character
    }
    let shape = String(letters).replacing("rn", with: "m").replacing("vv", with: "w")
    // Addresses and domain names are the same with these at the end.
    self.shape = shape.trimmingCharacters(in: CharacterSet(charactersIn: "./"))
  }

  private static func isIgnored(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control, .spaceSeparator, .lineSeparator,
      .paragraphSeparator, .unassigned:
      true
    default: scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  /// The Latin letters that others look like: digits, Cyrillic and Greek letters, and the kinds of hyphens.
  private static let latin: [Character: Character] = Dictionary(
    uniqueKeysWithValues: zip(
      "01i|ıавекмнорстухіјѕһԁԛԝαβγεηικνορτυχω‐‑–—−_",
      "ollllabekmhopctyxljshdqwabyenlkvoptuxw------"))
}
