// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import HealthAuthorityConsole
import ServerOperations
import Terminal

/// `firebreak key-server`: administration of the key server, also while it runs.
struct KeyServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "key-server",
    abstract:
      "Administer the key server: exports, keys, device configuration, settings.",
    subcommands: [
      AuthorityCommand.self, AppCommand.self, ExportNowCommand.self,
      SettingsCommand<AdministeredKeyServer>.self, SigningKeyCommand<AdministeredKeyServer>.self,
      ImportCommand.self, MirrorCommand.self, DeviceConfigurationCommand.self, PauseCommand.self,
      ResumeCommand.self, WithdrawCommand.self,
      ClockCommand<AdministeredKeyServer>.self,
    ])
}

/// `key-server export --now`
struct ExportNowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Close every period that has ended and write its files.",
    discussion: "A running server does this by itself; the command waits while it does.")

  private struct Report: Encodable {
    let files: [String]
  }

  @Flag(help: "Export now.")
  var now = false

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard now else {
      throw ValidationError("Use --now: without it, the running server exports by itself.")
    }
  }

  func run() async throws {
    let files = try await servers.setup(of: .keys).exportNow()
    try report.write(
      Report(files: files),
      files.isEmpty ? "No export was due." : files.map { "Wrote \($0)" }.joined(separator: "\n"))
  }
}
