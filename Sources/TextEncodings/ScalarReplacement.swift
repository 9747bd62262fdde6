// SPDX-License-Identifier: Apache-2.0

/// A text of a format in which some signs have a meaning.
///
/// Signs are compared as Unicode scalars: a quotation mark that a combining mark follows is another `Character`, which
/// `replacing(_:with:)` does not find, but browsers, spreadsheets and databases still see the quotation mark.
extension String {
  /// The text with scalars replaced, wherever they stand.
  package func replacingScalars(_ replacements: [Unicode.Scalar: String]) -> String {
    guard containsScalar(where: { replacements[$0] != nil }) else { return self }
    var text = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if let replacement = replacements[scalar] {
        text.append(contentsOf: replacement.unicodeScalars)
      } else {
        text.append(scalar)
      }
    }
    return String(text)
  }

  /// True if a scalar of the text satisfies `condition`.
  package func containsScalar(where condition: (Unicode.Scalar) -> Bool) -> Bool {
    unicodeScalars.contains(where: condition)
  }
}
