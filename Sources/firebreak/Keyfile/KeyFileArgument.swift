// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import Foundation
import Terminal

/// A key file named on the command line; `-` is standard input.
///
/// The deviations that published files have are accepted and reported. Phones do not accept them.
struct KeyFileArgument {
  /// The argument that names standard input.
  static let standardInput = "-"

  /// The name in messages.
  let name: String
  /// The name in the heading of a table.
  let shortName: String
  private let file: UnverifiedKeyFile
  /// The first bytes, by which another kind of file is named.
  private let head: Data

  /// - Throws: `CommandFailure` if `path` is a folder, or an empty file, or if a pipe or standard input cannot be read.
  init(_ path: String) throws {
    guard path != Self.standardInput else {
      (name, shortName) = ("standard input", "standard input")
      let content = try Self.standardInputContent(name)
      (file, head) = (UnverifiedKeyFile(published: content), Self.head(of: content))
      return
    }
    let url = URL(fileURLWithPath: path)
    (name, shortName) = (path.printable, url.lastPathComponent.printable)
    var facts = stat()
    // The reader reports a file that does not exist.
    guard stat(path, &facts) == 0 else {
      (file, head) = (UnverifiedKeyFile(at: url, accepting: .published), Data())
      return
    }
    switch facts.st_mode & S_IFMT {
    case S_IFDIR: throw CommandFailure.badInput("\(name): This is a folder: name a key file.")
    case S_IFREG:
      guard facts.st_size > 0 else { throw Self.empty(name) }
      (file, head) = (UnverifiedKeyFile(at: url, accepting: .published), Self.head(of: url))
    default:
      // A pipe, such as that of `<(...)` in a shell.
      let content = [UInt8](
        try InputFile(path, what: "key file", byteCountMax: Self.byteCountMax).content)
      (file, head) = (UnverifiedKeyFile(published: content), Self.head(of: content))
    }
  }

  private static func head(of content: [UInt8]) -> Data {
    Data(content.prefix(ForeignFile.headByteCount))
  }

  private static func head(of file: URL) -> Data {
    // The reader reports a file that cannot be read.
    (try? FileHandle(forReadingFrom: file).read(upToCount: ForeignFile.headByteCount)) ?? Data()
  }

  private static func standardInputContent(_ name: String) throws -> [UInt8] {
    // The error has no more to say than that.
    guard
      let content = try? FileHandle.standardInput.read(upToCount: byteCountMax + 1) ?? Data()
    else {
      throw CommandFailure.machineFailed("\(name): It could not be read: try again.")
    }
    guard !content.isEmpty else { throw empty(name) }
    return [UInt8](content)
  }

  private static func empty(_ name: String) -> CommandFailure {
    .badInput("\(name): The file is empty: download it again.")
  }

  /// The largest content of a pipe, in bytes.
  private static let byteCountMax = KeyFileLimit.exportByteCountMax

  /// Returns the result of `read`.
  ///
  /// - Throws: `CommandFailure` with the name of the file if it cannot be read or verified.
  func read<Result>(_ read: (UnverifiedKeyFile) throws -> Result) throws -> Result {
    do {
      return try read(file)
    } catch let error as KeyFileError {
      throw error == .notAKeyFile ? notAKeyFile : error.failure(of: name)
    }
  }

  private var notAKeyFile: CommandFailure {
    if let foreign = ForeignFile(head) {
      return .badInput("\(name): This is \(foreign.kind) and no key file: \(foreign.remedy).")
    }
    guard !name.lowercased().hasSuffix(".sig") else {
      return .badInput("\(name): This is a file of signatures: name the export.bin beside it.")
    }
    return KeyFileError.notAKeyFile.failure(of: name)
  }

  /// Prints the deviations of the file on stderr, if it has any.
  func noteDeviations(_ facts: KeyFileSummary) {
    let deviations = facts.shownDeviations
    guard !deviations.isEmpty else { return }
    note("\(name): \(deviations.joined(separator: ", ")).")
  }
}

extension KeyFileSummary {
  /// The deviations of the file as text for the terminal, at most `deviationsShownMax`.
  var shownDeviations: [String] {
    let shown = deviations.prefix(Self.deviationsShownMax).map(\.description.printable)
    let others = deviations.count - shown.count
    return others > 0 ? shown + ["and \(others) more"] : shown
  }

  private static let deviationsShownMax = 10
}

extension KeyFileError {
  /// The error that ends a command which read or wrote the file `name`.
  func failure(of name: String) -> CommandFailure {
    CommandFailure(status: exitStatus, message: "\(name): \(description)")
  }

  /// An invalid signature is the answer "no"; an invalid file is bad input.
  var exitStatus: ExitStatus {
    switch code {
    case .unsigned, .noSignatureByTheseKeys, .unsupportedAlgorithm, .signatureMismatch: .no
    case .diskFull: .machineFailed
    case .cannotRead, .cannotWrite:
      Self.mistakenPaths.contains(systemError ?? 0) ? .badInput : .machineFailed
    default: .badInput
    }
  }

  /// Errors of a mistyped or forbidden path.
  private static let mistakenPaths = [ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG]
}
