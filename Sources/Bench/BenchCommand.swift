// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import SystemPackage
import Terminal

/// `firebreak bench`: measures matching and the servers on this machine.
package struct BenchCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measure matching, uploads and exports; the figures are explained in "
      + "Documentation/Performance.md.",
    subcommands: [
      BenchMatchCommand.self, BenchPublishCommand.self, BenchExportCommand.self,
      BenchPublishServerCommand.self, BenchExportFillCommand.self,
    ])

  package init() {}
}

extension CommandFailure {
  /// The failure of another `firebreak` process; its error is the last line of `errors`, its stderr.
  static func ofProcess(_ problem: String, errors: String) -> CommandFailure {
    CommandFailure(
      status: .machineFailed,
      message: "\(problem): \(ErrorReport.reason(in: errors) ?? "try again.")")
  }
}

extension FilePath {
  /// The running program, to be started again as another process.
  package static var currentExecutable: FilePath {
    FilePath(URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path)
  }
}
