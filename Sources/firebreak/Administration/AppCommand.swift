// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import KeyServer
import ServerOperations
import Settings
import Terminal
import TextEncodings

/// `app`: the apps that may publish.
struct AppCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app", abstract: "Manage the apps that may publish.",
    subcommands: [AppAddCommand.self, AppListCommand.self, AppRemoveCommand.self])
}

/// An app in a report.
private struct AppEntry: Encodable {
  let id: String
  let regions: [String]
  let authorities: [String]
  /// True if the app is in the settings, where alone it can be changed.
  var isInSettings: Bool?

  init(_ app: AuthorizedApp, isInSettings: Bool? = nil) {
    id = app.id
    regions = app.regions.sorted()
    authorities = app.authorities.sorted()
    self.isInSettings = isInSettings
  }
}

/// `app add`: adds an app with its regions and authorities, or changes one of them.
struct AppAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Allow an app to publish, or change its regions or its authorities.",
    discussion: """
      A new app needs both. The regions or authorities that are named replace those of a known app; without --region \
      or --authority the app keeps its own. Our own verification server needs no `authority add`: name its issuer \
      with --authority.
      """)

  @Argument(help: "The app's id, such as its package name.")
  var id: String

  @Option(name: .customLong("region"), help: "A region of its keys; may be repeated.")
  var regions: [String] = []

  @Option(
    name: .customLong("authority"),
    help: "An issuer whose certificates it may use; may be repeated."
  )
  var authorities: [String] = []

  @OptionGroup var register: RegistryCommandOptions

  func validate() throws {
    guard !regions.isEmpty || !authorities.isEmpty else {
      throw ValidationError(
        "Name the app's regions with --region, its authorities with --authority.")
    }
  }

  func run() async throws {
    let app = try await register.setup().withRegistry(isNew: true) {
      try await $0.changeApp(
        id, regions: regions.isEmpty ? nil : Set(regions),
        authorities: authorities.isEmpty ? nil : Set(authorities))
    }
    try register.write(AppEntry(app), "\(id.printable) may publish.")
  }
}

/// `app list`
struct AppListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the apps that may publish: those of the settings, and the added ones.")

  private struct Report: Encodable {
    let apps: [AppEntry]
  }

  @OptionGroup var register: RegistryCommandOptions

  func run() async throws {
    let entries = try await register.setup().registeredApps().map {
      AppEntry($0.app, isInSettings: $0.isInSettings)
    }
    let lines = entries.map { app in
      "\(app.id) regions \(app.regions.joined(separator: ", "));"
        + " authorities \(app.authorities.joined(separator: ", "))"
        + (app.isInSettings == true ? "; from the settings" : "")
    }
    try register.write(
      Report(apps: entries),
      lines.isEmpty ? "There are no apps." : lines.map(\.printable).joined(separator: "\n"))
  }
}

/// `app remove ID`
struct AppRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Refuse the uploads of an app; exit code 1 if it was not added.",
    discussion:
      "A running server follows within a minute. An app of the settings is removed in appPackages.")

  private struct Report: Encodable {
    let id: String
    let removed: Bool
  }

  @Argument(help: "The app's id, as `app list` shows it.")
  var id: String

  @OptionGroup var register: RegistryCommandOptions

  func run() async throws {
    let setup = try register.setup()
    let settings = try setup.keySettings().configuration
    let isRemoved = try await setup.withRegistry { try await $0.removeApp(id) }
    try register.write(
      Report(id: id, removed: isRemoved), "Uploads of \(id.printable) are refused within a minute.",
      if: isRemoved,
      otherwise: settings.appPackages.contains(id)
        ? "\(id.printable) is an app of the settings: remove it from appPackages in keys/settings.json."
        : "No app \(id.printable) was added: see `app list`.")
  }
}
