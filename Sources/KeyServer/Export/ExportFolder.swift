import Foundation
import KeyServerAPI

/// The folder that phones are served from: key files, and the index that names them.
///
/// A file is there whole or not at all, and the index names only what is there.
struct ExportFolder: Sendable {
  let url: URL

  /// Makes the folder where it is missing.
  init(_ url: URL) throws {
    self.url = url
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  /// Where the key file `name` is or will be.
  func file(_ name: KeyFileName) -> URL { url.appendingPathComponent(name.text) }

  /// Whether the key file is there.
  func holds(_ name: KeyFileName) -> Bool {
    FileManager.default.fileExists(atPath: file(name).path)
  }

  /// The index as it is served; empty before the first export.
  func index() -> Data {
    (try? Data(contentsOf: indexFile)) ?? Data()
  }

  /// Whether phones may have `name`.
  func serves(_ name: KeyFileName) -> Bool {
    KeyFileIndex.parse(String(decoding: index(), as: UTF8.self)).names.contains(name)
  }

  /// Replaces the index whole where it would change.
  func replaceIndex(_ names: [KeyFileName]) throws {
    let text = Data(KeyFileIndex.render(names).utf8)
    guard index() != text || !FileManager.default.fileExists(atPath: indexFile.path) else { return }
    try WholeFile.replace(text, at: indexFile)
  }

  /// Removes key files that are not of `names`, and what an interrupted write left.
  func removeAll(but names: Set<KeyFileName>) throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: url.path) {
      let name = KeyFileName(file)
      let isForgotten = name.map { !names.contains($0) } ?? WholeFile.isUnfinished(file)
      if isForgotten { try FileManager.default.removeItem(at: url.appendingPathComponent(file)) }
    }
  }

  private var indexFile: URL { url.appendingPathComponent("index.txt") }
}
