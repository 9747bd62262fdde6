// SPDX-License-Identifier: Apache-2.0
import Foundation
import Terminal
import TextEncodings

/// The fields of one JSON object of settings.
package struct SettingsTable<Root> {
  let rows: [Setting<Root>]

  package init(rows: [Setting<Root>]) { self.rows = rows }

  /// Puts the settings in `tree`, and the default of each field that is left out, into `root`.
  ///
  /// - Returns: The object with all settings that are in force.
  /// - Throws: `CommandFailure` for an unknown field, and for a field that is missing or does not have its form.
  func resolve(_ tree: JSONValue, into root: inout Root, at place: SettingContext) throws
    -> JSONValue
  {
    guard case .object(let fields) = tree else { throw place.failure("must be an object") }
    let names = Set(rows.map(\.name))
    if let unknown = fields.keys.filter({ !names.contains($0) }).min() {
      throw place.field(unknown).failure("is not a setting: correct its name or remove it")
    }
    var inForce: [String: JSONValue] = [:]
    for row in rows {
      let place = place.field(row.name)
      let given = fields[row.name].flatMap { row.allowsNull && $0 == .null ? nil : $0 }
      guard let value = given ?? row.fallback(root) else {
        if row.isRequired { throw place.failure("is missing") }
        continue
      }
      guard let taken = try row.take(value, &root, place) else {
        throw place.failure("must be \(row.form)")
      }
      inForce[row.name] = taken
    }
    return .object(inForce)
  }

  /// The rows for the documentation, with the defaults of `root`. Objects are listed by their fields.
  package func descriptions(defaults root: Root) -> [SettingDescription] {
    rows.flatMap { row in
      row.parts.isEmpty
        ? [SettingDescription(row, defaults: root)]
        : (row.meaning.isEmpty ? [] : [SettingDescription(row, defaults: root)])
          + row.parts.map { $0.inside(row.name) }
    }
  }
}
