// SPDX-License-Identifier: Apache-2.0
/// The form of the names of authorities, apps and keys.
enum RegistryName {
  /// The maximum length of a name, in characters.
  static let charactersMax = 255

  /// True if `text` has 1 to `charactersMax` visible characters in one line, and spaces only inside.
  static func isValid(_ text: String) -> Bool {
    guard (1...charactersMax).contains(text.count), text.first != " ", text.last != " " else {
      return false
    }
    return text.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse,
        .surrogate:
        false
      case .spaceSeparator: scalar == " "
      default: !scalar.properties.isDefaultIgnorableCodePoint
      }
    }
  }
}
