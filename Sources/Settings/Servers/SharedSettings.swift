// SPDX-License-Identifier: Apache-2.0
import Foundation
import Terminal
import TextEncodings
import World

/// Settings from outside the folder of the servers: one configuration file for all servers, and environment variables.
///
/// The file has an object for each server, with the fields of its `settings.json`. Of one setting the value of
/// `settings.json` replaces that of the file, an environment variable both, and an option all.
package struct SharedSettings: Sendable {
  /// The variable that names the configuration file.
  package static let fileVariable = "FIREBREAK_CONFIG"

  private static let variablePrefix = "FIREBREAK_"
  /// Variables that are no settings, in each unit of systemd.
  private static let otherVariables: Set = [fileVariable, "FIREBREAK_OPTIONS"]
  /// Variables of this project's own test runs.
  private static let testPrefix = "FIREBREAK_TEST_"
  /// The letters that a word has to share with the name of a server to be taken for it.
  private static let sharedLettersMin = 3

  /// The variables that end with the name of a setting, but belong to something else: they have no effect.
  package let unusedVariables: [String]

  /// The configuration file; nil for none.
  private let file: URL?
  /// The objects of the file, by server.
  private let objects: [String: JSONValue]
  /// The variables with their prefix removed, by server.
  private let variables: [String: [String: String]]

  /// Reads `file`, and keeps the variables of the `servers`, such as `FIREBREAK_KEYS_MINIMUM_KEYS`.
  ///
  /// - Throws: `CommandFailure` if the file cannot be read, or names another server, or if a variable has the name of a
  ///   setting with no or a misspelled server.
  package init(
    file: URL?, environment: [String: String], servers: [String]
  ) throws {
    self.file = file
    var variables: [String: [String: String]] = [:]
    for server in servers {
      let prefix = "\(Self.variablePrefix)\(server.uppercased())_"
      for (name, value) in environment where name.hasPrefix(prefix) {
        variables[server, default: [:]][String(name.dropFirst(prefix.count))] = value
      }
    }
    self.variables = variables
    unusedVariables = try Self.unusedVariables(environment, servers: servers)
    guard let file else {
      objects = [:]
      return
    }
    guard FileManager.default.attributes(of: file) != nil else {
      throw CommandFailure.badInput(
        "\(file.path.printable) does not exist: correct --config or FIREBREAK_CONFIG.")
    }
    guard case .object(let fields)? = try SettingsFile(url: file).read() else {
      throw CommandFailure.badInput("\(file.path.printable): it must contain a JSON object.")
    }
    if let unknown = fields.keys.filter({ !servers.contains($0) }).min() {
      throw CommandFailure.badInput(
        "\(file.path.printable): \(unknown.printable) is no server: the fields are"
          + " \(servers.joined(separator: ", ")).")
    }
    objects = fields
  }

  /// The variables that end with the name of a setting after words that are no server, such as
  /// `FIREBREAK_BACKUP_FILES`: they may be the operator's own.
  ///
  /// - Throws: `CommandFailure` for `FIREBREAK_REGION` or `FIREBREAK_KEY_REGION`, which can only be meant as settings.
  private static func unusedVariables(
    _ environment: [String: String], servers: [String]
  ) throws -> [String] {
    let prefixes = servers.map { "\(variablePrefix)\($0.uppercased())_" }
    let others = environment.keys.filter { name in
      name.hasPrefix(variablePrefix) && !otherVariables.contains(name)
        && !name.hasPrefix(testPrefix) && !prefixes.contains { name.hasPrefix($0) }
    }
    guard !others.isEmpty else { return [] }
    let names =
      VerificationServerSettings.table.rows.map(\.name) + KeyServerSettings.table.rows.map(\.name)
      + ConsoleSettings.table.rows.map(\.name)
    // Without underscores, because those of a setting are slow to find.
    let settings = Set(names.map { $0.uppercased() })
    return try others.sorted().filter { name in
      let words = name.split(separator: "_").dropFirst()
      let start = words.indices.first { settings.contains(words[$0...].joined(separator: "")) }
      guard let start, let first = words.first else { return false }
      guard start > words.startIndex, !servers.contains(where: { resembles(first, $0) }) else {
        throw CommandFailure.badInput(
          "\(name.printable) names no server: begin it with \(prefixes.joined(separator: ", ")), or remove or rename"
            + " the variable.")
      }
      return true
    }
  }

  /// True if `word` is nearly the name of `server`, such as `KEY` or `VERIFY`.
  private static func resembles(_ word: Substring, _ server: String) -> Bool {
    let shared = zip(word, server.uppercased()).prefix { $0 == $1 }.count
    return shared >= sharedLettersMin && shared >= min(word.count, server.count) - 1
  }

  /// True if the message of an error begins with the place of its cause, the configuration file or a variable.
  func isPlace(in message: String) -> Bool {
    message.hasPrefix(Self.variablePrefix)
      || file.map { message.hasPrefix($0.path.printable) } ?? false
  }

  /// The settings of `server` in the configuration file.
  ///
  /// They are checked alone, so that an error names the right file.
  func base<Root>(
    of server: String, table: SettingsTable<Root>, root: Root
  ) throws -> [String: JSONValue] {
    guard let file, let tree = objects[server] else { return [:] }
    guard case .object(let fields) = tree else {
      throw CommandFailure.badInput(
        "\(file.path.printable): \(server) must be an object of settings.")
    }
    var copy = root
    let place = SettingContext(folder: file.deletingLastPathComponent(), readsFiles: false)
    do {
      // A required setting may be in another place.
      _ = try table.shared.resolve(tree, into: &copy, at: place.field(server))
    } catch let failure as CommandFailure where failure.status == .badInput {
      throw CommandFailure.badInput("\(file.path.printable): \(failure.message)")
    }
    return fields
  }

  /// The settings of `server` in the environment: JSON, or text.
  ///
  /// Each is checked alone, so that an error names its variable.
  ///
  /// - Throws: `CommandFailure` for a variable that names no setting, or has a wrong value.
  func environment<Root>(
    of server: String, table: SettingsTable<Root>, root: Root, folder: URL
  ) throws -> [String: JSONValue] {
    // Most machines have none, and the names of all settings take a tenth of the time of a start.
    guard let variables = variables[server] else { return [:] }
    let names = Dictionary(
      table.shared.rows.map { (Self.variable($0.name), $0.name) }, uniquingKeysWith: { $1 })
    var fields: [String: JSONValue] = [:]
    for (variable, text) in variables.sorted(by: { $0.key < $1.key }) {
      let fullName = "\(Self.variablePrefix)\(server.uppercased())_\(variable)"
      guard let name = names[variable] else {
        throw CommandFailure.badInput(
          "\(fullName.printable) names no setting: correct or remove the variable.")
      }
      do {
        fields[name] = try Self.value(text) { value in
          var copy = root
          _ = try table.shared.resolve(
            .object([name: value]), into: &copy,
            at: SettingContext(folder: folder, readsFiles: false))
        }
      } catch let failure as CommandFailure where failure.status == .badInput {
        throw CommandFailure.badInput("\(fullName): \(failure.message)")
      }
    }
    return fields
  }

  /// The reading of `text` that `check` accepts: as JSON, or as text, such as an identifier of digits.
  private static func value(
    _ text: String, check: (JSONValue) throws -> Void
  ) throws -> JSONValue {
    guard let json = JSONValue(text: text) else {
      try check(.string(text))
      return .string(text)
    }
    do {
      try check(json)
      return json
    } catch {
      // If neither is accepted, the error is that of the value as it was meant.
      do { try check(.string(text)) } catch _ { throw error }
      return .string(text)
    }
  }

  /// The name of a setting in upper case with underscores: `EXPORT_PERIOD_SECONDS` for `exportPeriodSeconds`, `KEY_ID`
  /// for `keyID`.
  package static func variable(_ name: String) -> String {
    name.replacing(#/([a-z0-9])([A-Z])/#) { "\($0.output.1)_\($0.output.2)" }
      .replacing(#/([A-Z]+)([A-Z][a-z])/#) { "\($0.output.1)_\($0.output.2)" }.uppercased()
  }
}

extension SettingsTable {
  /// The rows that may be outside the folder. None is required.
  fileprivate var shared: SettingsTable {
    SettingsTable(
      rows: rows.filter { !$0.isOfFolder }.map { row in
        var row = row
        row.isRequired = false
        return row
      })
  }
}
