// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Terminal
import TextEncodings
import World

/// A file with secrets that only its owner may read (mode 0600).
package struct PrivateFile: Sendable {
  /// The largest JSON file in bytes.
  private static let jsonBytesMax = 1 << 20
  /// The largest file that holds one secret, such as a key in PEM, in bytes.
  package static let secretBytesMax = 16 << 10

  package let url: URL

  package init(_ url: URL) { self.url = url }

  /// Decodes the JSON in the file; `nil` if there is no file.
  ///
  /// - Throws: `CommandFailure` if other users can read the file, it cannot be decoded, or its checksum differs.
  package func read<Content: Codable>(_ type: Content.Type) throws -> Content? {
    guard let data = try data(atMost: Self.jsonBytesMax, failure: failure) else { return nil }
    do {
      return try JSONDecoder().decode(Checksummed<Content>.self, from: data).content
    } catch {
      throw failure(
        Self.isIntact(data)
          ? "was written by a newer version of firebreak: run that version, or restore a backup of this one"
          : "is damaged or was edited by hand: restore it from a backup")
    }
  }

  /// True if the JSON has the checksum of its fields, of which this version may not know all.
  private static func isIntact(_ json: Data) -> Bool {
    do {
      _ = try JSONDecoder().decode(Checksummed<UnknownFields>.self, from: json)
      return true
    } catch {
      return false
    }
  }

  /// Decodes a file that must exist if one of `data` exists, because it was created before them.
  ///
  /// - Throws: `CommandFailure` if the file is lost. With new secrets the server would reject the tokens, codes and
  ///   key files that it issued.
  package func read<Content: Codable>(_ type: Content.Type, neededBy data: URL...) throws
    -> Content?
  {
    if let content = try read(type) { return content }
    guard let data = data.first(where: { FileManager.default.fileExists(atPath: $0.path) }) else {
      return nil
    }
    throw failure(
      "is missing, and \(data.path.printable) needs it: move the folder away and restore a backup")
  }

  /// Creates the file with `content`. If two processes create it at once, both get the content of one.
  package func create<Content: Codable>(_ content: Content) throws -> Content {
    do {
      try AtomicFile.write(try encoded(content), to: url, existing: .keep)
    } catch let error as FileError where error.code == EEXIST {
    } catch is FileError {
      throw notWritten
    }
    guard let content = try read(Content.self) else { throw notWritten }
    return content
  }

  /// Replaces the file. A change of content that was read before needs `withLock` around both calls.
  package func replace(_ content: some Codable) throws {
    do {
      try AtomicFile.write(try encoded(content), to: url)
    } catch is FileError {
      throw notWritten
    }
  }

  /// Runs `change` while no other process changes a file in the same folder, so that no change is lost.
  package func withLock<Result>(_ change: () throws -> Result) throws -> Result {
    do {
      return try FolderLock.withLockBlocking(on: url.deletingLastPathComponent(), change)
    } catch is FileError {
      throw notWritten
    }
  }

  /// The text in the file, without white space around it.
  ///
  /// - Parameter setting: The setting that names the file, for the error message.
  /// - Throws: `CommandFailure` if the file is missing, empty or too large, or other users can read it.
  package func secret(named setting: String) throws -> String {
    let failure = { (fault: String) in
      CommandFailure.badInput("\(setting): \(url.path.printable) \(fault).")
    }
    guard let data = try data(atMost: Self.secretBytesMax, failure: failure) else {
      throw failure("is missing: put it there and chmod 600 it")
    }
    guard let text = String(data: data, encoding: .utf8) else {
      throw failure(
        "is not text: write a key as PEM with openssl pkey -inform DER, and other secrets in UTF-8")
    }
    let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !secret.isEmpty else { throw failure("is empty: put the secret into it") }
    return secret
  }

  private func data(atMost limit: Int, failure: (String) -> CommandFailure) throws -> Data? {
    // Opening a pipe without O_NONBLOCK waits for a writer.
    let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw failure("cannot be read: check its permissions") }
      return nil
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      throw failure("is not a regular file: replace it")
    }
    guard facts.st_mode & 0o077 == 0 else {
      throw failure("can be read by other users: chmod 600 it, and change the secrets in it")
    }
    guard let data = file.bytes(upTo: limit + 1) else {
      throw failure("cannot be read: check its disk")
    }
    guard data.count <= limit else { throw failure("must have at most \(limit) bytes") }
    return data
  }

  private func encoded(_ content: some Codable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return try encoder.encode(Checksummed(content: content))
  }

  private func failure(_ fault: String) -> CommandFailure {
    .badInput("\(url.path.printable) \(fault).")
  }

  private var notWritten: CommandFailure {
    CommandFailure.machineFailed(
      "\(url.path) could not be written: check the disk and its permissions, then retry.")
  }
}

/// Content with the field `checksum`, the SHA-256 of the other fields: a changed bit in a key gives another valid key,
/// which only the checksum detects.
private struct Checksummed<Content: Codable>: Codable {
  let content: Content

  fileprivate enum CodingKeys: CodingKey {
    case checksum
  }

  init(content: Content) {
    self.content = content
  }

  init(from decoder: any Decoder) throws {
    content = try Content(from: decoder)
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let checksum = try fields.decode(Data.self, forKey: .checksum)
    guard checksum == (try Self.checksum(of: content)) else {
      throw DecodingError.dataCorruptedError(
        forKey: .checksum, in: fields, debugDescription: "The checksum differs.")
    }
  }

  func encode(to encoder: any Encoder) throws {
    try content.encode(to: encoder)
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(try Self.checksum(of: content), forKey: .checksum)
  }

  private static func checksum(of content: Content) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Data(SHA256.hash(data: try encoder.encode(content)))
  }
}

/// The fields of a file of any version, without the checksum.
private struct UnknownFields: Codable {
  private let fields: [String: JSONValue]

  init(from decoder: any Decoder) throws {
    let name = Checksummed<UnknownFields>.CodingKeys.checksum.stringValue
    fields = try [String: JSONValue](from: decoder).filter { $0.key != name }
  }

  func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }
}
