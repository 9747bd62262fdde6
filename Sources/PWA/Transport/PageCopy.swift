// SPDX-License-Identifier: Apache-2.0
import Foundation
import WebPages

/// A copy of a web app in a private folder, with the bridge and a secret: for apps that run only where a browser shows
/// them from a file, as a phone's program does.
struct PageCopy: Sendable {
  /// The name of the bridge's script in the copy.
  static let scriptName = "firebreak-bridge.js"

  /// The folder of the copy.
  let folder: URL
  /// The script of the bridge.
  let script: Data

  /// Replaces the folder with a copy of `pages`, readable by its owner only.
  ///
  /// - Parameters:
  ///   - server: The address of the phone's server, without a path.
  ///   - secret: The secret that requests of the copy state.
  /// - Returns: The address of the first page.
  /// - Throws: `PageFolderError.overlapsCopy` if one folder contains the other; then nothing is removed.
  ///   `.notCopied` if the copy fails; then there is none.
  func write(
    _ pages: PageFolder, server: String, secret: String
  ) throws(PageFolderError) -> URL {
    guard !pages.overlaps(folder) else { throw .overlapsCopy(folder.path) }
    do {
      try remove()
      try makeFolder("")
      for name in pages.fileNames() {
        try write(name, of: pages, server: server, secret: secret)
      }
      try write(script, to: Self.scriptName)
    } catch {
      // The reason is that of the first failure.
      try? remove()
      throw .notCopied(folder.path)
    }
    return folder.appendingPathComponent("index.html")
  }

  /// Removes the copy if there is one.
  func remove() throws {
    guard FileManager.default.fileExists(atPath: folder.path) else { return }
    try FileManager.default.removeItem(at: folder)
  }

  private func write(
    _ name: String, of pages: PageFolder, server: String, secret: String
  ) throws {
    guard let content = pages.content(of: name) else { throw CocoaError(.fileReadUnknown) }
    let depth = name.count { $0 == "/" }
    if depth > 0 { try makeFolder(name.split(separator: "/").dropLast().joined(separator: "/")) }
    guard ContentType(fileName: name).isHTML else { return try write(content, to: name) }
    let path = String(repeating: "../", count: depth) + Self.scriptName
    let policy = ContentPolicy.files(reaching: server).header
    let element = """
      <meta http-equiv="Content-Security-Policy" content="\(policy)" />\
      <script src="\(path)" data-phone="\(server)" data-secret="\(secret)"></script>
      """
    try write(
      BridgeInjection.inject(Data(element.utf8), into: content, isFragmentKept: true), to: name)
  }

  private func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent(name), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
  }

  private func write(_ content: Data, to name: String) throws {
    let isWritten = FileManager.default.createFile(
      atPath: folder.appendingPathComponent(name).path, contents: content,
      attributes: [.posixPermissions: 0o600])
    guard isWritten else { throw CocoaError(.fileWriteUnknown) }
  }
}
