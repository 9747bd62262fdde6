// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The public names that Swift sources declare, as DocC writes them: `ENManager/activate()`.
///
/// Reads formatted sources: two spaces per level, one declaration per line. Extensions of other
/// modules' types are skipped.
struct PublicNames {
  private(set) var names: [String] = []
  private var types: Set<String> = []

  /// The names that `sources`, the text of all files of a module, declare.
  init(of sources: [String]) {
    let lines = sources.map { $0.components(separatedBy: "\n") }
    for line in lines.joined() where Self.mayDeclare(line) {
      if let match = line.prefixMatch(of: Self.type) { types.insert("\(match.4)") }
    }
    for file in lines { read(file) }
    names = Set(names).sorted()
  }

  /// False for an empty line and a comment: the expressions below cost more.
  private static func mayDeclare(_ line: String) -> Bool {
    line.utf8.first { $0 != UInt8(ascii: " ") }.map {
      $0 == UInt8(ascii: "@") || $0 >= UInt8(ascii: "A")
    } ?? false
  }

  private typealias OneName = Regex<(Substring, Substring)>
  private static var type: Regex<(Substring, Substring, Substring?, Substring, Substring)> {
    #/
    ^(\ *)(?:@\w+\ )*(public\ |open\ )?(?:final\ )?
    (class|struct|enum|protocol|actor)\ (?!var|func)(\w+)
    /#
  }
  private static var extensionOfType: OneName { #/^extension ([\w.]+)/# }
  private static var value: OneName {
    #/^ *(?:@\w+ )*(?:public|open) (?:override |class |static )*(?:var|let|typealias) `?(\w+)/#
  }
  private static var call: OneName {
    #/
    ^\ *(?:@\w+\ )*(?:public|open)\ (?:override\ |convenience\ |static\ )*
    (?:func\ )?(init|[\w~=]+)(?:<[^(]*>)?\ ?\(
    /#
  }
  private static var enumCase: OneName { #/^ *case `?(\w+)/# }
  private static var requirement: OneName { #/^ *func (\w+)\(/# }

  /// A type or extension that contains lines.
  private struct Scope {
    let path: String
    let kind: String
    let isPublic: Bool
    let indentation: Int
  }

  private mutating func read(_ lines: [String]) {
    var scopes: [Scope] = []
    for (index, line) in lines.enumerated() {
      let indentation = line.prefix { $0 == " " }.count
      if line.dropFirst(indentation).hasPrefix("}"), scopes.last?.indentation == indentation {
        scopes.removeLast()
      }
      guard indentation == 2 * scopes.count, Self.mayDeclare(line) else { continue }
      if let scope = scope(line, in: scopes.last, indentation) {
        if scope.isPublic, scope.kind != "extension" { names.append(scope.path) }
        if line.hasSuffix("{") || !line.hasSuffix("}") { scopes.append(scope) }
      } else if let name = Self.member(lines[index...], in: scopes.last) {
        names.append(name)
      }
    }
  }

  private func scope(_ line: String, in outer: Scope?, _ indentation: Int) -> Scope? {
    if let match = line.prefixMatch(of: Self.extensionOfType) {
      let path = "\(match.1)".replacing(".", with: "/")
      let isOurs = types.contains(path.components(separatedBy: "/")[0])
      return Scope(path: path, kind: "extension", isPublic: isOurs, indentation: indentation)
    }
    guard let match = line.prefixMatch(of: Self.type) else { return nil }
    let path = (outer.map { "\($0.path)/" } ?? "") + "\(match.4)"
    let isPublic = match.2 != nil && outer?.isPublic ?? true
    return Scope(path: path, kind: "\(match.3)", isPublic: isPublic, indentation: indentation)
  }

  private static func member(_ lines: ArraySlice<String>, in scope: Scope?) -> String? {
    guard let line = lines.first, scope?.isPublic ?? true else { return nil }
    let name: String? =
      if scope?.kind == "enum", let match = line.prefixMatch(of: enumCase) {
        line.contains("(") ? "\(match.1)(\(labels(lines)))" : "\(match.1)"
      } else if scope?.kind == "protocol", let match = line.prefixMatch(of: requirement) {
        "\(match.1)(\(labels(lines)))"
      } else if let match = line.prefixMatch(of: value) {
        "\(match.1)"
      } else if let match = line.prefixMatch(of: call) {
        match.1 == "~=" ? "~=(_:_:)" : "\(match.1)(\(labels(lines)))"
      } else {
        nil
      }
    return name.map { (scope.map { "\($0.path)/" } ?? "") + $0 }
  }

  /// The labels of the parameters that begin with the first bracket of `lines`: `_:for:`.
  private static func labels(_ lines: ArraySlice<String>) -> String {
    var (depth, parameters) = (0, [""])
    for character in lines.joined(separator: " ").replacing("->", with: "").drop(while: {
      $0 != "("
    }) {
      if "([<".contains(character) { depth += 1 }
      if ")]>".contains(character) { depth -= 1 }
      if depth == 0 { break }
      if character == ",", depth == 1 {
        parameters.append("")
      } else if depth > 1 || character != "(" {
        parameters[parameters.count - 1].append(character)
      }
    }
    return parameters.compactMap { parameter in
      parameter.split(separator: " ").first.map { $0.hasSuffix(":") ? "\($0)" : "\($0):" }
    }.joined()
  }
}
