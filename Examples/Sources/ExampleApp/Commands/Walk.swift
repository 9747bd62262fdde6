import Foundation

/// Both walks, with a process for each launch of an app: what is known afterwards was on the disk.
struct Walk {
  /// Something went another way than the walk must go.
  struct WrongWay: LocalizedError {
    let errorDescription: String?
  }

  static func run(_ arguments: inout Arguments) async throws {
    let given = arguments.nextIfAny()
    let folder =
      given.map { URL(fileURLWithPath: $0) }
      ?? FileManager.default.temporaryDirectory.appendingPathComponent("walk-\(UUID().uuidString)")
    guard !FileManager.default.fileExists(atPath: folder.path) else {
      throw Arguments.Problem("\(folder.path) is there already; name a new folder")
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { if given == nil { try? FileManager.default.removeItem(at: folder) } }
    try Walk(in: folder).go()
  }

  private let folder: URL

  private init(in folder: URL) {
    self.folder = folder
  }

  private func go() throws {
    _ = try server("keys", at: "2026-03-10T08:00:00Z")
    try onboard()
    try meet()
    let published = try warn()
    try checkWithoutTime(at: published)
    try check(at: published)
    Terminal.say("\nBoth walks ended where they must.")
  }

  /// Ann and Bob say yes, Bob at the second asking; Cleo as well, without Bluetooth.
  private func onboard() throws {
    try phone("ann", "onboard", "--yes", at: noon, shows: "Exposure notification: on")
    try phone(
      "bob", "onboard", "--answers", "yny", "--yes", at: noon, shows: "Exposure notification: on")
    try phone(
      "cleo", "onboard", "--yes", "--bluetooth-off", at: noon, shows: "\nSwitch Bluetooth on.")
    try phone("cleo", "status", at: noon, shows: "Exposure notification: on")
  }

  /// Half an hour on one bench: Ann sends, Bob hears. Cleo is at home.
  private func meet() throws {
    let tape = folder.appendingPathComponent("air.json").path
    try phone("ann", "live", "30", "--sends", tape, at: noon)
    try phone("bob", "live", "30", "--hears", tape, at: noon)
    try phone("cleo", "live", "30", at: noon)
  }

  /// Ann has tested positive. A code opens the server once, and only for her.
  private func warn() throws -> String {
    let day = "2026-03-11"
    try phone(
      "ann", "enter", "123", day, at: "\(day)T09:00:00Z", fails: true, shows: "six digits")
    let code = try server("issue-code", at: "\(day)T09:00:00Z")
    try phone("ann", "enter", code, day, "--yes", at: "\(day)T09:00:00Z", shows: ": shared")
    try phone(
      "cleo", "enter", code, day, at: "\(day)T09:30:00Z", fails: true, shows: "has been used")
    return "\(day)T12:00:00Z"
  }

  /// Bob's network is dead and his Bluetooth is off: he learns of both, and nothing is lost.
  private func checkWithoutTime(at time: String) throws {
    let output = try phone(
      "bob", "background", "--network-dead", "--bluetooth-off", at: time,
      shows: "no more time")
    try expect(output.contains("Bluetooth is off"), "Bob was not told of Bluetooth", output)
  }

  /// Bob is told, once; Cleo, who heard nobody, is not.
  private func check(at time: String) throws {
    let output = try phone(
      "bob", "background", "--yes", at: time, shows: "(notification) You may have been exposed")
    try expect(
      output.contains("  yesterday, at least 30 minutes"), "no exposure in the list", output)
    try expect(!output.contains("On the screen: Bluetooth"), "Bluetooth is on again", output)
    let again = try phone("bob", "background", "--yes", at: time, shows: "The check is done.")
    try expect(!again.contains("(notification)"), "Bob was told twice", again)
    try phone("cleo", "background", "--yes", at: time, shows: "  No exposures.")
  }

  private let noon = "2026-03-10T12:00:00Z"

  @discardableResult
  private func phone(
    _ name: String, _ words: String..., at time: String, fails: Bool = false,
    shows expected: String = ""
  ) throws -> String {
    Terminal.say("\n\(time) \(name): \(words.joined(separator: " "))")
    let paths = [
      folder.appendingPathComponent(name).path, "--server",
      folder.appendingPathComponent("server").path, "--at", time,
    ]
    let (output, status) = try Self.launch(["phone"] + paths + words)
    Terminal.say(output.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
    try expect((status != 0) == fails, "it ended with \(status)", output)
    try expect(output.contains(expected) || expected.isEmpty, "it must show: \(expected)", output)
    return output
  }

  private func server(_ words: String..., at time: String) throws -> String {
    let path = folder.appendingPathComponent("server").path
    let (output, status) = try Self.launch(["server", path, "--at", time] + words)
    try expect(status == 0, "the server ended with \(status)", output)
    return output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private func expect(_ isTrue: Bool, _ complaint: String, _ output: String) throws {
    if !isTrue { throw WrongWay(errorDescription: "\(complaint); it said:\n\(output)") }
  }

  /// This program once more, as a process of its own; what it says on both outputs.
  private static func launch(_ words: [String]) throws -> (output: String, status: Int32) {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = words
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (String(decoding: output, as: UTF8.self), process.terminationStatus)
  }
}
