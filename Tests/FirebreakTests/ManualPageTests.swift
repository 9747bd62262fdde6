// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import Terminal
import TestSupport
import Testing

@Suite("The manual page and the help", .needs(.process))
struct ManualPageTests {
  private let program: CommandDescription
  private let page: String

  /// The help and the manual page, from one run of each command for all tests.
  private static let outputs = Task {
    let dump = try await Run("--experimental-dump-help")
    #expect(dump.status == 0, "\(dump.errors)")
    let manual = try await Run("manual")
    #expect(manual.status == 0, "\(manual.errors)")
    return (help: dump.output, manual: manual.output)
  }

  init() async throws {
    let outputs = try await Self.outputs.value
    program = try CommandDescription(json: outputs.help)
    page = outputs.manual
  }

  private func all(below command: CommandDescription) -> [CommandDescription] {
    command.shownSubcommands.flatMap { [$0] + all(below: $0) }
  }

  @Test("The page has every shown command with its options, and no hidden one")
  func complete() {
    let commands = all(below: program)
    #expect(commands.count > 50)
    let lines = Set(page.split(separator: "\n").map(String.init))
    #expect(
      lines.contains(".SS keyfile make") && lines.contains(".SS key\\-server signing\\-key add"))
    for command in commands {
      for option in command.shownArguments.flatMap(\.optionNames) where option.hasPrefix("--") {
        #expect(page.contains("\\fB\(ManualPage.escaped(option))\\fR"), "\(option)")
      }
    }
    for hidden in ["publish\\-server", "export\\-fill", "until\\-end", ".SS manual"] {
      #expect(!page.contains(hidden), "\(hidden)")
    }
  }

  @Test("Characters that roff interprets are escaped")
  func escaped() {
    #expect(ManualPage.escaped(".a\\b-c") == "\\&.a\\eb\\-c")
    #expect(ManualPage.escaped("'a\nb") == "\\&'a b")
    for line in page.split(separator: "\n") where line.hasPrefix(".") {
      let macros = [".TH", ".SH", ".SS", ".TP", ".B", ".br"]
      #expect(macros.contains(String(line.prefix { $0 != " " })), "\(line)")
    }
  }

  @Test("The help mentions no option that is not supported, and only documents that exist")
  func existing() throws {
    for command in all(below: program) + [program] {
      let texts =
        [command.abstract, command.discussion].compactMap { $0 }
        + command.shownArguments.compactMap(\.abstract)
      for text in texts {
        #expect(!text.contains("not supported"), "\(command.commandName): \(text)")
        for match in text.matches(of: /Documentation\/[A-Za-z]+\.md/) {
          let file = SharedData.projectRoot.appendingPathComponent(String(match.0))
          #expect(FileManager.default.fileExists(atPath: file.path), "\(match.0)")
        }
      }
    }
  }
}
