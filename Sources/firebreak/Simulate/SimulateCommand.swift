// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Logging
import Populations
import Simulation
import Terminal
import World

/// `firebreak simulate`: a population with real phones and servers.
struct SimulateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Simulate an infection in a population with real phones and servers.",
    discussion: """
      People meet, an infection spreads, some are tested, and those with the app upload their keys. Every phone has \
      the real framework and app, and the servers are the real ones; only time, radio and people are simulated. Writes \
      events.csv, summary.json and report.html, which are equal for equal seeds on any number of threads. \
      Documentation/Populations.md describes the scenario.
      """)

  @Argument(help: "The scenario in JSON.")
  var scenario: String

  @Option(help: "The seed of all random numbers.")
  var seed: UInt64 = 1

  @Option(help: "The folder for the results; it is created.")
  var output = "out/simulation"

  @Option(help: "The number of threads that compute phones; the processors by default.")
  var threads: Int?

  @Flag(help: "Print the summary as one JSON object.")
  var json = false

  private static func folder(phones: Int) throws -> PopulationFolder {
    do throws(PopulationFolderError) {
      return try PopulationFolder(phones: phones)
    } catch {
      throw CommandFailure.machineFailed(error.description.printable)
    }
  }

  private static let threadsAllowed = 1...256

  func validate() throws {
    guard let threads, !Self.threadsAllowed.contains(threads) else { return }
    throw ValidationError(
      "--threads needs a number from \(Self.threadsAllowed.lowerBound) to "
        + "\(Self.threadsAllowed.upperBound).")
  }

  func run() async throws {
    let input = try SimulationInput(
      scenario, seed: seed, threads: threads ?? ProcessInfo.processInfo.activeProcessorCount)
    let run = input.run
    let folder = try Self.folder(phones: run.phonesMax)
    let files: SimulationFiles
    do {
      files = try SimulationFiles(output, inputs: input.files)
    } catch {
      FileManager.default.removeFolderInUse(folder.url)
      throw error
    }
    let cleanUp = CleanUp {
      // After a signal, phones and servers may still write to it.
      FileManager.default.removeFolderInUse(folder.url)
      files.discardUnfinished()
    }
    defer { cleanUp.run() }
    let bar = ProgressLine("simulated days")
    defer { bar.clear() }
    let result = try await run.run(in: folder.url, progress: bar.show)
    try files.write(result)
    bar.clear()
    try json
      ? printJSON(PopulationSummary(result))
      : StandardOutput.write(SimulationTable(PopulationSummary(result), output: output).text)
  }
}

/// The scenario of a command, with its contacts.
struct SimulationInput {
  let run: PopulationRun
  /// The paths of the scenario and of its recording.
  let files: [String]
  private static let recordingBytesMax = 256 << 20

  /// - Throws: `CommandFailure` that names the file, the field and what to write.
  init(_ path: String, seed: UInt64, threads: Int) throws {
    let content = try InputFile(
      path, what: "scenario", byteCountMax: ScenarioLimit.fileBytesMax
    ).content.withoutByteOrderMark
    let scenario = try Self.naming(path) { () throws(ScenarioError) in try Scenario(json: content) }
    let recording = Self.recording(of: scenario, at: path)
    files = [path] + [recording].compactMap(\.self)
    let contacts = try Self.contacts(of: scenario, recording: recording, seed: seed)
    guard scenario.firstCases <= contacts.population.count else {
      throw CommandFailure.badInput(
        "\(path.printable): firstCases needs a number up to the \(contacts.population.count) people; "
          + "it is \(scenario.firstCases)."
      )
    }
    run = try Self.naming(path) { () throws(ScenarioError) in
      try PopulationRun(
        scenario, contacts: contacts, seed: seed, threads: threads,
        logger: Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() })
    }
  }

  private static func naming<Value>(
    _ path: String, _ work: () throws(ScenarioError) -> Value
  ) throws -> Value {
    do throws(ScenarioError) {
      return try work()
    } catch {
      throw CommandFailure.badInput("\(path.printable): \(error.description.printable)")
    }
  }

  /// The path of the recording of a scenario; nil if its contacts are generated.
  private static func recording(of scenario: Scenario, at path: String) -> String? {
    guard case .recorded(let file, _, _) = scenario.contacts else { return nil }
    // Relative to the scenario, so that both can be moved together.
    return URL(
      fileURLWithPath: file, relativeTo: URL(fileURLWithPath: path).deletingLastPathComponent()
    ).path
  }

  private static func contacts(
    of scenario: Scenario, recording: String?, seed: UInt64
  ) throws -> any ContactSource {
    switch scenario.contacts {
    case .generated(let people): GeneratedContacts(people: people, seed: seed)
    case .recorded(let file, let step, let metres):
      try recorded(recording ?? file, step: step, metres: metres)
    }
  }

  private static func recorded(_ path: String, step: Int, metres: Double) throws -> RecordedContacts
  {
    let content = try InputFile(
      path, what: "recording of contacts.file", byteCountMax: recordingBytesMax
    ).content
    do throws(RecordedContactsError) {
      return try RecordedContacts(content: content, step: step, metres: metres)
    } catch {
      throw CommandFailure.badInput("The recording \(path.printable) \(error.description).")
    }
  }
}
