import Foundation
import TestSupport

/// The files of the project.
enum House {
  /// Every Swift file under Sources.
  static let sources = files(in: "Sources", endings: [".swift"])
  /// Every Swift file under Tests.
  static let tests = files(in: "Tests", endings: [".swift"])
  /// Every file in C.
  static let inC =
    files(in: "Sources", endings: [".c", ".h"]) + files(in: "Tests", endings: [".c", ".h"])
  /// Those that people wrote.
  static let written = (sources + tests).filter { !$0.isGenerated }
  /// Those that do not quote what the rules look for, and those in C.
  static let outsideThisRoom = written.filter { !$0.path.hasPrefix("Tests/HouseTests/") } + inC
  /// Those under Sources that people wrote.
  static let writtenSources = sources.filter { !$0.isGenerated }

  /// The folders under Sources.
  static let rooms = names(in: "Sources").filter { isFolder("Sources/\($0)") }

  static func text(_ path: String) -> String? {
    try? String(contentsOf: SharedData.projectRoot.appendingPathComponent(path), encoding: .utf8)
  }

  /// Every path of a file or folder that belongs to the project, from its root.
  static let paths: [String] =
    names(in: "").filter { !$0.hasPrefix(".build") && ![".git", "out"].contains($0) }.sorted()
    .flatMap { name in
      let all = FileManager.default.enumerator(
        atPath: SharedData.projectRoot.appendingPathComponent(name).path)
      return [name] + (all?.compactMap { $0 as? String } ?? []).sorted().map { "\(name)/\($0)" }
    }

  private static func files(in folder: String, endings: [String]) -> [SourceFile] {
    paths.filter { path in path.hasPrefix(folder + "/") && endings.contains(where: path.hasSuffix) }
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
