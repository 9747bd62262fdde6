// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("Architecture")
struct ArchitectureTests {
  /// Targets without a row in `AllowedImports`: test support, documentation and the example app.
  private static let exempt: Set<String> = [
    "TestSupport", "Browser", "ServedSystem", "snippets", "Benchmarks", "App", "ExampleApp",
  ]

  @Test("The repository is found")
  func found() {
    #expect(Project.sources.count > 50)
    #expect(Project.tests.count > 20)
    #expect(Project.cFiles.count > 5)
  }

  @Test("Every target imports only what its row allows")
  func imports() {
    record(Project.sources.flatMap(ImportRule.violations))
  }

  @Test("C code includes only our headers and the allowed system headers")
  func includes() {
    let headers = Set(Project.cFiles.map(\.name))
    record(Project.cFiles.flatMap { IncludeRule.violations(in: $0, headers: headers) })
  }

  @Test("Every folder under Sources has a row, and every row has a folder")
  func rows() {
    #expect(Set(Project.targets) == Set(AllowedImports.rows.keys))
  }

  @Test("The table of allowed imports has no cycle")
  func targetCycles() {
    var settled: Set<String> = []
    while let next = AllowedImports.rows.first(where: { name, row in
      !settled.contains(name) && row.targets.isSubset(of: settled)
    }) {
      settled.insert(next.key)
    }
    #expect(settled == Set(AllowedImports.rows.keys))
  }

  @Test("Folders of a target depend on each other in one direction", arguments: Project.targets)
  func folderCycles(_ target: String) {
    let files = Project.writtenSources.filter { $0.target == target }
    for violation in FolderRule(target: target, files: files).violations() {
      Issue.record(Comment(rawValue: violation))
    }
  }

  @Test("Package.swift gives no target a dependency that its row does not allow")
  func manifest() throws {
    let manifest = Manifest(try #require(Project.text("Package.swift")))
    let targets = manifest.dependencies.filter { !Self.exempt.contains($0.key) }
    #expect(Set(targets.keys) == Set(AllowedImports.rows.keys))
    for (target, dependencies) in targets {
      let allowed = try #require(AllowedImports.modules(for: target))
      let surplus = dependencies.subtracting(allowed).sorted()
      #expect(surplus.isEmpty, "Package.swift: \(target) depends on \(surplus): remove them")
    }
  }

  @Test("Every import is a declared dependency")
  func declared() throws {
    let manifest = Manifest(try #require(Project.text("Package.swift")))
    record(
      Project.sources.flatMap { file in
        let declared = manifest.dependencies[file.target ?? ""] ?? []
        return ImportRule.imports(of: file).filter {
          AllowedImports.allModules.contains($0.module) && !declared.contains($0.module)
        }.map { file.violation($0.line, "declare \($0.module) in Package.swift") }
      })
  }

  @Test("Every declared dependency is imported")
  func used() throws {
    let manifest = Manifest(try #require(Project.text("Package.swift")))
    let files = Dictionary(grouping: Project.sources, by: { $0.target ?? "" })
    for (target, dependencies) in manifest.dependencies where !Self.exempt.contains(target) {
      let imports = (files[target] ?? []).flatMap { ImportRule.imports(of: $0) }.map { $0.module }
      let unused = dependencies.subtracting(imports).sorted()
      #expect(unused.isEmpty, "Package.swift: \(target) imports none of \(unused): remove them")
    }
  }

  @Test("The framework depends neither on a target of the system nor on its libraries")
  func framework() throws {
    let manifest = Manifest(try #require(Project.text("Package.swift")))
    let allowed = AllowedImports.framework.union(AllowedImports.frameworkLibraries)
    for target in AllowedImports.framework {
      let surplus = try #require(manifest.dependencies[target]).subtracting(allowed).sorted()
      #expect(surplus.isEmpty, "Package.swift: \(target) depends on \(surplus) of the system")
    }
  }

  @Test(
    "The libraries of the framework have no condition, and all others have the condition System")
  func conditions() throws {
    let text = try #require(Project.text("Package.swift"))
    #expect(
      text.contains(#"let system: TargetDependencyCondition? = .when(traits: ["System"])"#))
    let products = Manifest(text).products
    #expect(
      products.count == text.matches(of: /\.product\(/).count, "declare each product as a constant")
    let unconditional = Set(products.filter { !$0.value }.keys)
    #expect(unconditional == AllowedImports.frameworkLibraries)
  }

  @Test("ARCHITECTURE.md names each target in its row of framework and system")
  func sides() throws {
    let page = try #require(Project.text("ARCHITECTURE.md"))
    let framework = ArchitecturePage.targets(of: "framework", in: page)
    let system = ArchitecturePage.targets(of: "system", in: page)
    #expect(Set(framework) == AllowedImports.framework)
    #expect((framework + system).sorted() == AllowedImports.rows.keys.sorted())
  }

  @Test("Each target is in one layer of ARCHITECTURE.md, and depends on none of a higher one")
  func layers() throws {
    let layers = ArchitecturePage.layers(in: try #require(Project.text("ARCHITECTURE.md")))
    #expect(layers.flatMap(\.self).sorted() == AllowedImports.rows.keys.sorted())
    for (index, layer) in layers.enumerated() {
      let higher = Set(layers[..<index].joined())
      for target in layer {
        let wrong = try #require(AllowedImports.rows[target]).targets.intersection(higher).sorted()
        #expect(wrong.isEmpty, "\(target) depends on \(wrong) of a higher layer: move it up")
      }
    }
  }

  @Test("Dependencies.md has a row for each package, with the lowest version of Package.swift")
  func versions() throws {
    let manifest = Manifest(try #require(Project.text("Package.swift")))
    let page = try #require(Project.text("Documentation/Dependencies.md"))
    let rows = page.matches(of: /(?m)^\| ([\w.\-]+) \| ([\d.]+) \| [^|]+ \| [^|]+ \|$/)
      .map { (String($0.1), String($0.2)) }
    #expect(manifest.versions.count > 10)
    #expect(Dictionary(rows) { first, _ in first } == manifest.versions)
  }

  @Test("The patterns of apps import one of Apple's modules each, and not Foundation")
  func applePatterns() {
    let folder = "Tests/AppleModulesTests/Patterns/"
    let files = Project.tests.filter { $0.path.hasPrefix(folder) }
    let modules = ["BackgroundTasks", "DeviceCheck", "ExposureNotification", "UserNotifications"]
    #expect(files.count >= 30)
    for file in files {
      let imports = ImportRule.imports(of: file).map(\.module)
      #expect(imports.count == 1 && modules.contains(imports[0]), "\(file.path): \(imports)")
    }
  }

  @Test("No server can reach contacts, no app can reach keys, no server can reach the other's data")
  func invariants() {
    func reachable(_ target: String) -> Set<String> {
      let next = AllowedImports.rows[target]?.targets ?? []
      return next.reduce(into: next) { $0.formUnion(reachable($1)) }
    }
    for server in ["VerificationServer", "KeyServer"] {
      #expect(reachable(server).isDisjoint(with: ["ExposureNotification", "ExposureApp"]))
    }
    #expect(
      reachable("VerificationServer").isDisjoint(
        with: ["KeyServerAPI", "KeyServer", "ExposureKeys"]))
    #expect(reachable("KeyServer").isDisjoint(with: ["VerificationAPI", "VerificationServer"]))
    #expect(reachable("ExposureKeys").isDisjoint(with: ["World", "SealedStorage"]))
    let app = AllowedImports.modules(for: "ExposureApp")
    #expect(app?.isDisjoint(with: ["ExposureKeys", "DiagnosisKeyFile"]) == true)
    let framework = AllowedImports.modules(for: "ExposureNotification")
    #expect(framework?.isDisjoint(with: ["AsyncHTTPClient", "Hummingbird"]) == true)
  }
}

/// The targets as ARCHITECTURE.md presents them.
private enum ArchitecturePage {
  /// The targets in the row that begins with `side`.
  static func targets(of side: String, in page: String) -> [String] {
    let row = page.components(separatedBy: "\n").first { $0.hasPrefix("| \(side) | ") }
    return (row ?? "").matches(of: /`(\w+)`/).map { String($0.1) }
  }

  /// The targets of each line of the picture, the highest layer first.
  static func layers(in page: String) -> [[String]] {
    let picture = page.components(separatedBy: "## Targets\n\n```\n").dropFirst().first?
      .components(separatedBy: "```").first
    return (picture ?? "").split(separator: "\n").reduce(into: []) { layers, line in
      if line.contains("<-") { return }
      let names = line.replacing(/^(executable|layer \d|ground)/, with: "")
        .split(separator: " ").map(String.init)
      if line.hasPrefix(" ") {
        layers[max(0, layers.count - 1)] += names
      } else {
        layers.append(names)
      }
    }
  }
}

/// Records one issue per violation.
func record(_ violations: [Violation], sourceLocation: SourceLocation = #_sourceLocation) {
  for violation in violations {
    Issue.record(Comment(rawValue: violation.description), sourceLocation: sourceLocation)
  }
}
