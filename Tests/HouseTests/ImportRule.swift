import Foundation

/// Look only downstairs: every import is one that the floor plan allows.
enum ImportRule {
  static func findings(in file: SourceFile) -> [Finding] {
    guard let room = file.room else { return [] }
    guard let allowed = FloorPlan.importable(by: room) else {
      return [file.finding(1, "\(room) is not in the floor plan: add it there first")]
    }
    return imports(of: file).filter { !allowed.contains($0.module) }.map { line, module in
      file.finding(line, "\(room) may not import \(module): ask for less, or move the code")
    }
  }

  static func imports(of file: SourceFile) -> [(line: Int, module: String)] {
    let kinds: Set<String> = [
      "struct", "class", "enum", "protocol", "func", "typealias", "let", "var", "actor",
    ]
    return file.matches(#"^\s*(@\w+(\([^)]*\))?\s+|public\s+|package\s+|internal\s+)*import\s"#)
      .compactMap { line, text in
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let keyword = words.firstIndex(of: "import") else { return nil }
        let named = words.dropFirst(keyword + 1).drop { kinds.contains($0) }.first
        return named?.split(separator: ".").first.map { (line, String($0)) }
      }
  }
}
