// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import Foundation
import KeyServerAPI
import World

/// The folder of the key files and their indexes, which clients download.
///
/// Files appear complete, and an index lists only files that exist. The files of the ProteGO Safe contract are in
/// the folder itself, those of each further export in a subfolder with its name, so any web server can serve
/// the folder (see "Files and indexes" in Documentation/Exports.md).
struct ExportFolder: Sendable {
  let url: URL
  private let roots: [String]

  /// Creates the folder and one subfolder for each of `roots`, unless they exist.
  init(_ url: URL, roots: [String] = []) throws {
    self.url = url
    self.roots = roots
    try create()
  }

  /// Creates the folders that do not exist, also after someone has removed them from a running server.
  func create() throws {
    for folder in [""] + roots {
      try FileManager.default.createDirectory(
        at: url.appendingPathComponent(folder), withIntermediateDirectories: true)
    }
  }

  /// Returns `true` if the folder of the export `root` exists.
  func exists(_ root: String) -> Bool { exists(folder(root)) }

  /// The URL of the key file `name` of the export `root`.
  func file(_ name: KeyFileName, of root: String) -> URL {
    folder(root).appendingPathComponent(name.text)
  }

  /// Returns `true` if a file with this name exists, complete or not.
  func hasFile(_ name: KeyFileName, of root: String) -> Bool { exists(file(name, of: root)) }

  /// Returns `true` if the key file exists and its end is intact. We never create an incomplete file, but
  /// it may have been truncated since.
  func hasCompleteFile(_ name: KeyFileName, of root: String) -> Bool {
    UnverifiedKeyFile(at: file(name, of: root)).hasValidZipEnd
  }

  /// The content of the index, which the server creates when it starts.
  ///
  /// - Throws: The error of the file system if the index is missing or unreadable. It must not be served as
  ///   an empty index: phones would treat all files as analysed.
  func index(of root: String) throws -> Data { try Data(contentsOf: indexFile(root)) }

  /// The names in the index; empty if there is no index.
  func listedNames(of root: String) throws -> [KeyFileName] {
    guard exists(indexFile(root)) else { return [] }
    return String(decoding: try index(of: root), as: UTF8.self).split(separator: "\n")
      .compactMap { KeyFileName($0.split(separator: "/").last ?? "") }
  }

  /// Creates an empty index unless there is one.
  func createIndex(of root: String) throws {
    if !exists(indexFile(root)) { try replaceIndex([], of: root) }
  }

  /// True if files can be written: each export has a folder that allows it, and the disk has room for the largest file.
  var isWritable: Bool {
    ([""] + roots).allSatisfy {
      FreeSpace.bytes(in: folder($0)) ?? 0 >= KeyFileLimit.fileByteCountMax
    }
  }

  /// Writes the index if its content changes.
  func replaceIndex(_ names: [KeyFileName], of root: String) throws {
    let text = Data(KeyFileIndex.render(names, under: root).utf8)
    guard try !exists(indexFile(root)) || index(of: root) != text else { return }
    // Readable by everyone: another user's web server may serve the folder.
    try AtomicFile.write(text, to: indexFile(root), permissions: 0o644)
  }

  /// Removes the key files of the export that are not in `names`, and temporary files of interrupted writes.
  ///
  /// - Returns: The number of key files.
  @discardableResult
  func removeAll(but names: Set<KeyFileName>, of root: String) throws -> Int {
    var count = 0
    for file in try FileManager.default.contentsOfDirectory(atPath: folder(root).path) {
      let name = KeyFileName(file)
      guard name.map({ !names.contains($0) }) ?? TemporaryExportFile.isName(file) else { continue }
      try FileManager.default.removeItem(at: folder(root).appendingPathComponent(file))
      if name != nil { count += 1 }
    }
    return count
  }

  /// A name for `file` until it is published, which differs each time. `removeAll` removes what an interruption leaves.
  static func unfinished(_ file: URL) -> URL {
    let name = ".\(file.lastPathComponent).\(UUID().uuidString)"
    return file.deletingLastPathComponent().appendingPathComponent(name)
  }

  private func exists(_ file: URL) -> Bool {
    FileManager.default.fileExists(atPath: file.path)
  }

  private func folder(_ root: String) -> URL {
    root.isEmpty ? url : url.appendingPathComponent(root)
  }

  func indexFile(_ root: String) -> URL {
    folder(root).appendingPathComponent("index.txt")
  }
}
