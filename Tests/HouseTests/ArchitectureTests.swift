// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("Architecture")
struct ArchitectureTests {
  /// Targets without a row in `AllowedImports`: test support and documentation.
  private static let exempt: Set<String> = [
    "TestSupport", "Browser", "ServedSystem", "snippets", "Benchmarks",
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

/// Records one issue per violation.
func record(_ violations: [Violation], sourceLocation: SourceLocation = #_sourceLocation) {
  for violation in violations {
    Issue.record(Comment(rawValue: violation.description), sourceLocation: sourceLocation)
  }
}
