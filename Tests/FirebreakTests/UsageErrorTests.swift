// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import Terminal
import TestSupport
import Testing

@Suite("Answers to wrong usage", .needs(.process))
struct UsageErrorTests {
  /// The message for arguments in one text; nil if they are accepted or ask for help.
  private func answer(to arguments: String) async throws -> String? {
    try await answer(to: arguments.split(separator: " ").map(String.init))
  }

  private func answer(to arguments: [String]) async throws -> String? {
    let run = try await run(arguments)
    guard run.status != 0 else { return nil }
    #expect(run.status == 2 && run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    return ErrorReport.reason(in: run.errors)
  }

  /// A run in an empty folder.
  private func run(_ arguments: [String]) async throws -> Run {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    return try await Run(arguments, workingFolder: folder.url)
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
  func commands(arguments: String, suggestion: String) async throws {
    let message = try #require(try await answer(to: arguments))
    #expect(message.hasPrefix("Unknown command"), "\(message)")
    #expect(message.contains(suggestion), "\(message)")
  }

  @Test("A command that resembles none is answered with the help only")
  func unlikeCommand() async throws {
    #expect(
      try await answer(to: "xyzzy")
        == "Unknown command 'xyzzy': `firebreak --help` lists the commands.")
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
  func options(arguments: String, suggestion: String) async throws {
    let message = try #require(try await answer(to: arguments))
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
  func values(arguments: String, words: String) async throws {
    let message = try #require(try await answer(to: arguments))
    #expect(message.contains(words), "\(message)")
  }

  @Test("An empty argument is refused with the option whose value it is")
  func empty() async throws {
    let remedy = "is empty: write it, or check the variable that it comes from."
    #expect(try await answer(to: ["serve", "--data", ""]) == "The value of --data \(remedy)")
    #expect(try await answer(to: ["serve", "--data="]) == "The value of --data \(remedy)")
    #expect(try await answer(to: ["keyfile", "inspect", ""]) == "An argument \(remedy)")
  }

  @Test("Help for a word behind a command without commands is refused")
  func helpForWord() async throws {
    #expect(
      try await answer(to: "help serve foo")
        == "`firebreak serve` has no command 'foo': see `firebreak serve --help`.")
  }

  @Test(
    "Help is shown at every width, wrapped to at least 40 columns",
    arguments: ["-5", "0", "1", "26", "39", "40", "80", "x"])
  func widths(columns: String) async throws {
    let width = max(40, Int(columns).flatMap { $0 > 0 ? $0 : nil } ?? 80)
    for words in [[], ["--help"], ["serve", "--help"], ["help", "key-server", "import"]] {
      let run = try await Run(words, environment: ["COLUMNS": columns])
      #expect(run.status == 0 && run.output.hasPrefix("OVERVIEW: "), "\(run.errors)")
      // Only a line of one word may be longer.
      for line in run.output.split(separator: "\n") where line.count > width {
        #expect(!line.drop { $0 == " " }.contains(" "), "\(line)")
      }
    }
    let wrong = try await Run(["keyfil"], environment: ["COLUMNS": columns])
    #expect(wrong.status == 2 && wrong.errors.contains("`firebreak keyfile`?"), "\(wrong.errors)")
  }

  @Test("Help and version that cannot be written end with 3", arguments: ["--help", "--version"])
  func fullDisk(argument: String) async throws {
    let run = try await Run([argument], output: URL(fileURLWithPath: "/dev/full"))
    #expect(run.status == 3 && run.errors.contains("no space left on device"), "\(run.errors)")
  }

  @Test("A group of commands without a command is answered with its commands")
  func group() async throws {
    let keyfile = try await answer(to: "keyfile")
    #expect(keyfile?.contains("needs a command: inspect, verify, make.") == true)
    let phone = try await answer(to: "phone --data x")
    #expect(phone?.contains("needs a command: run, status") == true)
    #expect(try await answer(to: "bench")?.contains("publish-server") == false)
    #expect(try await answer(to: []) == nil)
  }

  @Test(
    "Requests for help, the version or a completion script are not refused",
    arguments: [
      "--version", "--help", "help", "help help", "help keyfile make", "keyfile --help",
      "phone run --help",
      "--generate-completion-script bash", "--generate-completion-script=fish",
    ])
  func help(arguments: String) async throws {
    #expect(try await answer(to: arguments) == nil)
  }

  @Test(
    "The right usage is not refused: the command ends with the first thing that it needs and misses",
    arguments: [
      ("serve --port 0 --data /dev/null", "/dev/null is a file"),
      ("phone --data x sent --rssi -60 --developer", "does not exist"),
      ("keyfile inspect -", "standard input: The file is empty"),
      ("phone run --web 0 --config x", "firebreak-phone does not exist"),
      ("phone --clock-offset -5 --developer --data x run", "does not exist"),
      ("key-server signing-key", "There is no folder"),
      ("up --class --listen 203.0.113.1", "is not an address of this machine"),
      ("up --class 5 --listen 203.0.113.1", "is not an address of this machine"),
      ("match --sightings - -- -x.zip", "The sightings"),
      ("key-server signing-key rotate --from 2030-01-31T08:00Z", "There is no folder"),
    ])
  func accepted(arguments: String, words: String) async throws {
    let run = try await run(arguments.split(separator: " ").map(String.init))
    #expect(run.status > 0 && run.errors.contains(words), "\(run.errors)")
    #expect(!run.errors.contains("--help`") && !run.errors.contains("Unknown"), "\(run.errors)")
  }

  @Test("Every command below phone shows its own help without --data")
  func phoneHelp() async throws {
    let program = try CommandDescription(json: try await run(["--experimental-dump-help"]).output)
    let phone = try #require(program.shownSubcommands.first { $0.commandName == "phone" })
    #expect(phone.shownSubcommands.count > 5)
    for command in phone.shownSubcommands.map(\.commandName) {
      let help = try await run(["phone", command, "--help"])
      #expect(help.status == 0 && help.output.contains("USAGE: firebreak phone \(command)"))
    }
  }
}
