import Foundation

/// Runs each case as a process of its own, so that none finds another's memory or caches.
struct BenchRunner {
  /// Where the JSON files go.
  let folder: URL
  /// The program that benches.
  let executable: URL

  /// Runs the case as often as it wants and keeps the run in the middle.
  func run(_ bench: BenchCase) throws -> BenchResults.Ending {
    var runs: [(figure: Double, output: Data)] = []
    for _ in 0..<bench.runs {
      let (status, output, errors) = try run(bench.arguments)
      // A bench that ends with 1 may still have measured: the figures are there, and they are bad.
      guard let object = try? JSONSerialization.jsonObject(with: output) as? [String: Any],
        let figure = bench.figure.value(in: object)
      else { return .failed(status: status, sentence: errors) }
      runs.append((figure, output))
    }
    runs.sort { $0.figure < $1.figure }
    let middle = runs[runs.count / 2].output
    try middle.write(to: folder.appendingPathComponent("\(bench.name).json"))
    let object = try JSONSerialization.jsonObject(with: middle) as? [String: Any]
    return .measured(object ?? [:], figures: runs.map(\.figure))
  }

  private func run(
    _ arguments: [String]
  ) throws -> (status: Int32, output: Data, errors: String) {
    let process = Process()
    let (output, errors) = (Pipe(), folder.appendingPathComponent(".errors"))
    try Data().write(to: errors)
    defer { try? FileManager.default.removeItem(at: errors) }
    process.executableURL = executable
    process.arguments = ["bench"] + arguments + ["--json"]
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let lines = try String(contentsOf: errors, encoding: .utf8).split(separator: "\n")
    return (process.terminationStatus, said, String(lines.last ?? "it said nothing"))
  }
}
