// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import Foundation
import KeyServerAPI
import World

/// A copy of another server's key files and index in a folder, which any web server can serve. Only files with a valid
/// signature are copied.
package struct KeyMirror: Sendable {
  /// The counts of a run.
  package struct Report: Sendable, Hashable {
    /// The files that were copied.
    package var copied = 0
    /// The files that were copied by an earlier run.
    package var known = 0
    /// The files that were removed because the index does not list them any more.
    package var removed = 0
  }

  private let source: KeyFileSource
  private let folder: ExportFolder
  private let signer: TrustedSigner

  /// - Throws: `KeyServerError.exportFolder` if the folder cannot be created.
  package init(
    of source: KeyFileSource, in folder: URL, signer: TrustedSigner
  ) throws(KeyServerError) {
    self.source = source
    do { self.folder = try ExportFolder(folder) } catch { throw .exportFolder }
    self.signer = signer
  }

  /// Copies the files that are missing, then replaces the index, then removes the files that it does not list.
  ///
  /// - Throws: `KeyImportFailure`; the copied files stay, and the index lists those that were copied so far.
  package func run() async throws -> Report {
    var report = Report()
    var names: [KeyFileName] = []
    do {
      for file in try await source.files() {
        guard let name = file.listed else {
          throw KeyImportFailure.badSource(file.name, "not an index: name the address of one")
        }
        if folder.hasCompleteFile(name, of: "") {
          report.known += 1
        } else {
          try await copy(file, as: name)
          report.copied += 1
        }
        names.append(name)
      }
    } catch {
      // Nothing is removed: the files that follow may be those of the present index.
      let earlier = try folder.listedNames(of: "").filter { folder.hasFile($0, of: "") }
      try folder.replaceIndex(Array(Set(names + earlier)), of: "")
      throw error
    }
    try folder.replaceIndex(names, of: "")
    report.removed = try folder.removeAll(but: Set(names), of: "")
    return report
  }

  private func copy(_ file: KeyFileSource.File, as name: KeyFileName) async throws {
    let content = try await file.content()
    _ = try signer.verify(content, of: file.name) { _ in }
    try AtomicFile.write(Data(content), to: folder.file(name, of: ""), permissions: 0o644)
  }
}
