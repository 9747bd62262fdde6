// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The command line of the example.
@main
enum ExampleProgram {
  static let usage = """
    ExampleApp walk [FOLDER]                              three phones and one server in a folder
    ExampleApp walk [FOLDER] --firebreak PROGRAM          two phones and the servers of `firebreak serve`
    ExampleApp server FOLDER issue-code|keys|reset-keys   the commands of the health authority
    ExampleApp phone FOLDER --server FOLDER COMMAND       the commands of a phone
    ExampleApp phone FOLDER --verification-server URL --key-server URL --region FILE COMMAND

    COMMAND: onboard | status | tests | enter CODE DAY | share TEST | delete TEST | background
             | live MINUTES | developer WHAT
    WHAT:    show-onboarding | check | simulate-error | simulate-exposure | simulate-test
             | share-test-keys CODE | disable | reset-error | reset-exposures | reset-tests
    Options: --at TIME (2026-03-10T12:00:00Z), --yes (answers every question), --answers yn... (the
             first answers), --bluetooth-off, --network-dead, --killed-after-post,
             live: --sends FILE --hears FILE
    """

  @MainActor
  static func main() async {
    do {
      var arguments = try Arguments(CommandLine.arguments.dropFirst())
      switch try arguments.next("a command:\n\(usage)") {
      case "walk": try await Walk.run(&arguments)
      case "phone": try await PhoneCommand.run(&arguments)
      case "server": try ServerCommand.run(&arguments)
      case let word: throw Arguments.Problem("unknown command: \(word)\n\(usage)")
      }
      exit(0)
    } catch let problem as Arguments.Problem {
      Terminal.warn(problem.localizedDescription)
      exit(2)
    } catch {
      Terminal.warn(error.localizedDescription)
      exit(1)
    }
  }
}

/// The commands of the health authority.
enum ServerCommand {
  static func run(_ arguments: inout Arguments) throws {
    let folder = URL(fileURLWithPath: try arguments.next("the server's folder"))
    let now = try arguments.date("at") ?? Date()
    let server = try LocalServer(in: folder) { now }
    switch try arguments.next("issue-code, keys or reset-keys") {
    case "issue-code": Terminal.print(try server.issueCode())
    case "keys": server.publishedDays.forEach { Terminal.print("a key of \($0)") }
    case "reset-keys": try server.removeKeys()
    case let word: throw Arguments.Problem("unknown server command: \(word)")
    }
  }
}
