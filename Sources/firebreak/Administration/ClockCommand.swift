// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import ServerOperations
import Terminal
import World

/// `clock`: the times that the server compares the machine's clock with.
struct ClockCommand<Server: AdministeredServer>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "clock",
      abstract:
        "Compare the clock with the server's newest time, or confirm it; exit code 1 if it differs.",
      discussion: """
        If its clock was set, a server publishes, deletes and forgets nothing until the clock is right again or \
        confirmed. The same applies if it starts more than a day after it stopped. A running server accepts a \
        confirmation within minutes.
        """)
  }

  private struct Report: Encodable {
    /// All times are in Unix seconds.
    let now: Int64
    let newest: Int64?
    let confirmed: Int64?
    let isPlausible: Bool
  }

  @Flag(help: "Confirm that the clock is right.")
  var confirm = false

  @OptionGroup var report: ServerCommandOptions

  func run() throws {
    let setup = try report.setup(of: Server.name)
    if confirm { try setup.confirmClock(of: Server.name) }
    let clock = try setup.clockComparison(of: Server.name)
    let newest = clock.newest.map { UTCTime($0).text } ?? "none yet"
    try report.write(
      Report(
        now: clock.now.unixSecond, newest: clock.newest.map(\.unixSecond),
        confirmed: clock.confirmed.map(\.unixSecond), isPlausible: clock.isPlausible),
      "The clock shows \(UTCTime(clock.now).text). The server's newest time: \(newest).")
    guard clock.isPlausible else {
      throw CommandFailure(
        status: .no,
        message: "The times differ too much: correct the clock, or confirm it with --confirm.")
    }
  }
}
