// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Terminal

/// `firebreak-benchmarks`: everything that is measured for the project and not for its users.
///
/// `firebreak bench` has the measurements that users repeat on their machines; the published set starts it as well.
@main
struct FirebreakBenchmarks: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "firebreak-benchmarks",
    abstract: "Run the published set of benchmarks, or one measurement of the project.",
    subcommands: [
      PublishedSetCommand.self, OverloadCommand.self, TownCommand.self, PopulationsCommand.self,
      FiltersCommand.self, KeyServerCommand.self, PostgreSQLCommand.self,
    ],
    defaultSubcommand: PublishedSetCommand.self)

  static func main() async {
    do {
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch let failure as CommandFailure {
      note(failure.message)
      Foundation.exit(failure.status.rawValue)
    } catch {
      exit(withError: error)
    }
  }

  /// The `firebreak` beside this program.
  static var productBeside: URL {
    ownExecutable.deletingLastPathComponent().appendingPathComponent("firebreak")
  }

  static var ownExecutable: URL {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
  }
}
