import Foundation
import TestSupport
import Testing

/// `scripts/prepare` on machines that lack something. The machine is made of the few commands it may
/// find; the script is the real one.
@Suite struct PrepareTests {
  private let machine: TemporaryFolder

  init() throws {
    machine = try TemporaryFolder()
    try FileManager.default.createDirectory(
      at: machine.path("project/scripts"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: SharedData.projectRoot.appendingPathComponent("scripts/prepare"),
      to: machine.path("project/scripts/prepare"))
    try Data("// no package".utf8).write(to: machine.path("project/Package.swift"))
    try FileManager.default.createDirectory(
      at: machine.path("bin"), withIntermediateDirectories: true)
    for tool in ["bash", "dirname", "env", "grep", "head", "mkdir", "touch", "true"] {
      try FileManager.default.createSymbolicLink(
        atPath: machine.path("bin/\(tool)").path, withDestinationPath: try path(of: tool))
    }
  }

  /// Adds a command to the machine.
  private func add(_ command: String, _ script: String) throws {
    let url = machine.path("bin/\(command)")
    try Data("#!\(try path(of: "bash"))\n\(script)\n".utf8).write(to: url)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: url.path)
  }

  private func path(of tool: String) throws -> String {
    let folders = ["/usr/bin", "/bin", "/usr/local/bin"]
    return try #require(
      folders.map { "\($0)/\(tool)" }.first(where: FileManager.default.isExecutableFile))
  }

  /// Runs the script and returns how it ended and what it said.
  private func prepare() throws -> (status: Int32, lines: [String]) {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: try path(of: "bash"))
    process.arguments = [machine.path("project/scripts/prepare").path]
    process.environment = ["PATH": machine.path("bin").path]
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    return (process.terminationStatus, lines)
  }

  private func addSwift(_ version: String) throws {
    try add(
      "swift", "[ \"$1\" = --version ] && echo 'Swift version \(version) (swift-RELEASE)'; exit 0")
  }

  @Test("Without Swift one line says where to get it")
  func noSwift() throws {
    let ending = try prepare()
    #expect(ending.status == 3)
    #expect(ending.lines.count == 1)
    #expect(ending.lines.first?.contains("install Swift 6.3") == true)
  }

  @Test("A wrong Swift version is named in one line", arguments: ["5.10.1", "6.2.1", "7.0"])
  func wrongSwift(version: String) throws {
    try addSwift(version)
    let ending = try prepare()
    #expect(ending.status == 3)
    #expect(ending.lines.count == 1)
    #expect(ending.lines.first?.contains("Swift \(version.prefix(3))") == true)
  }

  @Test("Somebody who may not install is told what to run as root")
  func noRight() throws {
    try addSwift("6.3.1")
    try add("dpkg-query", "exit 1")
    try add("apt-get", "exit 1")
    try add("id", "echo 1000")
    let ending = try prepare()
    #expect(ending.status == 3)
    #expect(ending.lines.count == 1)
    #expect(ending.lines.first?.contains("apt-get install pkg-config libsqlite3-dev") == true)
  }

  @Test("Without a network the missing packages are named, and where apt-get's words are")
  func noNetwork() throws {
    try addSwift("6.3.1")
    try add("dpkg-query", "exit 1")
    try add("apt-get", "echo 'E: could not resolve host' >&2; exit 100")
    try add("id", "echo 0")
    let ending = try prepare()
    #expect(ending.status == 3)
    #expect(ending.lines.last?.contains("could not install pkg-config") == true)
    #expect(ending.lines.last?.contains(".build/prepare.log") == true)
    #expect(ending.lines.count == 2)
  }

  @Test("With everything there it fetches once, and says nothing the second time")
  func complete() throws {
    try addSwift("6.3.1")
    try add("dpkg-query", "echo -n 'install ok installed'")
    #expect(try prepare().lines == ["firebreak: fetching the Swift packages"])
    let second = try prepare()
    #expect(second.status == 0)
    #expect(second.lines.isEmpty)
  }
}
