import Foundation

/// What C includes: headers of the project, and those of the system that the floor plan gives its room. So
/// nothing that allocates, reads or writes gets into a kernel unseen.
enum IncludeRule {
  static func findings(in file: SourceFile, headers: Set<String>) -> [Finding] {
    guard let room = file.room else { return [] }
    let allowed = FloorPlan.systemHeaders[room] ?? []
    return includes(of: file).compactMap { line, name, isOfSystem in
      if isOfSystem ? allowed.contains(name) : headers.contains(name) { return nil }
      return file.finding(
        line, "\(room) may not include \(name): do without, or ask the floor plan")
    }
  }

  private static func includes(of file: SourceFile) -> [(line: Int, name: String, isOfSystem: Bool)]
  {
    file.lines.enumerated().compactMap { index, text in
      text.firstMatch(of: #/^\s*#\s*include\s*([<"])([^>"]+)[>"]/#).map {
        (index + 1, String($0.2), $0.1 == "<")
      }
    }
  }
}
