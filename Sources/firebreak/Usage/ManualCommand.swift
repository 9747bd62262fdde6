// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Terminal

/// `firebreak manual`: prints the manual page, which `make install` installs. Hidden from the help.
struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual", abstract: "Print the manual page in roff.", shouldDisplay: false)

  func run() throws {
    let page = ManualPage(
      try CommandDescription(json: Firebreak._dumpHelp()), version: ProductVersion.number)
    try StandardOutput.write(page.text)
  }
}
