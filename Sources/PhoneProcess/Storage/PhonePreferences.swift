// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage
import Synchronization
import World

/// The choices of the owner for the user interface, in a sealed file.
package final class PhonePreferences: Sendable {
  /// The values of the preferences. The property names are the JSON keys on disk.
  package struct Values: Codable, Hashable, Sendable {
    /// The language of texts.
    package var language: Language
    /// True if the owner has chosen the language; `nil` in the file of an earlier version.
    package var hasChosenLanguage: Bool?
    /// True if the user interface shows no details of exposures.
    package var hidesDetails = false
    /// True if notices go to the desktop.
    package var notifications = true
    /// True if the owner has declined the onboarding.
    package var hasDeclined = false
    /// True if the owner wants news about the statistics.
    package var wantsStatistics = false

    /// The values before the owner has chosen any.
    package init(language: Language) {
      self.language = language
    }
  }

  private let file: SealedFile
  private let initial: Values
  private let state: Mutex<Values>

  /// The preferences in `folder`; `language` is that of an owner who has chosen none. A damaged file counts as
  /// missing, and the next change replaces it.
  package init(
    in folder: PhoneFolder, key: SealingKey, language: Language, randomness: any Randomness
  ) {
    file = SealedFile(
      url: folder.preferences, key: key, purpose: "preferences", randomness: randomness)
    initial = Values(language: language)
    state = Mutex(file.readableJSON(Values.self) ?? initial)
  }

  /// The current values.
  package var values: Values { state.withLock { $0 } }

  /// Changes the values, on disk first.
  ///
  /// - Throws: `SealedStorageError` if they cannot be stored; then nothing has changed.
  package func update(_ change: (inout Values) -> Void) throws {
    try state.withLock { values in
      var next = values
      change(&next)
      guard next != values else { return }
      try file.replace(with: JSONEncoder().encode(next))
      values = next
    }
  }

  /// Removes all choices.
  package func removeAll() throws {
    try state.withLock { values in
      try file.remove()
      values = initial
    }
  }
}
