import Foundation
import TestSupport

/// `firebreak serve` as a process of its own, on free ports.
final class ServedFirebreak {
  let output: URL
  /// The servers' folder.
  let data: String
  private let process = Process()
  private let said: TemporaryFolder

  init(
    folder: TemporaryFolder, _ arguments: [String] = [], environment: [String: String] = [:]
  ) throws {
    output = folder.path("output")
    data = folder.path("data").path
    try Data().write(to: output)
    process.executableURL = try Run.product()
    process.arguments = ["serve", "--port", "0", "--json", "--data", data] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardOutput = try FileHandle(forWritingTo: output)
    said = try TemporaryFolder()
    try Data().write(to: said.path("errors"))
    process.standardError = try FileHandle(forWritingTo: said.path("errors"))
    try process.run()
  }

  /// Where the servers listen, from the first line, as soon as it is there.
  func addresses() async throws -> [String: String] {
    var line: Substring?
    try await Patience.until {
      let isOver = !process.isRunning
      let text = try String(contentsOf: output, encoding: .utf8)
      line = text.hasSuffix("\n") ? text.split(separator: "\n").first : nil
      return line != nil || isOver
    }
    guard let line,
      let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
      json["ready"] as? Bool == true
    else { return [:] }
    return json.compactMapValues { $0 as? String }
  }

  /// What it has said beside the answer.
  func errors() throws -> String { try String(contentsOf: said.path("errors"), encoding: .utf8) }

  func get(_ address: String?, _ path: String) async throws -> (status: Int, body: Data) {
    let folder = try TemporaryFolder()
    let file = folder.path("body")
    let run = try Shell.run(
      "curl -s -o '\(file.path)' -w '%{http_code}' '\(address ?? "")\(path)'")
    let body = try? Data(contentsOf: file)
    return (Int(run.output) ?? 0, body ?? Data())
  }

  /// Terminates the process; returns how it ended.
  func stop() async throws -> Int32 {
    process.terminate()
    try await Patience.until { !process.isRunning }
    return process.isRunning ? -1 : process.terminationStatus
  }

  /// Ends it at once, whatever it does.
  func kill() {
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
  }
}
