import Testing

/// `scripts/prepare` on machines that lack something.
@Suite struct PrepareTests {
  private let machine: BareMachine

  init() throws {
    machine = try BareMachine(for: "prepare")
  }

  private func addSwift(_ version: String) throws {
    try machine.add(
      "swift", "[ \"$1\" = --version ] && echo 'Swift version \(version) (swift-RELEASE)'; exit 0")
  }

  @Test("Without Swift one line says where to get it")
  func noSwift() throws {
    let ending = try machine.run()
    #expect(ending.status == 3)
    #expect(ending.lines.count == 1)
    #expect(ending.lines.first?.contains("install Swift 6.3") == true)
  }

  @Test("A wrong Swift version is named in one line", arguments: ["5.10.1", "6.2.1", "7.0"])
  func wrongSwift(version: String) throws {
    try addSwift(version)
    let ending = try machine.run()
    #expect(ending.status == 3)
    #expect(ending.lines.count == 1)
    #expect(ending.lines.first?.contains("Swift \(version.prefix(3))") == true)
  }

  @Test("Somebody who may not install is told what to run as root")
  func noRight() throws {
    try addSwift("6.3.1")
    try machine.add("dpkg-query", "exit 1")
    try machine.add("apt-get", "exit 1")
    try machine.add("id", "echo 1000")
    let ending = try machine.run()
    #expect(ending.status == 3)
    #expect(ending.lines.count == 1)
    #expect(ending.lines.first?.contains("apt-get install pkg-config libsqlite3-dev") == true)
  }

  @Test("Without a network the missing packages are named, and where apt-get's words are")
  func noNetwork() throws {
    try addSwift("6.3.1")
    try machine.add("dpkg-query", "exit 1")
    try machine.add("apt-get", "echo 'E: could not resolve host' >&2; exit 100")
    try machine.add("id", "echo 0")
    let ending = try machine.run()
    #expect(ending.status == 3)
    #expect(ending.lines.last?.contains("could not install pkg-config") == true)
    #expect(ending.lines.last?.contains(".build/prepare.log") == true)
    #expect(ending.lines.count == 2)
  }

  @Test("With everything there it fetches once, and says nothing the second time")
  func complete() throws {
    try addSwift("6.3.1")
    try machine.add("dpkg-query", "echo -n 'install ok installed'")
    #expect(try machine.run().lines == ["firebreak: fetching the Swift packages"])
    let second = try machine.run()
    #expect(second.status == 0)
    #expect(second.lines.isEmpty)
  }
}
