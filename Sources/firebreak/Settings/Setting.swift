import Foundation
import Terminal

/// One field of a `settings.json`: the only definition of its name, type, limits, default and meaning.
///
/// The parser, the validation, the `settings` commands and the tables in Documentation/Serving.md are generated from
/// these rows. `Root` is the type that stores the value.
struct Setting<Root> {
  let name: String
  /// The values that are accepted, as the rest of the sentence "NAME must be ...".
  let form: String
  /// The effect of the setting, for the documentation.
  var meaning: String
  /// The default as the documentation shows it, if it follows from other settings.
  var shownDefault: String?
  /// If true, the field has no default and must be in the file.
  var isRequired = false
  /// If true, `null` in the file is the same as leaving the field out.
  var allowsNull = false
  /// The fields of an object or of the objects in a list, for the documentation.
  var parts: [SettingDescription] = []
  /// The default, given the settings of the rows before this one; `nil` if there is none.
  var fallback: (Root) -> JSONTree?
  /// Stores a value in `Root`.
  ///
  /// - Returns: The value as it is in force, or `nil` if it does not have the form.
  let take: (JSONTree, inout Root, SettingContext) throws -> JSONTree?
}

extension Setting {
  /// The same setting with a default that depends on other settings; `null` in the file means the default, too.
  func defaulting(to shown: String, _ fallback: @escaping (Root) -> JSONTree?) -> Self {
    var setting = self
    setting.shownDefault = shown
    setting.fallback = fallback
    setting.allowsNull = true
    return setting
  }
}

/// The fields of one JSON object of settings.
struct SettingsTable<Root> {
  let rows: [Setting<Root>]

  /// Puts the settings in `tree`, and the default of each field that is left out, into `root`.
  ///
  /// - Returns: The object with all settings that are in force.
  /// - Throws: `CommandFailure` for an unknown field, and for a field that is missing or does not have its form.
  func resolve(_ tree: JSONTree, into root: inout Root, at place: SettingContext) throws -> JSONTree
  {
    guard case .object(let fields) = tree else { throw place.failure("must be an object") }
    let names = Set(rows.map(\.name))
    if let unknown = fields.keys.filter({ !names.contains($0) }).min() {
      throw place.field(unknown).failure("is not a setting: correct its name or remove it")
    }
    var inForce: [String: JSONTree] = [:]
    for row in rows {
      let place = place.field(row.name)
      let given = fields[row.name].flatMap { row.allowsNull && $0 == .nothing ? nil : $0 }
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
  func descriptions(defaults root: Root) -> [SettingDescription] {
    rows.flatMap { row in
      row.parts.isEmpty
        ? [SettingDescription(row, defaults: root)]
        : (row.meaning.isEmpty ? [] : [SettingDescription(row, defaults: root)])
          + row.parts.map { $0.inside(row.name) }
    }
  }
}

/// A row of a table in Documentation/Serving.md.
struct SettingDescription: Equatable {
  var name: String
  var fallback: String
  var form: String
  var meaning: String

  init<Root>(_ setting: Setting<Root>, defaults root: Root) {
    name = setting.name
    form = setting.form
    meaning = setting.meaning
    let text = setting.fallback(root).map { "`\($0.json)`" }
    fallback = setting.isRequired ? "required" : setting.shownDefault ?? text ?? "none"
  }

  func inside(_ object: String) -> Self {
    var row = self
    row.name = name.hasPrefix("[") ? object + name : "\(object).\(name)"
    return row
  }

  /// The row in Markdown.
  var markdown: String { "| `\(name)` | \(fallback) | \(form) | \(meaning) |" }
}

/// The place of a value in the settings of one server.
struct SettingContext {
  /// The place as error messages name it, such as `furtherExports[0].region`.
  var path = ""
  /// The server's folder, which relative file names in settings start from.
  let folder: URL
  /// If false, files that settings name are not read: not every command needs the secrets in them.
  let readsFiles: Bool

  func field(_ name: String) -> Self {
    var place = self
    place.path = path.isEmpty ? name : "\(path).\(name)"
    return place
  }

  func element(_ index: Int) -> Self {
    var place = self
    place.path = "\(path)[\(index)]"
    return place
  }

  func failure(_ fault: String) -> CommandFailure {
    .badInput("\((path.isEmpty ? "the file" : path).printable) \(fault).")
  }

  /// The file or folder `name`: an absolute path, or one relative to the server's folder.
  func file(_ name: String) -> URL {
    name.hasPrefix("/") ? URL(fileURLWithPath: name) : folder.appendingPathComponent(name)
  }

  /// The secret in the file with the name `name`.
  func secret(_ name: String) throws -> String {
    try PrivateFile(file(name)).secret(named: path)
  }

  /// The P-256 private key in the PEM file with the name `name`, as `read` parses it.
  func privateKey<Key>(_ name: String, _ read: (String) throws -> Key) throws -> Key {
    let pem = try secret(name)
    do { return try read(pem) } catch {
      throw CommandFailure.badInput(
        "\(path): \(file(name).path.printable) must hold a P-256 private key in PEM.")
    }
  }
}

/// Limits of settings files.
enum SettingLimit {
  /// The largest settings file in bytes: fifty SMS templates, and room.
  static let fileBytesMax = 256 << 10
  /// The length of a name, such as an issuer or a key id.
  static let nameCharacters = 1...255

  static var nameForm: String {
    "text of \(nameCharacters.lowerBound) to \(nameCharacters.upperBound) characters in one line"
  }
}
