import Testing

@Suite("The house's rules catch what they are for")
struct RulesCatchTests {
  private func file(_ text: String, path: String = "Sources/ExposureApp/Thing.swift") -> SourceFile
  {
    SourceFile(path: path, text: text)
  }

  @Test(
    "An import of what lies upstairs or across is found, with its line",
    arguments: [
      "import DiagnosisKeyFile", "import Foundation\nimport ExposureKeys",
      "@testable import KeyServer", "package import Hummingbird",
      "import struct ExposureKeys.DiagnosisKey", "  import class VerificationServer.X",
    ])
  func plantedImport(_ text: String) {
    let findings = ImportRule.findings(in: file(text))
    #expect(findings.count == 1)
    #expect(findings.first?.line == text.split(separator: "\n").count)
    #expect(findings.first?.description.hasPrefix("Sources/ExposureApp/Thing.swift:") == true)
  }

  @Test(
    "An allowed import, or one in a comment or a string, is none",
    arguments: [
      "import World\nimport Foundation", "// import KeyServer", "let a = \"import KeyServer\"",
      "/*\nimport KeyServer\n*/", "let a = \"\"\"\nimport KeyServer\n\"\"\"",
    ])
  func noImport(_ text: String) {
    #expect(ImportRule.findings(in: file(text)).isEmpty)
  }

  @Test("A room that is not in the plan is found")
  func unknownRoom() {
    #expect(ImportRule.findings(in: file("", path: "Sources/Cellar/Thing.swift")).count == 1)
  }

  @Test(
    "Each ban is found in code and not in comments or strings",
    arguments: [
      "Date()", "Date.now", "Int.random(in: 0...1)", "print(1)", "try! f()", "fatalError(\"\")",
      "Task.detached {}", "DispatchSemaphore(value: 0)", "Thread.sleep()", "CommandLine.arguments",
      "ProcessInfo.processInfo", "\"\\(Date())\"", "HTTPClient.shared", "f(client: .shared)",
    ])
  func plantedBan(_ code: String) {
    func found(_ text: String, _ path: String) -> Int {
      BanRule.ofCode.flatMap { $0.findings(in: file(text, path: path)) }.count
    }
    #expect(found("let a = \(code)", "Sources/ExposureApp/Thing.swift") == 1)
    #expect(found("// let a = \(code)", "Sources/ExposureApp/Thing.swift") == 0)
  }

  @Test("What a room is for is allowed there and only there")
  func allowedBan() {
    let time = BanRule.ofCode[0]
    #expect(time.findings(in: file("Date()", path: "Sources/World/Clock.swift")).isEmpty)
    #expect(time.findings(in: file("validDate()")).isEmpty)
    #expect(time.findings(in: file("Date(timeIntervalSince1970: 0)")).isEmpty)
  }

  @Test("A wish in a comment and a path of one machine are found")
  func plantedText() {
    #expect(BanRule.textFindings(in: file("// TO" + "DO: later")).count == 1)
    #expect(BanRule.textFindings(in: file("let a = \"/ho" + "me/me/x\"")).count == 1)
    #expect(BanRule.textFindings(in: file("let mastodon = 1")).isEmpty)
  }

  @Test("A function of fifty lines passes, one of fifty-one is found")
  func functionLength() {
    func text(_ lines: Int) -> String {
      "func f(\n  a: Int\n) {\n" + String(repeating: "  g { }\n", count: lines - 4) + "}\n"
    }
    #expect(FormRule.functions(of: file(text(50))).isEmpty)
    #expect(FormRule.functions(of: file(text(51))).count == 1)
  }

  @Test("A function in C of fifty lines passes, one of fifty-one is found, prototypes are none")
  func functionLengthInC() {
    func findings(_ lines: Int) -> Int {
      let body = String(repeating: "  if (a) { g(); }\n", count: lines - 3)
      let text =
        "typedef struct a {\n  int b;\n} a;\nint f(int a,\n      int b);\nstatic int f(int a,\n    int b) {\n"
        + body + "}\n"
      return FormRule.functions(of: file(text, path: "Sources/CExposureKernels/f.c")).count
    }
    #expect(findings(50) == 0)
    #expect(findings(51) == 1)
  }

  @Test(
    "An include that a room in C may not have is found",
    arguments: [
      ("#include <stdint.h>", 0), ("#include \"own.h\"", 0), ("#include <stdio.h>", 1),
      ("  # include <stdlib.h>", 1), ("#include \"other.h\"", 1), ("// include <stdio.h>", 0),
    ])
  func includes(_ text: String, _ count: Int) {
    let file = file(text, path: "Sources/CExposureKernels/f.c")
    #expect(IncludeRule.findings(in: file, headers: ["own.h"]).count == count)
  }

  @Test("A file of four hundred lines passes, one of four hundred and one is found")
  func fileLength() {
    #expect(FormRule.length(of: file(String(repeating: "\n", count: 400))).isEmpty)
    #expect(FormRule.length(of: file(String(repeating: "\n", count: 401))).count == 1)
  }

  @Test("A line of a hundred columns passes, one of a hundred and one is found")
  func columns() {
    #expect(FormRule.columns(of: file(String(repeating: "é", count: 100))).isEmpty)
    #expect(FormRule.columns(of: file(String(repeating: "é", count: 101))).count == 1)
    let comment = "//" + String(repeating: "é", count: 118)
    #expect(FormRule.columns(of: file(comment)).isEmpty)
    #expect(FormRule.columns(of: file(comment + "é")).count == 1)
  }

  @Test(
    "Names that say nothing are found, Apple's is not",
    arguments: [
      ("UploadManager.swift", 1), ("ENManager.swift", 0), ("ENManager+Detection.swift", 0),
      ("StringUtils.swift", 1), ("Upload.swift", 0), ("KeyHandler.swift", 1),
    ])
  func names(_ name: String, _ count: Int) {
    #expect(FormRule.name(of: file("", path: "Sources/World/\(name)")).count == count)
  }

  @Test("A second type is found; nested ones and extensions are none")
  func types() {
    #expect(FormRule.types(of: file("struct A {\n  enum B {}\n}\nextension A {}")).isEmpty)
    #expect(FormRule.types(of: file("struct A {}\n\npublic final class B {}")).count == 1)
  }

  @Test(
    "A declaration without a comment is found, a witness is not",
    arguments: [
      ("public struct A {}", 1), ("/// A.\npublic struct A {}", 0),
      ("/// A.\n@frozen\npublic struct A {}", 0), ("  public init(a: Int) {}", 1),
      ("  package static func f() {}", 1), ("  public var description: String { a }", 0),
      ("extension A: P {\n  public func f() {}\n}", 0), ("func f() {}", 0),
      ("public func demanded() {}", 0),
    ])
  func comments(_ text: String, _ count: Int) {
    #expect(CommentRule.findings(in: file(text), requirements: ["demanded"]).count == count)
  }

  @Test(
    "A document or paragraph that does not exist is found",
    arguments: [
      ("// Documentation/There.md 3.1.", 0), ("// Documentation/There.md 3", 0),
      ("// Documentation/There.md 3.2", 1), ("// Documentation/Gone.md", 1),
      ("// Documentation/There.md", 0), ("// Documentation/There.md 31", 1),
    ])
  func citations(_ text: String, _ count: Int) {
    let findings = CitationRule.findings(in: file(text)) { path in
      path == "Documentation/There.md" ? "# There\n\n## 3. Title\n\n3.1 Text.\n" : nil
    }
    #expect(findings.count == count)
  }

  @Test("A manifest is read with rooms and libraries")
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
