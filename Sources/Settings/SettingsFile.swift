// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP
import StrictJSON
import Terminal
import TextEncodings
import World

/// The settings of a server, `settings.json` in its folder: strict JSON without secrets.
package struct SettingsFile: Sendable {
  package let url: URL
  /// Settings from outside the folder; nil for none.
  private let shared: SharedSettings?
  /// The name of the server in them.
  private let server: String

  package init(url: URL, shared: SharedSettings? = nil, server: String = "") {
    self.url = url
    self.shared = shared
    self.server = server
  }

  /// Reads the file and puts the settings of `table` into `root`.
  ///
  /// - Parameters:
  ///   - changes: Values that replace those of the file, to see their effect before they are stored.
  ///   - options: Values of the command line, which replace those of the file.
  /// - Returns: All settings that are in force.
  /// - Throws: `CommandFailure` that names the file, the field and the values it accepts.
  package func resolve<Root>(
    _ table: SettingsTable<Root>, into root: inout Root, readsFiles: Bool,
    changes: [String: JSONValue] = [:], options: [String: JSONValue?]
  ) throws -> JSONValue {
    var tree = try read() ?? .object([:])
    if case .object(let own) = tree {
      var fields =
        try shared?.base(of: server, table: table, root: root) ?? [:]
      fields.merge(own.merging(changes) { $1 }) { $1 }
      let variables = try shared?.environment(
        of: server, table: table, root: root, folder: url.deletingLastPathComponent())
      fields.merge(variables ?? [:]) { $1 }
      tree = .object(fields.merging(options.compactMapValues { $0 }) { $1 })
    }
    let place = SettingContext(folder: url.deletingLastPathComponent(), readsFiles: readsFiles)
    return try naming { try table.resolve(tree, into: &root, at: place) }
  }

  /// Replaces one setting in the file, as `replace(_:)` does.
  package func replace(_ name: String, with value: JSONValue) throws {
    try replace([name: value])
  }

  /// Replaces settings in the file, all at once. A concurrent manual edit may be lost. So may a change by another
  /// program, unless both hold the folder's lock (`FolderLock`).
  ///
  /// - Throws: `CommandFailure` if the file is damaged or cannot be written.
  package func replace(_ values: [String: JSONValue]) throws {
    var fields: [String: JSONValue] = [:]
    if case .object(let present) = try read() { fields = present }
    fields.merge(values) { $1 }
    try write(fields)
  }

  /// Removes one setting from the file, if the file has it.
  ///
  /// - Throws: `CommandFailure` if the file is damaged or cannot be written.
  package func remove(_ name: String) throws {
    guard case .object(var fields)? = try read(), fields.removeValue(forKey: name) != nil else {
      return
    }
    try write(fields)
  }

  private func write(_ fields: [String: JSONValue]) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    do {
      // A link stays, and its target gets the change.
      try AtomicFile.write(
        try encoder.encode(JSONValue.object(fields)), to: url.resolvingSymlinksInPath())
    } catch {
      throw CommandFailure.machineFailed(
        "\(url.path.printable) could not be written: check the disk, then retry.")
    }
  }

  /// Adds the name of the file to the `CommandFailure` of `work`, if the file exists and the failure names no other
  /// place.
  package func naming<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      return try work()
    } catch let failure as CommandFailure
      where failure.status == .badInput && FileManager.default.fileExists(atPath: url.path)
    {
      let hasPlace =
        failure.message.hasPrefix(prefix) || shared?.isPlace(in: failure.message) ?? false
      throw hasPlace ? failure : refusal(failure.message)
    }
  }

  /// The JSON in the file; `nil` if there is no file.
  package func read() throws -> JSONValue? {
    // A dangling symbolic link is an error: the settings must not silently be the defaults.
    guard FileManager.default.attributes(of: url) != nil else { return nil }
    let content = try content()
    guard content.count <= SettingLimit.fileBytesMax else {
      throw refusal("it has more than \(SettingLimit.fileBytesMax) bytes.")
    }
    guard let tree = JSONValue(json: content), case .object = tree else {
      throw refusal("it must contain a JSON object.")
    }
    // JSON parsers disagree about duplicate fields.
    guard StrictJSONValidator.accepts(content.withoutByteOrderMark) else {
      throw refusal("it has a duplicate field, is nested too deeply, or is not UTF-8.")
    }
    return tree
  }

  /// Reads at most one byte more than the limit.
  private func content() throws -> Data {
    // Opening a pipe without O_NONBLOCK waits for a writer; lseek fails for pipes.
    let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw unreadableFile }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    guard lseek(descriptor, 0, SEEK_CUR) == 0,
      let content = file.bytes(upTo: SettingLimit.fileBytesMax + 1)
    else { throw unreadableFile }
    return content
  }

  private var unreadableFile: CommandFailure {
    refusal("it cannot be read, or is not a regular file: check its type and its permissions.")
  }

  private var prefix: String { "\(url.path.printable): " }

  private func refusal(_ message: String) -> CommandFailure { .badInput(prefix + message) }
}

/// The place of a value in the settings of one server.
package struct SettingContext {
  /// The place as error messages name it, such as `furtherExports[0].region`.
  var path = ""
  /// The server's folder, which relative file names in settings start from.
  let folder: URL
  /// If false, files that settings name are not read: not every command needs the secrets in them.
  let readsFiles: Bool

  package init(folder: URL, readsFiles: Bool) {
    self.folder = folder
    self.readsFiles = readsFiles
  }

  package func field(_ name: String) -> Self {
    var place = self
    place.path = path.isEmpty ? name : "\(path).\(name)"
    return place
  }

  package func element(_ index: Int) -> Self {
    var place = self
    place.path = "\(path)[\(index)]"
    return place
  }

  package func failure(_ fault: String) -> CommandFailure {
    .badInput("\((path.isEmpty ? "the file" : path).printable) \(fault).")
  }

  /// The file or folder `name`: an absolute path, or one relative to the server's folder.
  package func file(_ name: String) -> URL {
    name.hasPrefix("/") ? URL(fileURLWithPath: name) : folder.appendingPathComponent(name)
  }

  /// The secret in the file with the name `name`.
  func secret(_ name: String) throws -> String {
    try PrivateFile(file(name)).secret(named: path)
  }

  /// The P-256 private key, in PEM, in the file with the name `name`.
  func privateKey(_ name: String) throws -> String {
    let key = P256KeyFile(
      Data(try secret(name).utf8), subject: "\(path): \(file(name).path.printable)")
    return try key.privateKeyPEM()
  }
}

/// Limits of settings files.
package enum SettingLimit {
  /// The largest settings file in bytes: fifty SMS templates, and room.
  package static let fileBytesMax = 256 << 10
  /// The length of a name, such as an issuer or a key id.
  static let nameCharacters = 1...255

  static var nameForm: String {
    "text of \(nameCharacters.lowerBound) to \(nameCharacters.upperBound) characters in one line"
  }
}

extension CommandFailure: LoggableError {
  package var logText: String { message }
}
