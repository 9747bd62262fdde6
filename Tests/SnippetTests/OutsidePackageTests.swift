// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("A package outside this one", .needs(.process))
struct OutsidePackageTests {
  /// One build for all tests.
  private static let build = Task {
    try await OutsidePackage.build(of: try FrameworkPage())
  }

  @Test("An app with `traits: []`, also one with a desktop, fetches four packages")
  func resolved() async throws {
    let dependencies = try await Self.build.value.dependencies()
    #expect(dependencies == ["swift-crypto", "swift-asn1", "swift-log", "swift-protobuf"])
  }

  @Test(
    "The example of Framework.md compiles in both language modes and prints what the page says",
    arguments: OutsidePackage.programs.values.sorted())
  func printed(_ program: String) async throws {
    let output = try await Self.build.value.output(of: program)
    #expect(try output == FrameworkPage().output)
  }

  @Test("README.md has the same example")
  func readme() throws {
    let file = SharedData.projectRoot.appendingPathComponent("README.md")
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(try FrameworkPage.blocks(of: text, after: "```swift\n") == [FrameworkPage().example])
  }
}
