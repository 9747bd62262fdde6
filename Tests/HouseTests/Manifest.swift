import Foundation

/// What Package.swift says about targets.
struct Manifest {
  /// Of each target that is no test: the modules it depends on.
  let dependencies: [String: Set<String>]

  init(_ text: String) {
    var products: [String: String] = [:]
    for match in text.matches(of: /let (\w+): Target\.Dependency =\s*\.product\(\s*name: "(\w+)"/) {
      products[String(match.1)] = String(match.2)
    }
    var dependencies: [String: Set<String>] = [:]
    for match in text.matches(of: Self.target) {
      let list = match.2 ?? ""
      let rooms = list.matches(of: /"(\w+)"/).map { String($0.1) }
      let libraries = list.replacing(/"\w+"/, with: "").matches(of: /\w+/).map {
        products[String($0.0)] ?? String($0.0)
      }
      dependencies[String(match.1)] = Set(rooms + libraries)
    }
    self.dependencies = dependencies
  }

  private static var target: Regex<(Substring, Substring, Substring?)> {
    #/
    \.(?: target | executableTarget | systemLibrary) \( \s*
    name: \s* "(\w+)" (?: , \s* dependencies: \s* \[ ([^\]]*) \] )?
    /#
  }
}
