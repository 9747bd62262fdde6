import Foundation
import StrictJSON
import Terminal
import World

/// The settings of a server, `settings.json` in its folder: strict JSON without secrets.
struct SettingsFile {
  let url: URL

  /// Reads the file and puts the settings of `table` into `root`.
  ///
  /// - Parameter options: Values of the command line, which replace those of the file.
  /// - Returns: All settings that are in force.
  /// - Throws: `CommandFailure` that names the file, the field and the values it accepts.
  func resolve<Root>(
    _ table: SettingsTable<Root>, into root: inout Root, readsFiles: Bool,
    options: [String: JSONTree?]
  ) throws -> JSONTree {
    var tree = try read() ?? .object([:])
    if case .object(let fields) = tree {
      tree = .object(fields.merging(options.compactMapValues { $0 }) { $1 })
    }
    let place = SettingContext(folder: url.deletingLastPathComponent(), readsFiles: readsFiles)
    return try naming { try table.resolve(tree, into: &root, at: place) }
  }

  /// Replaces one setting in the file. A concurrent manual edit may be lost. So may a change by another program, unless
  /// both hold the folder's lock (`FolderLock`).
  ///
  /// - Throws: `CommandFailure` if the file is damaged or cannot be written.
  func replace(_ name: String, with value: JSONTree) throws {
    var fields: [String: JSONTree] = [:]
    if case .object(let present) = try read() { fields = present }
    fields[name] = value
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    do {
      try AtomicFile.write(try encoder.encode(JSONTree.object(fields)), to: url)
    } catch {
      throw CommandFailure(
        status: .machineFailed,
        message: "\(url.path.printable) could not be written: check the disk, then retry.")
    }
  }

  /// Adds the name of the file to the `CommandFailure` of `work`, if the file exists.
  func naming<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      return try work()
    } catch let failure as CommandFailure
      where failure.status == .badInput && FileManager.default.fileExists(atPath: url.path)
    {
      throw failure.message.hasPrefix(prefix) ? failure : refusal(failure.message)
    }
  }

  /// The JSON in the file; `nil` if there is no file.
  private func read() throws -> JSONTree? {
    // A dangling symbolic link is an error: the settings must not silently be the defaults.
    guard (try? FileManager.default.attributesOfItem(atPath: url.path)) != nil else { return nil }
    let content = try content()
    guard content.count <= SettingLimit.fileBytesMax else {
      throw refusal("it has more than \(SettingLimit.fileBytesMax) bytes.")
    }
    guard let tree = try? JSONDecoder().decode(JSONTree.self, from: content),
      case .object = tree
    else { throw refusal("it must contain a JSON object.") }
    // JSON parsers disagree about duplicate fields.
    guard StrictJSONValidator.accepts(content) else {
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
      let content = try? file.read(upToCount: SettingLimit.fileBytesMax + 1) ?? Data()
    else { throw unreadableFile }
    return content
  }

  private var unreadableFile: CommandFailure {
    refusal("it cannot be read, or is not a regular file: check its type and its permissions.")
  }

  private var prefix: String { "\(url.path.printable): " }

  private func refusal(_ message: String) -> CommandFailure { .badInput(prefix + message) }
}
