// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("Rules of this test target")
struct RuleTests {
  private func file(_ text: String, path: String = "Sources/ExposureApp/Thing.swift") -> SourceFile
  {
    SourceFile(path: path, text: text)
  }

  @Test(
    "A forbidden import is found, with its line",
    arguments: [
      "import DiagnosisKeyFile", "import Foundation\nimport ExposureKeys",
      "@testable import KeyServer", "package import Hummingbird", "private import Hummingbird",
      "import struct ExposureKeys.DiagnosisKey", "  import class VerificationServer.X",
    ])
  func plantedImport(_ text: String) {
    let violations = ImportRule.violations(in: file(text))
    #expect(violations.count == 1)
    #expect(violations.first?.line == text.split(separator: "\n").count)
    #expect(violations.first?.description.hasPrefix("Sources/ExposureApp/Thing.swift:") == true)
  }

  @Test(
    "Allowed imports, and text in comments and strings, are not violations",
    arguments: [
      "import World\nimport Foundation", "// import KeyServer", "let a = \"import KeyServer\"",
      "/*\nimport KeyServer\n*/", "let a = \"\"\"\nimport KeyServer\n\"\"\"",
    ])
  func noImport(_ text: String) {
    #expect(ImportRule.violations(in: file(text)).isEmpty)
  }

  @Test("A target without a row is found")
  func unknownTarget() {
    #expect(ImportRule.violations(in: file("", path: "Sources/Unknown/Thing.swift")).count == 1)
  }

  @Test(
    "Each banned pattern is found in code and not in comments",
    arguments: [
      "Date()", "Date.now", "Date.init()", "Date(timeIntervalSinceNow: 1)", "time(nil)",
      "Int.random(in: 0...1)", "Int.random(in: 0..<min(1, 2))", "Bool.random()", "[1].shuffled()",
      "print(1)", "try! f()", "fatalError(\"\")",
      "Task.detached {}", "DispatchSemaphore(value: 0)", "Thread.sleep()", "CommandLine.arguments",
      "String(1, radix: 16)", "Int(now.timeIntervalSince1970)", "UInt64(now.timeIntervalSince1970)",
      "Int64(now.timeIntervalSince1970.rounded(.down))", "Date(timeIntervalSince1970: Double(1))",
      "ProcessInfo.processInfo", "\"\\(Date())\"", "HTTPClient.shared", "f(client: .shared)",
      "SymmetricKey(size: .bits256)", "AES.GCM.Nonce()", "ChaChaPoly.Nonce()",
      "DatabasePool(path: a)", "DatabaseQueue(path: a)",
    ])
  func plantedBan(_ code: String) {
    func found(_ text: String, _ path: String) -> Int {
      BannedPattern.inCode.flatMap { $0.violations(in: file(text, path: path)) }.count
    }
    #expect(found("let a = \(code)", "Sources/ExposureApp/Thing.swift") == 1)
    #expect(found("// let a = \(code)", "Sources/ExposureApp/Thing.swift") == 0)
  }

  @Test(
    "A try? without a comment is found",
    arguments: [
      "try? f()", "let a = 1  // one\ntry? f()", "// a\nlet a = 1\ntry? f()",
      "guard a,\n  let b = try? f()\nelse { return }", "/// A function.\nfunc a() {\n  try? f()\n}",
      "// a\nguard let a else { return }\nlet b = try? f()", "let a = \"// no\" + (try? f())",
      "// a\n\ntry? f()",
    ])
  func ignoredError(_ text: String) {
    let line = text.split(separator: "\n", omittingEmptySubsequences: false).firstIndex {
      $0.contains("try?")
    }
    #expect(
      IgnoredErrorRule.violations(in: file(text)).map(\.line) == [line.map { $0 + 1 }])
  }

  @Test(
    "A comment on the line, above it or above its statement gives the reason for a try?",
    arguments: [
      "try? f()  // a", "// a\ntry? f()", "// a\nguard a,\n  let b = try? f()\nelse { return }",
      "guard a,\n  // a\n  let b = try? f()\nelse { return }", "// a\nlet b =\n  try? f()",
      "// a\nguard\n  let b = try? f()\nelse { return }", "// a\nlet b = c\n  .map { try? f($0) }",
      "// try? f()", "let a = \"try? f()\"", "let a = try f()",
    ])
  func explainedError(_ text: String) {
    #expect(IgnoredErrorRule.violations(in: file(text)).isEmpty)
  }

  @Test(
    "An encryption without a nonce of its own is found, also over several lines",
    arguments: [
      ("AES.GCM.seal(a, using: b)", 1), ("AES.GCM.seal(a, using: b, nonce: c)", 0),
      ("ChaChaPoly.seal(\n  a, using: b,\n  authenticating: c)", 1),
      ("AES.GCM.seal(\n  a, using: b(),\n  nonce: c(), authenticating: d)", 0),
      ("AES.GCM.seal(f(a, nonce: c), using: b)", 1), ("AES.GCM.seal(a, using: \"nonce:\")", 1),
      ("AES.GCM.seal(a, using: b)\nf(nonce: c)", 1), ("// AES.GCM.seal(a, using: b)", 0),
      ("schedule.seal(a, beside: b)", 0),
    ])
  func nonces(_ text: String, _ count: Int) {
    #expect(NonceRule.violations(in: file("let a = 1\n" + text)).count == count)
  }

  @Test("A quotation mark in a regular expression hides no code of later lines")
  func quotationMarkInExpression() {
    let text = "let a = /\"+/\nlet b = Date()\nlet c = \"\""
    #expect(BannedPattern.inCode[0].violations(in: file(text)).map(\.line) == [2])
  }

  @Test(
    "Child processes without swift-subprocess are found",
    arguments: [
      "let a = Process()", "let a: Process = .init()", "try Process.run(a, arguments: [])",
      "posix_spawn(&a, b, nil, nil, c, d)",
    ])
  func plantedProcess(_ code: String) {
    #expect(BannedPattern.foundationProcess.violations(in: file(code)).count == 1)
  }

  @Test(
    "A connection of a test that fails while a server writes is found",
    arguments: [
      ("DatabaseQueue(path: a)", 1), ("DatabaseQueue(\n  path: a, configuration: b)", 1),
      ("DatabasePool.init(path: a)", 1), ("DatabaseQueue(waitingAt: a)", 0), ("DatabaseQueue()", 0),
    ])
  func impatientDatabase(_ code: String, _ count: Int) {
    let found = BannedPattern.impatientDatabase.violations(
      in: file(code, path: "Tests/KeyServerTests/A.swift"))
    #expect(found.count == count)
  }

  @Test("A target may be exempt from a pattern")
  func allowedBan() {
    let time = BannedPattern.inCode[0]
    #expect(time.violations(in: file("Date()", path: "Sources/World/Clock.swift")).isEmpty)
    #expect(time.violations(in: file("validDate()")).isEmpty)
    #expect(time.violations(in: file("Date(timeIntervalSince1970: 0)")).isEmpty)
  }

  @Test("Markers of unfinished work and absolute paths are found")
  func plantedText() {
    #expect(BannedPattern.textViolations(in: file("// TO" + "DO: later")).count == 1)
    #expect(BannedPattern.textViolations(in: file("let a = \"/ho" + "me/me/x\"")).count == 1)
    #expect(BannedPattern.textViolations(in: file("let mastodon = 1")).isEmpty)
  }

  @Test("A function of 50 lines passes, one of 51 is found")
  func functionLength() {
    func text(_ lines: Int) -> String {
      "func f(\n  a: Int\n) {\n" + String(repeating: "  g { }\n", count: lines - 4) + "}\n"
    }
    #expect(FormRule.functions(of: file(text(50))).isEmpty)
    #expect(FormRule.functions(of: file(text(51))).count == 1)
  }

  @Test("A C function of 50 lines passes, one of 51 is found, prototypes are ignored")
  func functionLengthInC() {
    func violations(_ lines: Int) -> Int {
      let body = String(repeating: "  if (a) { g(); }\n", count: lines - 3)
      let text =
        "typedef struct a {\n  int b;\n} a;\nint f(int a,\n      int b);\nstatic int f(int a,\n    int b) {\n"
        + body + "}\n"
      return FormRule.functions(of: file(text, path: "Sources/CExposureKernels/f.c")).count
    }
    #expect(violations(50) == 0)
    #expect(violations(51) == 1)
  }

  @Test(
    "A forbidden include is found",
    arguments: [
      ("#include <stdint.h>", 0), ("#include \"own.h\"", 0), ("#include <stdio.h>", 1),
      ("  # include <stdlib.h>", 1), ("#include \"other.h\"", 1), ("// include <stdio.h>", 0),
    ])
  func includes(_ text: String, _ count: Int) {
    let file = file(text, path: "Sources/CExposureKernels/f.c")
    #expect(IncludeRule.violations(in: file, headers: ["own.h"]).count == count)
  }

  @Test("A file of 400 lines passes, one of 401 is found")
  func fileLength() {
    #expect(FormRule.length(of: file(String(repeating: "\n", count: 400))).isEmpty)
    #expect(FormRule.length(of: file(String(repeating: "\n", count: 401))).count == 1)
  }

  @Test("A line of 100 columns passes, one of 101 is found; 120 with a comment")
  func columns() {
    #expect(FormRule.columns(of: file(String(repeating: "é", count: 100))).isEmpty)
    #expect(FormRule.columns(of: file(String(repeating: "é", count: 101))).count == 1)
    let comment = "//" + String(repeating: "é", count: 118)
    #expect(FormRule.columns(of: file(comment)).isEmpty)
    #expect(FormRule.columns(of: file(comment + "é")).count == 1)
  }

  @Test(
    "Vague file names are found; Apple's are allowed",
    arguments: [
      ("UploadManager.swift", 1), ("ENManager.swift", 0), ("ENManager+Detection.swift", 0),
      ("StringUtils.swift", 1), ("Upload.swift", 0), ("KeyHelper.swift", 1),
      ("RequestHandler.swift", 0),
    ])
  func names(_ name: String, _ count: Int) {
    #expect(FormRule.name(of: file("", path: "Sources/World/\(name)")).count == count)
  }

  @Test(
    "Doc comments that open with a question word are found",
    arguments: [
      ("/// What a key is.", 1), ("/// The key.", 0), ("/// Whether it is set.", 1),
      ("/// The first line\n/// What follows here is the same sentence.", 0),
      ("/// The first line.\n///\n/// How it works.", 1), ("/// - Returns: Whose key it is.", 1),
      ("/// - Throws: An error if it fails.", 0), ("// What is not a doc comment.", 0),
      ("let a = \"/// What\"", 0), ("/// Whatever follows.", 0),
    ])
  func openings(_ text: String, _ count: Int) {
    #expect(LanguageRule.violations(in: file(text)).count == count)
  }

  @Test(
    "Banned words are found in comments only",
    arguments: [
      ("// nobody reads it", 1), ("let nobody = 1", 0), ("let a = \"nobody\"", 0),
      ("let a = 1  // Somebody", 1), ("/// Whoever reads it anew.", 2), ("// a nobody's", 1),
    ])
  func words(_ text: String, _ count: Int) {
    #expect(LanguageRule.violations(in: file(text)).count == count)
  }

  @Test("Folders that use each other are found, also through a third folder")
  func folderCycles() {
    func violations(_ files: [String: String]) -> [String] {
      FolderRule(
        target: "T", files: files.map { SourceFile(path: "Sources/T/\($0).swift", text: $1) }
      ).violations()
    }
    let oneWay = [
      "A/A": "struct A { let b: B }", "B/B": "struct B {}", "Root": "let a: A; struct R {}",
    ]
    #expect(violations(oneWay).isEmpty)
    #expect(violations(oneWay.merging(["B/C": "let a: A"]) { $1 }).count == 2)
    #expect(violations(oneWay.merging(["B/C": "// A\nlet a = \"A\""]) { $1 }).isEmpty)
    let around = [
      "A/A": "struct A { let b: B }", "B/B": "struct B { let c: C }",
      "C/C": "struct C { let a: A }",
    ]
    #expect(violations(around).count == 3)
    let nested = ["X/A/A": "struct A { let b: B }", "X/B/B": "struct B { let a: A }"]
    #expect(violations(nested).count == 2)
  }

  @Test(
    "Links to missing pages and headings are found",
    arguments: [
      ("[a](There.md)", 0), ("[a](Gone.md)", 1), ("[a](There.md#a-title-2)", 0),
      ("[a](There.md#gone)", 1), ("[a](https://example.com)", 0), ("[a](../README.md)", 0),
      ("[a](#own-heading)", 0), ("[a](#gone)", 1), ("```\n[a](Gone.md)\n```", 0),
    ])
  func links(_ text: String, _ count: Int) {
    let pages = [
      "Documentation/There.md": "# There\n\n## A title, 2\n", "README.md": "",
      "Documentation/Here.md": "# Own heading\n",
    ]
    let violations = LinkRule.violations(
      inPage: "Documentation/Here.md", text: text, exists: { pages[$0] != nil }, read: { pages[$0] }
    )
    #expect(violations.count == count)
  }

  @Test(
    "Paths of missing pages in comments are found",
    arguments: [("// Documentation/There.md", 0), ("// See Documentation/Gone.md.", 1)])
  func paths(_ text: String, _ count: Int) {
    let violations = LinkRule.violations(in: file(text)) { $0 == "Documentation/There.md" }
    #expect(violations.count == count)
  }

  @Test("A step of a walk whose file or function is missing is found")
  func walks() throws {
    let page = """
      ## Upload
      | Step | File | Function |
      |---|---|---|
      | 1 | `A/B.swift` | `f(_:)` |
      | 2 | `A/B.swift` | `B.init` |
      | 3 | `A/B.swift` | `gone` |
      | 4 | `A/Gone.swift` | `f` |
      | 5 | `A/B.swift` | `B.f(_:at:)` |
      | 6 | `A/B.swift` | `f(_:)` |
      | 7 | `A/B.swift` | `C.f` |
      """
    let walk = try #require(Walk.walks(in: page).first)
    let source = SourceFile(
      path: "Sources/A/B.swift",
      text: """
        struct B {
          init() {}
          func f<T>(
            _ body: (Int, Array<T>, [String: T]) -> T, at time: Date
          ) {}
        }
        """)
    #expect(walk.steps.count == 7)
    #expect(walk.violations(files: [source.path: source]).map(\.line) == [4, 6, 7, 9, 10])
  }

  @Test("A promise without tests, or with a missing test, is found")
  func promises() {
    let tests = [SourceFile(path: "Tests/A/B.swift", text: "struct B {\n  func c() {}\n}")]
    func count(_ cell: String) -> Int {
      let page = "## Limits\n| Limit | Tests |\n|---|---|\n| x | \(cell) |\n"
      return PromiseRule.rows(in: page, under: "Limits").flatMap {
        PromiseRule.violations(in: $0, tests: tests)
      }.count
    }
    #expect([count("`A/B`"), count("`A/B.c`"), count("— no test needed")] == [0, 0, 0])
    #expect(
      [count("`A/C`"), count("`A/B.d`"), count("none"), count("`B/B.c`, `A/B.c`")] == [1, 1, 1, 1])
  }

  @Test(
    "A list of parameters with a missing or an unknown name is found",
    arguments: [
      ("- Parameter a: A.", "func f(a: Int, b: Int)", 1),
      ("- Parameters:\n///   - a: A.\n///   - c: C.", "init(a: Int)", 1),
      (
        "- Parameter b: B.\n/// - Returns: C.",
        "func f(a b: [Int: Int]) -> Int", 0
      ),
      (
        "- Parameters:\n///   - a: A.\n///   - b: B.",
        "func f(a: (Int, Int) -> Int = { _, _ in 1 },\n  b: Set<Int>)", 0
      ),
      ("No list.", "func f(a: Int)", 0), ("- Throws: E.", "func f(a: Int)", 0),
    ])
  func parameters(_ comment: String, _ declaration: String, _ count: Int) {
    #expect(
      ParameterRule.violations(in: file("/// \(comment)\npublic \(declaration) {}")).count == count)
  }

  @Test("Dependencies on targets and libraries are read from a manifest")
  func manifest() {
    let manifest = Manifest(
      """
      let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
      .target(name: "World", swiftSettings: strict),
      .target(
        name: "Keys", dependencies: ["World", crypto], swiftSettings: strict),
      """)
    #expect(manifest.dependencies == ["World": [], "Keys": ["World", "Crypto"]])
  }
}
