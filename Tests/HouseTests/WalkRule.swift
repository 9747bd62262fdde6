// SPDX-License-Identifier: Apache-2.0
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

  /// `name` is a function with or without its labels, `init`, or a property, each with or without its type.
  private static func declares(_ name: String, in file: SourceFile) -> Bool {
    let path = name.prefix { $0 != "(" }.split(separator: ".").map(String.init)
    guard let base = path.last else { return false }
    if path.count == 2 {
      let type = #"\b(struct|class|actor|enum|protocol|extension)\s+\#(path[0])\b"#
      guard !file.matches(type).isEmpty else { return false }
    }
    let pattern =
      base == "init" ? #"\binit[?]?[(<]"# : #"\b(func|var|let|case)\s+`?\#(base)`?\b"#
    let declarations = file.matches(pattern)
    guard name.hasSuffix(")") else { return !declarations.isEmpty }
    let labels = String(name.drop { $0 != "(" })
    return declarations.contains { Self.labels(in: file, from: $0.line) == labels }
  }

  /// The labels of the function that is declared on `line`, such as `(_:at:)`.
  private static func labels(in file: SourceFile, from line: Int) -> String {
    let text = file.code[(line - 1)...].joined(separator: " ")
    var labels = "("
    var depth = 0
    var parameter = ""
    var previous: Character = " "
    for character in text.drop(while: { $0 != "(" }) {
      switch character {
      case "(", "[", "<": depth += 1
      case ")", "]": depth -= 1
      case ">" where previous != "-": depth -= 1
      default: break
      }
      if depth == 0 || (depth == 1 && character == ",") {
        let label = parameter.split { " :".contains($0) }.first
        labels += label.map { "\($0):" } ?? ""
        parameter = ""
      } else if depth > 1 || character != "(" {
        parameter.append(character)
      }
      if depth == 0 { break }
      previous = character
    }
    return labels + ")"
  }
}
