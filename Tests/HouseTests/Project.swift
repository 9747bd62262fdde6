// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The files of this repository.
enum Project {
  /// The Swift files under Sources.
  static let sources = files(in: "Sources", suffixes: [".swift"])
  /// The Swift files under Tests.
  static let tests = files(in: "Tests", suffixes: [".swift"])
  /// The C files.
  static let cFiles =
    files(in: "Sources", suffixes: [".c", ".h"]) + files(in: "Tests", suffixes: [".c", ".h"])
  /// The sources that are not generated.
  static let writtenSources = sources.filter { !$0.isGenerated }
  /// The Swift files that are not generated, of every package in the repository.
  static let written =
    writtenSources + tests + files(in: "Plugins", suffixes: [".swift"])
    + files(in: "Examples", suffixes: [".swift"])
    + files(in: "Benchmarks", suffixes: [".swift"])
    + files(in: "Documentation/Snippets", suffixes: [".swift"])
  /// The files to which text rules apply: all but those that quote the forbidden text.
  static let checkedForText =
    written.filter { !$0.path.hasPrefix("Tests/HouseTests/") } + cFiles
  /// The Markdown pages.
  static let pages = paths.filter { $0.hasSuffix(".md") }

  /// The names of the folders under Sources, each of which is a target.
  static let targets = names(in: "Sources").filter { isFolder("Sources/\($0)") }

  /// The content of a text file, or nil if there is none.
  static func text(_ path: String) -> String? {
    try? String(contentsOf: SharedData.projectRoot.appendingPathComponent(path), encoding: .utf8)
  }

  /// The path of every file and folder, build products excluded.
  static let paths: [String] =
    names(in: "").filter { !$0.hasPrefix(".build") && ![".git", "out"].contains($0) }.sorted()
    .flatMap { name in
      let all = FileManager.default.enumerator(
        atPath: SharedData.projectRoot.appendingPathComponent(name).path)
      return [name] + (all?.compactMap { $0 as? String } ?? []).sorted().map { "\(name)/\($0)" }
    }.filter { !$0.contains("/.build") }

  private static func files(in folder: String, suffixes: [String]) -> [SourceFile] {
    paths.filter { path in path.hasPrefix(folder + "/") && suffixes.contains(where: path.hasSuffix)
    }
    .compactMap { path in text(path).map { SourceFile(path: path, text: $0) } }
  }

  private static func names(in folder: String) -> [String] {
    let url = SharedData.projectRoot.appendingPathComponent(folder)
    return (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
  }

  private static func isFolder(_ path: String) -> Bool {
    let url = SharedData.projectRoot.appendingPathComponent(path)
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
      && isFolder.boolValue
  }
}
