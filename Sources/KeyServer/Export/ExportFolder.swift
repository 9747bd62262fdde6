import DiagnosisKeyFile
import Foundation
import KeyServerAPI

/// The folder that phones are served from: key files, and the indexes that name them.
///
/// A file is there whole or not at all, and an index names only what is there. The files of the seed
/// contract lie in the folder itself, those of each further export in a folder of its name: the layout
/// of Documentation/Exports.md 3, so that any web server can serve it as it is.
struct ExportFolder: Sendable {
  let url: URL

  /// Makes the folder where it is missing, and one for each of `roots`.
  init(_ url: URL, roots: [String] = []) throws {
    self.url = url
    for folder in [""] + roots {
      try FileManager.default.createDirectory(
        at: url.appendingPathComponent(folder), withIntermediateDirectories: true)
    }
  }

  /// Whether the folder of the export with this root is there.
  func isThere(_ root: String) -> Bool { isThere(folder(root)) }

  /// Where the key file `name` of the export with this root is or will be.
  func file(_ name: KeyFileName, of root: String) -> URL {
    folder(root).appendingPathComponent(name.text)
  }

  /// Whether there is something under the name of the key file.
  func hasName(_ name: KeyFileName, of root: String) -> Bool { isThere(file(name, of: root)) }

  /// Whether the key file is there, whole as far as its end shows: what we write has no name before it
  /// is whole, but somebody or a disk may have cut it off since.
  func holds(_ name: KeyFileName, of root: String) -> Bool {
    UnverifiedKeyFile(at: file(name, of: root)).hasItsEnd
  }

  /// The index as it is served; empty before the first export.
  func index(of root: String) -> Data {
    (try? Data(contentsOf: indexFile(root))) ?? Data()
  }

  /// Whether phones may have `name`.
  func serves(_ name: KeyFileName, of root: String) -> Bool {
    let line = KeyFileIndex.line(name, under: root)
    return String(decoding: index(of: root), as: UTF8.self).split(separator: "\n")
      .contains { $0 == line }
  }

  /// Replaces the index whole where it would change.
  func replaceIndex(_ names: [KeyFileName], of root: String) throws {
    let text = Data(KeyFileIndex.render(names, under: root).utf8)
    guard index(of: root) != text || !isThere(indexFile(root)) else { return }
    try WholeFile.replace(text, at: indexFile(root))
  }

  /// Removes key files of the export that are not of `names`, and what an interrupted write left.
  func removeAll(but names: Set<KeyFileName>, of root: String) throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: folder(root).path) {
      let name = KeyFileName(file)
      let isForgotten = name.map { !names.contains($0) } ?? WholeFile.isUnfinished(file)
      if isForgotten {
        try FileManager.default.removeItem(at: folder(root).appendingPathComponent(file))
      }
    }
  }

  private func isThere(_ file: URL) -> Bool {
    FileManager.default.fileExists(atPath: file.path)
  }

  private func folder(_ root: String) -> URL {
    root.isEmpty ? url : url.appendingPathComponent(root)
  }

  private func indexFile(_ root: String) -> URL {
    folder(root).appendingPathComponent("index.txt")
  }
}
