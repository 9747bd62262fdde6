// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A list of parameters in the doc comment of a public declaration names all of them and no
/// others: DocC refuses such a list, but only when the reference is built.
enum ParameterRule {
  private static let declaration =
    #"\b(public|open)\s[^({]*?(?:func\s+[^\s(<]+|init[?!]?|subscript)\s*(<[^(]*>)?\("#

  static func violations(in file: SourceFile) -> [Violation] {
    file.matches(declaration).compactMap { match in
      let listed = listedParameters(in: file, above: match.line - 1)
      guard !listed.isEmpty else { return nil }
      let declared = declaredParameters(in: file, from: match.line - 1)
      let wrong = Set(listed).symmetricDifference(declared).sorted()
      guard !wrong.isEmpty else { return nil }
      return file.violation(
        match.line, "name all parameters in the comment or none: \(wrong.joined(separator: ", "))")
    }
  }

  /// The names in the list of the doc comment above a line. Attributes may stand between.
  private static func listedParameters(in file: SourceFile, above index: Int) -> [String] {
    var names: [String] = []
    for line in file.lines[..<index].reversed().map({ $0.trimmingCharacters(in: .whitespaces) }) {
      if line.hasPrefix("@") { continue }
      guard line.hasPrefix("///") else { break }
      if let name = line.firstMatch(of: /^\/\/\/\s+- (?:Parameter )?(\w+):/)?.1 {
        names.append(String(name))
      }
    }
    return names.filter { !["Parameters", "Precondition", "Returns", "Throws"].contains($0) }
  }

  /// The local names of the parameters of the declaration that begins in a line.
  private static func declaredParameters(in file: SourceFile, from index: Int) -> Set<String> {
    let text = file.code[index...].prefix(40).joined(separator: " ")
    guard let start = text.range(of: declaration, options: .regularExpression) else { return [] }
    var (parameters, depth) = ([""], 0)
    for character in text[start.upperBound...] {
      switch character {
      case "(", "[", "<", "{": depth += 1
      case ")" where depth == 0: return Set(parameters.compactMap(localName))
      // The arrow of a function type closes nothing.
      case ">" where parameters[parameters.count - 1].hasSuffix("-"): break
      case ")", "]", ">", "}": depth -= 1
      case "," where depth == 0: parameters.append("")
      default: break
      }
      if depth > 0 || character != "," { parameters[parameters.count - 1].append(character) }
    }
    return []
  }

  private static func localName(_ parameter: String) -> String? {
    parameter.prefix { $0 != ":" }.split(separator: " ").last.map(String.init)
  }
}
