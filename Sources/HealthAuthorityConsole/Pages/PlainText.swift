// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The rule for typed texts that another person reads before they decide.
enum PlainText {
  /// True for the reason for a change.
  static func isReason(_ text: String) -> Bool {
    (1...ConsoleLimit.reasonCharactersMax).contains(text.count)
      && text.utf8.count <= ConsoleLimit.reasonBytesMax && isPlain(text, hasLines: true)
  }

  /// True if `text` has no white space around it, and no scalar that hides or reorders others.
  ///
  /// - Parameter hasLines: True if it may have line breaks.
  static func isPlain(_ text: String, hasLines: Bool = false) -> Bool {
    text == text.trimmingCharacters(in: .whitespacesAndNewlines)
      && text.unicodeScalars.allSatisfy { scalar in
        switch scalar.properties.generalCategory {
        case .control: hasLines && "\r\n\t".unicodeScalars.contains(scalar)
        case .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
        default: true
        }
      }
  }
}
