// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Terminal
import Testing

@testable import firebreak

@Suite("Answers to wrong usage")
struct UsageErrorTests {
  /// The message for arguments in one text; nil if they are accepted or ask for help.
  private func answer(to arguments: String) -> String? {
    answer(to: arguments.split(separator: " ").map(String.init))
  }

  private func answer(to arguments: [String]) -> String? {
    do {
      _ = try Firebreak.parsed(CommandArguments(arguments))
      return nil
    } catch let failure as CommandFailure {
      #expect(failure.status == .badInput && !failure.message.contains("\n"))
      return failure.message
    } catch {
      // A request for help, the version or a completion script.
      return nil
    }
  }

  @Test(
    "A misspelled command is answered with the nearest one and its help",
    arguments: [
      ("keyfil", "`firebreak keyfile`?"), ("help mtach", "`firebreak match`?"),
      ("mtach --help", "`firebreak match`?"), ("keyfile mkae", "`firebreak keyfile make`?"),
      ("help keyfile mkae", "`firebreak keyfile make`?"), ("insp", "`firebreak --help`"),
      ("keyfile insp x", "`firebreak keyfile inspect`?"),
      ("phone --data x rnu", "`firebreak phone run`?"),
      ("key-server signing-key rotte", "`firebreak key-server signing-key rotate`?"),
      ("inspect a.zip", "`firebreak keyfile inspect`?"),
      ("phone --clock-offset -5 rnu --developer", "`firebreak phone run`?"),
      ("publish-servr", "`firebreak --help`"), ("hlep", "`firebreak help`?"),
    ])
  func commands(arguments: String, suggestion: String) throws {
    let message = try #require(answer(to: arguments))
    #expect(message.hasPrefix("Unknown command"), "\(message)")
    #expect(message.contains(suggestion), "\(message)")
  }

  @Test("A command that resembles none is answered with the help only")
  func unlikeCommand() {
    #expect(
      answer(to: "xyzzy") == "Unknown command 'xyzzy': `firebreak --help` lists the commands.")
  }

  @Test(
    "A misspelled or misplaced option is answered with the right one",
    arguments: [
      ("--verison", "did you mean --version?"), ("-version", "did you mean --version?"),
      ("serve --prot 1", "did you mean --port?"), ("serve --verb", "did you mean --verbose?"),
      ("keyfile verify x --publickey y", "did you mean --public-key?"),
      ("match --sigthings x y", "did you mean --sightings?"),
      ("phone --data x --web 0", "it is an option of `firebreak phone run`"),
      ("phone --web 0 run", "write it after `firebreak phone run`"),
      ("--json keyfile inspect x", "write it after `firebreak keyfile inspect`"),
      ("--data x serve", "write it after `firebreak serve`"),
      ("serve --xyzzy", "`firebreak serve --help` lists the options"),
    ])
  func options(arguments: String, suggestion: String) throws {
    let message = try #require(answer(to: arguments))
    #expect(message.hasPrefix("Unknown option"), "\(message)")
    #expect(message.contains(suggestion), "\(message)")
  }

  @Test(
    "A value that is negative, too large or not a number is answered with the option",
    arguments: [
      ("serve --port -1", "--port takes 0 to 65533"), ("up --port -1", "--port takes 0 to"),
      ("up --class 5 --port 70000", "--port takes 0 to 65535"),
      ("phone run --data x --web -1", "--web takes 0 to 65535"),
      ("phone run --data x --web 70000", "--web takes 0 to 65535"),
      ("serve --port 99999999999999999999", "--port takes no number as large as"),
      ("demo --seed -1", "--seed takes no negative number"),
      ("bench match --keys 1e6", "--keys takes a whole number, but '1e6' was given"),
      ("bench match --keys -5", "--keys must be between 1 and"),
      ("key-server signing-key rotate --from gestern", "a day such as 2026-11-30"),
      ("key-server signing-key rotate --overlap -5", "--overlap takes 0 to"),
      ("key-server pause --until 5", "--until takes a time in the future"),
      ("keyfile make --start -1", "a day such as 2026-11-30"),
      ("serve --port", "Missing value for '--port <port>'; see `firebreak serve --help`"),
      ("serve foo", "Unexpected argument 'foo'; see `firebreak serve --help`"),
      ("keyfile verify x", "'--public-key <public-key>'; see `firebreak keyfile verify --help`"),
      ("conformance gaen-cryto x", "'gaen-crypto'"),
    ])
  func values(arguments: String, words: String) throws {
    let message = try #require(answer(to: arguments))
    #expect(message.contains(words), "\(message)")
  }

  @Test("An empty argument is refused with the option whose value it is")
  func empty() {
    let remedy = "is empty: write it, or check the variable that it comes from."
    #expect(answer(to: ["serve", "--data", ""]) == "The value of --data \(remedy)")
    #expect(answer(to: ["serve", "--data="]) == "The value of --data \(remedy)")
    #expect(answer(to: ["keyfile", "inspect", ""]) == "An argument \(remedy)")
  }

  @Test("A group of commands without a command is answered with its commands")
  func group() {
    #expect(answer(to: "keyfile")?.contains("needs a command: inspect, verify, make.") == true)
    #expect(answer(to: "phone --data x")?.contains("needs a command: run, status") == true)
    #expect(answer(to: "bench")?.contains("publish-server") == false)
    #expect(answer(to: []) == nil)
    #expect(answer(to: "key-server signing-key") == nil)
  }

  @Test(
    "The right usage and requests for help are not refused",
    arguments: [
      "--version", "--help", "help", "help keyfile make", "keyfile --help", "phone run --help",
      "serve --port 0", "phone --data x sent --rssi -60 --developer", "keyfile inspect -",
      "phone run --web 0", "phone --clock-offset -5 --developer --data x run",
      "key-server signing-key", "up --class", "up --class 5", "match --sightings - -- -x.zip",
      "key-server signing-key rotate --from 2030-01-31T08:00Z",
      "--generate-completion-script bash", "--generate-completion-script=fish",
    ])
  func accepted(arguments: String) {
    #expect(answer(to: arguments) == nil)
  }

  @Test("Every command below phone shows its own help without --data")
  func phoneHelp() throws {
    let phone = try #require(CommandNode.root.subcommand(named: "phone"))
    for command in phone.shownSubcommands {
      do {
        var help = try Firebreak.parsed(CommandArguments(["phone", command.name, "--help"]))
        try help.run()
        Issue.record("\(command.name) did not ask for help")
      } catch {
        #expect(
          ExitStatus.message(for: error).contains("USAGE: firebreak phone \(command.name)"))
      }
    }
  }
}
