// SPDX-License-Identifier: Apache-2.0

/// A text with places for values. It is filled in one pass: a value is never read as a place.
extension String {
  /// The text with `values` in the places of `%1` to `%9`; a place without a value stays.
  package func filling(numbered values: [String]) -> String {
    guard !values.isEmpty else { return self }
    var text = String.UnicodeScalarView()
    var rest = unicodeScalars[...]
    while let scalar = rest.popFirst() {
      let place = scalar == "%" ? rest.first.flatMap(Self.position) : nil
      guard let place, values.indices.contains(place) else {
        text.append(scalar)
        continue
      }
      rest.removeFirst()
      text.append(contentsOf: values[place].unicodeScalars)
    }
    return String(text)
  }

  private static func position(_ digit: Unicode.Scalar) -> Int? {
    ("1"..."9").contains(digit) ? Int(digit.value - ("1" as Unicode.Scalar).value) : nil
  }

  /// The text with `values` in the places of their names, such as `{count}`; a place without a value stays.
  package func filling(named values: [String: String]) -> String {
    guard !values.isEmpty else { return self }
    return replacing(/\{([A-Za-z]+)\}/) { place in
      values[String(place.1)] ?? String(place.0)
    }
  }
}
