// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import ServerOperations
import Terminal
import World

/// `clock`: the times that a server compares the machine's clock with.
struct ClockCommand<Server: AdministeredServer>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "clock",
      abstract:
        "Compare the clock with the server's newest time, or confirm it; exit code 1 if it differs.",
      discussion: "`firebreak clock` does this for all servers of a folder.")
  }

  @OptionGroup var options: ClockOptions
  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions

  func run() async throws {
    let setup = try servers.setup(of: Server.name)
    let clock = try await options.clocks(of: [Server.name], in: setup)[0]
    try options.write(
      to: report, ClockReport(clock),
      "The clock shows \(UTCTime(clock.now).text). The server's newest time: \(clock.newestText).",
      isPlausible: clock.isPlausible)
  }
}

/// `firebreak clock`: the same for all servers of one folder.
struct ClocksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clock",
    abstract: "Compare the clock with the newest times of all servers, or confirm it for all.",
    discussion: """
      If its clock was set, a server publishes, deletes and forgets nothing until the clock is right again or \
      confirmed. The same applies if it starts more than a day after it stopped. A running server accepts a \
      confirmation within minutes. Exit code 1 if the clock differs from the time of a server.
      """)

  private struct Report: Encodable {
    /// By the name of the server.
    let servers: [String: ClockReport]
  }

  @OptionGroup var options: ClockOptions
  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions

  func run() async throws {
    let data = servers.data
    let setup = try servers.setup(
      servers.ofOneAuthority(ServerFolder(existing: data)),
      database: DatabaseOptions.addressOfEnvironment)
    let names = setup.serversWithClock
    guard !names.isEmpty else {
      throw CommandFailure.badInput(
        "No server of \(data.printable) has a database yet: start one first, or name the servers' folder"
          + " with --data.")
    }
    let clocks = Array(zip(names, try await options.clocks(of: names, in: setup)))
    let reports = clocks.map { ($0.0.rawValue, ClockReport($0.1)) }
    let lines = clocks.map { server, clock in
      "The \(server.title)'s newest time: \(clock.newestText)."
    }
    try options.write(
      to: report, Report(servers: Dictionary(uniqueKeysWithValues: reports)),
      (["The clock shows \(UTCTime(setup.clock.now).text)."] + lines).joined(separator: "\n"),
      isPlausible: clocks.allSatisfy { $0.1.isPlausible })
  }
}

/// The own option of the commands that compare the clock.
struct ClockOptions: ParsableArguments {
  @Flag(help: "Confirm that the clock is right.")
  var confirm = false

  /// Confirms the clock for `servers`, if that is wanted, and compares it with their times.
  func clocks(of servers: [ServerName], in setup: ServerSetup) async throws -> [ClockComparison] {
    if confirm { for server in servers { try await setup.confirmClock(of: server) } }
    var clocks: [ClockComparison] = []
    for server in servers { clocks.append(try await setup.clockComparison(of: server)) }
    return clocks
  }

  /// - Throws: `CommandFailure` with status 1 if the times differ too much.
  func write(
    to report: ReportOptions, _ result: some Encodable, _ text: String, isPlausible: Bool
  ) throws {
    try report.write(result, text)
    guard !isPlausible else { return }
    throw CommandFailure(
      status: .no,
      message: "The times differ too much: correct the clock, or confirm it with --confirm.")
  }
}

/// The clock and the times of a server for output, in Unix seconds.
private struct ClockReport: Encodable {
  let now: Int64
  let newest: Int64?
  let confirmed: Int64?
  let isPlausible: Bool

  init(_ clock: ClockComparison) {
    now = clock.now.unixSecond
    newest = clock.newest?.unixSecond
    confirmed = clock.confirmed?.unixSecond
    isPlausible = clock.isPlausible
  }
}

extension ClockComparison {
  fileprivate var newestText: String { newest.map { UTCTime($0).text } ?? "none yet" }
}
