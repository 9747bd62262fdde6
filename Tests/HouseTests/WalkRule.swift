import Foundation

/// The steps that Documentation/Walks.md lists, each a file and a function, and the files they lead through.
struct Walk {
  /// One row: the code location and its line in the page.
  struct Step {
    let line: Int
    let file: String
    let function: String
  }

  static let page = "Documentation/Walks.md"

  let title: String
  let steps: [Step]

  var files: Set<String> { Set(steps.map(\.file)) }

  /// The walks of the page: a second-level heading each, with a table of `file` and `function`.
  static func walks(in text: String) -> [Walk] {
    var walks: [Walk] = []
    for (index, line) in text.components(separatedBy: "\n").enumerated() {
      if line.hasPrefix("## ") {
        walks.append(Walk(title: String(line.dropFirst(3)), steps: []))
      }
      let names = line.matches(of: /`([^`]+)`/).map { String($0.1) }
      guard line.hasPrefix("|"), names.count >= 2, names[0].hasSuffix(".swift"),
        let walk = walks.popLast()
      else { continue }
      let step = Step(line: index + 1, file: names[0], function: names[1])
      walks.append(Walk(title: walk.title, steps: walk.steps + [step]))
    }
    return walks.filter { !$0.steps.isEmpty }
  }

  /// The steps whose file or function does not exist.
  func violations(files: [String: SourceFile]) -> [Violation] {
    steps.compactMap { step in
      guard let file = files["Sources/\(step.file)"] else {
        return Violation(path: Self.page, line: step.line, advice: "\(step.file) does not exist")
      }
      guard !Self.declares(step.function, in: file) else { return nil }
      return Violation(
        path: Self.page, line: step.line, advice: "\(step.file) does not declare \(step.function)")
    }
  }

  /// `name` is a function with or without its labels, `init`, or a property.
  private static func declares(_ name: String, in file: SourceFile) -> Bool {
    let base = name.prefix { $0 != "(" }.split(separator: ".").last.map(String.init) ?? name
    let pattern =
      base == "init" ? #"\binit[?]?[(<]"# : #"\b(func|var|let|case)\s+`?\#(base)`?\b"#
    return !file.matches(pattern).isEmpty
  }
}
