// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Checks that sibling folders of a target use each other's types in one direction only.
///
/// The files at the root of a target belong to no folder: they compose the folders, or define what several
/// folders use. A use of a member whose type is not named is not seen.
struct FolderRule {
  /// A file, reduced to its folder path inside the target and the type names it declares and uses.
  private struct Entry {
    let folders: [String]
    let declared: Set<String>
    let used: Set<String>
  }

  private let target: String
  private let entries: [Entry]

  init(target: String, files: [SourceFile]) {
    self.target = target
    entries = files.map { file in
      let parts = file.path.split(separator: "/").map(String.init)
      return Entry(
        folders: Array(parts.dropFirst(2).dropLast()), declared: Self.declarations(in: file),
        used: Self.typeNames(in: file))
    }
  }

  /// One message per pair of folders that depend on each other, directly or through others.
  func violations() -> [String] {
    violations(below: [])
  }

  private func violations(below prefix: [String]) -> [String] {
    let inside = entries.filter {
      $0.folders.starts(with: prefix) && $0.folders.count > prefix.count
    }
    let groups = Dictionary(grouping: inside) { $0.folders[prefix.count] }
    let arrows = Self.arrows(between: groups)
    let place = ([target] + prefix).joined(separator: "/")
    let found = arrows.sorted { $0.key < $1.key }.flatMap { folder, targets in
      targets.sorted { $0.key < $1.key }.filter { Self.reaches(folder, from: $0.key, arrows) }
        .map { other, names in
          "\(place): \(folder) uses \(names.sorted().joined(separator: ", ")) of \(other), and \(other) "
            + "depends on \(folder): move one of them"
        }
    }
    return found + groups.keys.sorted().flatMap { violations(below: prefix + [$0]) }
  }

  /// The type names that each folder uses of each other folder.
  private static func arrows(
    between groups: [String: [Entry]]
  ) -> [String: [String: Set<String>]] {
    var owners: [String: Set<String>] = [:]
    for (folder, entries) in groups {
      for name in entries.flatMap(\.declared) { owners[name, default: []].insert(folder) }
    }
    return groups.mapValues { _ in [:] }.merging(
      groups.map { folder, entries in
        let used = entries.reduce(into: Set<String>()) { $0.formUnion($1.used) }
        var arrows: [String: Set<String>] = [:]
        for name in used {
          guard let owner = owners[name], owner.count == 1, let other = owner.first, other != folder
          else { continue }
          arrows[other, default: []].insert(name)
        }
        return (folder, arrows)
      }
    ) { $1 }
  }

  private static func reaches(
    _ goal: String, from start: String, _ arrows: [String: [String: Set<String>]]
  ) -> Bool {
    var (seen, pending): (Set<String>, [String]) = ([start], [start])
    while let folder = pending.popLast() {
      if folder == goal { return true }
      for next in arrows[folder, default: [:]].keys where seen.insert(next).inserted {
        pending.append(next)
      }
    }
    return false
  }

  private static func declarations(in file: SourceFile) -> Set<String> {
    let modifiers = "public|package|internal|open|final|indirect|nonisolated"
    let pattern =
      #"^((\#(modifiers)|@\w+(\([^)]*\))?)\s+)*(struct|class|enum|actor|protocol|typealias)\s+\w"#
    let names = file.matches(pattern).compactMap { _, text in
      text.firstMatch(of: /\b(?:struct|class|enum|actor|protocol|typealias)\s+(\w+)/).map {
        String($0.1)
      }
    }
    return Set(names)
  }

  private static func typeNames(in file: SourceFile) -> Set<String> {
    var names: Set<String> = []
    for line in file.code {
      for word in line.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" })
      where word.first?.isUppercase == true {
        names.insert(String(word))
      }
    }
    return names
  }
}
