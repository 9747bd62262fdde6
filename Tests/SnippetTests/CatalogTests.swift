// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("Catalogs of the library products")
struct CatalogTests {
  private static let products: [String] = {
    let manifest = (try? text("Package.swift")) ?? ""
    return manifest.matches(of: /\.library\(name: "(\w+)", targets: \["(\w+)"\]\)/)
      .map { String($0.2) }
  }()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: SharedData.projectRoot.appendingPathComponent(path), encoding: .utf8)
  }

  @Test("The package has library products")
  func found() {
    #expect(Self.products.count > 10)
  }

  @Test(
    "The landing page of a product names each public type and function once", arguments: products)
  func complete(_ product: String) throws {
    let page = try Self.text("Sources/\(product)/\(product).docc/\(product).md")
    #expect(page.hasPrefix("# ``\(product)``\n"))
    let listed = page.components(separatedBy: "\n").compactMap {
      $0.wholeMatch(of: /- ``(.+)``/).map { String($0.1) }
    }
    let folder = SharedData.projectRoot.appendingPathComponent("Sources/\(product)").path
    let files = (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? [])
      .filter { $0.hasSuffix(".swift") }
    let names = PublicNames(of: try files.map { try Self.text("Sources/\(product)/\($0)") }).names
      .filter { !$0.contains("/") }
    #expect(Set(names).subtracting(listed).sorted() == [], "add these to a group")
    #expect(Set(listed).subtracting(names).sorted() == [], "not declared")
    #expect(Set(listed).count == listed.count, "listed more than once")
  }
}
