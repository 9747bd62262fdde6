// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Checks that a target imports only the modules that `AllowedImports` lists for it.
enum ImportRule {
  static func violations(in file: SourceFile) -> [Violation] {
    guard let target = file.target else { return [] }
    guard let allowed = AllowedImports.modules(for: target) else {
      return [file.violation(1, "\(target) has no row in AllowedImports: add one")]
    }
    return imports(of: file).filter { !allowed.contains($0.module) }.map { line, module in
      file.violation(line, "\(target) may not import \(module): move the code to another target")
    }
  }

  static func imports(of file: SourceFile) -> [(line: Int, module: String)] {
    let kinds: Set<String> = [
      "struct", "class", "enum", "protocol", "func", "typealias", "let", "var", "actor",
    ]
    return file.matches(
      #"^\s*(@\w+(\([^)]*\))?\s+|(public|package|internal|fileprivate|private)\s+)*import\s"#
    )
    .compactMap { line, text in
      let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
      guard let keyword = words.firstIndex(of: "import") else { return nil }
      let named = words.dropFirst(keyword + 1).drop { kinds.contains($0) }.first
      return named?.split(separator: ".").first.map { (line, String($0)) }
    }
  }
}

/// Checks that C code includes only our headers and the system headers that `AllowedImports` lists, so that
/// kernels cannot allocate, read or write.
enum IncludeRule {
  static func violations(in file: SourceFile, headers: Set<String>) -> [Violation] {
    guard let target = file.target else { return [] }
    let allowed = AllowedImports.systemHeaders[target] ?? []
    return includes(of: file).compactMap { line, name, isSystemHeader in
      if isSystemHeader ? allowed.contains(name) : headers.contains(name) { return nil }
      return file.violation(
        line, "\(target) may not include \(name): remove it, or add it to AllowedImports")
    }
  }

  private static func includes(of file: SourceFile) -> [(
    line: Int, name: String, isSystemHeader: Bool
  )] {
    file.lines.enumerated().compactMap { index, text in
      text.firstMatch(of: #/^\s*#\s*include\s*([<"])([^>"]+)[>"]/#).map {
        (index + 1, String($0.2), $0.1 == "<")
      }
    }
  }
}

/// The target dependencies that a Package.swift declares.
struct Manifest {
  /// The modules that each target depends on; test targets are left out.
  let dependencies: [String: Set<String>]
  /// The products of other packages; true for those with the condition `system`.
  let products: [String: Bool]
  /// The lowest version of each package, by the last part of its URL.
  let versions: [String: String]

  init(_ text: String) {
    var products: [String: String] = [:]
    var conditions: [String: Bool] = [:]
    for match in text.matches(of: Self.product) {
      products[String(match.1)] = String(match.2)
      conditions[String(match.2)] = match.3 != nil
    }
    self.products = conditions
    let ranges = text.matches(of: Self.range).map { (String($0.1), String($0.2)) }
    versions = Dictionary(ranges) { first, _ in first }
    var dependencies: [String: Set<String>] = [:]
    for match in text.matches(of: Self.target) {
      let list = match.2 ?? ""
      let targets = list.matches(of: /"(\w+)"/).map { String($0.1) }
      let libraries = list.replacing(/"\w+"/, with: "").matches(of: /\w+/).map {
        products[String($0.0)] ?? String($0.0)
      }
      dependencies[String(match.1)] = Set(targets + libraries)
    }
    self.dependencies = dependencies
  }

  /// The name of a constant, its product and its condition.
  private static var product: Regex<(Substring, Substring, Substring, Substring?)> {
    #/
    let\ (\w+):\ Target\.Dependency\ =\s* \.product\(\s*
    name:\ "(\w+)",\ package:\ "[\w.\-]+" (,\ condition:\ system)?\)
    /#
  }

  private static var range: Regex<(Substring, Substring, Substring)> {
    #/
    \.package\(\s* url:\ "[^"]*\/([\w.\-]+)", \s* (?:from:\ )? "([\d.]+)"
    /#
  }

  private static var target: Regex<(Substring, Substring, Substring?)> {
    #/
    \.(?: target | executableTarget | systemLibrary) \( \s*
    name: \s* "(\w+)" (?: , \s* dependencies: \s* \[ ([^\]]*) \] )?
    /#
  }
}
