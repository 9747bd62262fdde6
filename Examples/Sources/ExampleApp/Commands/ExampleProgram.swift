import Foundation

/// The command line.
@main
enum ExampleProgram {
  static let usage = """
    ExampleApp walk [FOLDER]                              both walks: three phones, one server
    ExampleApp server FOLDER issue-code|keys|reset-keys   what the health authority does
    ExampleApp phone FOLDER --server FOLDER COMMAND       what a person does with a phone

    COMMAND: onboard | status | tests | enter CODE DAY | share TEST | delete TEST | background
             | live MINUTES | developer WHAT
    WHAT:    show-onboarding | check | simulate-error | simulate-exposure | simulate-test
             | share-test-keys CODE | disable | reset-error | reset-exposures | reset-tests
    Options: --at TIME (2026-03-10T12:00:00Z), --yes (to every question) --answers yn... (the first
             ones), --bluetooth-off, --network-dead, live: --sends TAPE --hears TAPE
    """

  @MainActor
  static func main() async {
    do {
      var arguments = try Arguments(CommandLine.arguments.dropFirst())
      switch try arguments.next("what to do:\n\(usage)") {
      case "walk": try await Walk.run(&arguments)
      case "phone": try await PhoneCommand.run(&arguments)
      case "server": try ServerCommand.run(&arguments)
      case let word: throw Arguments.Problem("there is no command \(word):\n\(usage)")
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
