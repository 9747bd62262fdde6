// SPDX-License-Identifier: Apache-2.0
import Testing
import WebPages

@Suite("Content policies")
struct ContentPolicyTests {
  /// The directives of a policy by their names.
  private func directives(_ policy: ContentPolicy) -> [String: String] {
    Dictionary(
      policy.header.split(separator: ";").map { directive in
        let words = directive.split(separator: " ").map(String.init)
        return (words.first ?? "", words.dropFirst().joined(separator: " "))
      }
    ) { first, second in "\(first) and again \(second)" }
  }

  @Test("Pages of our own load what is named, and are never framed")
  func own() {
    let policy = ContentPolicy([.styles, .scripts], images: .ownAndInline, sendsForms: true)
    #expect(
      directives(policy) == [
        "default-src": "'none'", "style-src": "'self'", "script-src": "'self'",
        "img-src": "'self' data:", "form-action": "'self'", "base-uri": "'none'",
        "frame-ancestors": "'none'",
      ])
  }

  @Test("A page that names nothing loads nothing and sends nothing")
  func inert() {
    #expect(
      directives(.inert) == [
        "default-src": "'none'", "form-action": "'none'", "base-uri": "'none'",
        "frame-ancestors": "'none'",
      ])
  }

  @Test("Only the policies of other apps allow inline scripts, and none another machine")
  func machines() {
    let copy = ContentPolicy.files(reaching: "http://127.0.0.1:1")
    #expect(!ContentPolicy.app.header.contains("unsafe"))
    #expect(directives(copy)["connect-src"] == "http://127.0.0.1:1 file: data: blob:")
    for policy in [ContentPolicy.app, .foreignApp, copy] {
      for source in directives(policy).values.flatMap({ $0.split(separator: " ") }) {
        let places = ["data:", "blob:", "file:", "http://127.0.0.1:1"]
        #expect(source.hasPrefix("'") || places.contains(String(source)))
      }
    }
  }
}
