// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("scripts/prepare", .needs(.process))
struct PrepareTests {
  private let machine: ScriptSandbox

  init() throws {
    machine = try ScriptSandbox(for: "prepare")
  }

  private func addSwift(_ version: String) throws {
    try machine.add(
      "swift", "[ \"$1\" = --version ] && echo 'Swift version \(version) (swift-RELEASE)'; exit 0")
  }

  @Test("Without Swift, one line says where to get it")
  func noSwift() async throws {
    let result = try await machine.run()
    #expect(result.status == 3)
    #expect(result.lines.count == 1)
    #expect(result.lines.first?.contains("install Swift 6.3 or later") == true)
  }

  @Test(
    "A Swift older than 6.3, or of unknown version, is refused in one line",
    arguments: [
      ("5.10.1", "Swift 5.10 found"), ("6.2.3", "Swift 6.2 found"), ("dev", "unknown version"),
    ])
  func olderSwift(version: String, reason: String) async throws {
    try addSwift(version)
    let result = try await machine.run()
    #expect(result.status == 3)
    #expect(result.lines.count == 1)
    #expect(result.lines.first?.contains(reason) == true)
    #expect(result.lines.first?.contains("needs Swift 6.3 or later; install") == true)
  }

  @Test(
    "A Swift newer than the tested one is accepted, and named once",
    arguments: [("6.4", "6.4"), ("6.10.1", "6.10"), ("7.0-dev", "7.0"), ("10.0", "10.0")])
  func newerSwift(version: String, name: String) async throws {
    try addSwift(version)
    try machine.add("dpkg-query", "echo -n 'install ok installed'")
    let first = try await machine.run()
    #expect(first.status == 0)
    #expect(first.lines.count == 2)
    #expect(first.lines.first?.contains("Swift \(name) is newer than 6.3") == true)
    let second = try await machine.run()
    #expect(second.status == 0)
    #expect(second.lines.isEmpty)
  }

  @Test("Without permission to install, the command for root is printed")
  func noRight() async throws {
    try addSwift("6.3.1")
    try machine.add("dpkg-query", "exit 1")
    try machine.add("apt-get", "exit 1")
    try machine.add("id", "echo 1000")
    let result = try await machine.run()
    #expect(result.status == 3)
    #expect(result.lines.count == 1)
    #expect(result.lines.first?.contains("apt-get install pkg-config libsqlite3-dev") == true)
  }

  @Test("Packages that are given as arguments are installed with the others")
  func furtherPackages() async throws {
    try addSwift("6.3.1")
    try machine.add("dpkg-query", "[ \"$3\" = python3-pip ] || echo -n 'install ok installed'")
    try machine.add("apt-get", "exit 1")
    try machine.add("id", "echo 1000")
    #expect(try await machine.run().status == 0)
    let result = try await machine.run("python3", "python3-pip")
    #expect(result.status == 3)
    #expect(result.lines.last?.hasSuffix("apt-get install python3-pip") == true)
  }

  @Test("If apt-get fails, the missing packages and the log are named")
  func noNetwork() async throws {
    try addSwift("6.3.1")
    try machine.add("dpkg-query", "exit 1")
    try machine.add("apt-get", "echo 'E: could not resolve host' >&2; exit 100")
    try machine.add("id", "echo 0")
    let result = try await machine.run()
    #expect(result.status == 3)
    #expect(result.lines.last?.contains("could not install pkg-config") == true)
    #expect(result.lines.last?.contains(".build/prepare.log") == true)
    #expect(result.lines.count == 2)
  }

  @Test("On a complete machine it fetches packages once and prints nothing the second time")
  func complete() async throws {
    try addSwift("6.3.1")
    try machine.add("dpkg-query", "echo -n 'install ok installed'")
    #expect(try await machine.run().lines == ["firebreak: fetching the Swift packages"])
    let second = try await machine.run()
    #expect(second.status == 0)
    #expect(second.lines.isEmpty)
  }
}
