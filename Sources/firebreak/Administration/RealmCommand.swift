// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import KeyServer
import ServerOperations
import Terminal

/// `firebreak realm`: the authorities of a folder besides its own.
struct RealmCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "realm",
    abstract: "Add, list and remove realms: several authorities with one installation.",
    discussion: """
      Each realm has its own verification server and console, with users, API keys, code policy, SMS texts, \
      regions and apps, at hosts of its own. The key server is shared. The servers follow at their next start. \
      Other commands take --realm NAME.
      """,
    subcommands: [AddRealmCommand.self, ListRealmsCommand.self, RemoveRealmCommand.self])
}

/// The common options of the commands.
struct RealmCommandOptions: ParsableArguments, ReportWriter {
  @Option(help: "The folder with all data of the servers.")
  var data = ServerOptions.defaultFolder

  @OptionGroup var configuration: ConfigurationOption

  @Flag(help: "Print one JSON object.")
  var json = false

  /// The servers of the existing folder.
  func setup() throws -> ServerSetup {
    var folder = try ServerFolder(existing: data)
    folder.shared = try ServerOptions.sharedSettings(
      of: folder, file: configuration.file)
    return ServerSetup(folder: folder, database: try DatabaseOptions.addressOfEnvironment) {
      note($0)
    }
  }
}

/// A realm for output.
private struct RealmReport: Encodable {
  let name: String
  let hosts: [String]
  let origin: String
  let issuer: String
  let regions: [String]
  let apps: [String]

  init(_ facts: RealmFacts) {
    (name, hosts) = (facts.properties.name, facts.properties.hosts)
    (origin, issuer) = (facts.origin, facts.issuer)
    (regions, apps) = (facts.properties.regions, facts.properties.apps)
  }

  var line: String {
    "\(name): \(hosts.joined(separator: " ")), console \(origin), issuer \(issuer), regions"
      + " \(regions.joined(separator: " ")), apps \(apps.joined(separator: " "))"
  }
}

/// `realm add`
struct AddRealmCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a realm with new secrets.",
    discussion: """
      The proxy in front of the servers must pass on the hosts unchanged. An export of the key server must include the \
      regions. Restart the servers afterwards.
      """)

  @Argument(help: "The name: 2 to 32 lower-case letters, digits and hyphens, with a letter first.")
  var name: String

  @Option(help: "A host of its verification server, such as codes.example; may be repeated.")
  var host: [String]

  @Option(help: "The https address of its console, such as https://console.example.")
  var origin: String

  @Option(help: "A region of its keys, such as PL; may be repeated.")
  var region: [String]

  @Option(help: "An app that may upload with its tokens, by its package name; may be repeated.")
  var app: [String]

  @Option(help: "The issuer of its tokens; by default its first host.")
  var issuer: String?

  @OptionGroup var options: RealmCommandOptions

  func validate() throws {
    guard Realm.isName(name) else {
      throw ValidationError(
        "NAME takes 2 to 32 lower-case letters, digits and hyphens, with a letter first, and not \(Realm.main)."
      )
    }
    guard let first = host.first, host.count <= RealmLimit.hostsMax, Set(host).count == host.count
    else {
      throw ValidationError("--host takes 1 to \(RealmLimit.hostsMax) different hosts.")
    }
    if let wrong = host.first(where: { !Realm.isHost($0) }) {
      throw ValidationError(
        "--host takes the name of a host in lower case without a port, such as codes.example, but"
          + " '\(wrong.printable)' was given.")
    }
    if let wrong = region.first(where: { !AuthorizedApp.isRegion($0) }) {
      throw ValidationError(
        "--region takes two upper-case letters, such as PL, but '\(wrong.printable)' was given.")
    }
    guard !region.isEmpty, !app.isEmpty, app.allSatisfy({ !$0.isEmpty }), !first.isEmpty else {
      throw ValidationError("A realm needs a --region and an --app.")
    }
  }

  func run() async throws {
    let setup = try options.setup()
    let properties = Realm.Properties(name: name, hosts: host, regions: region, apps: app)
    let issuer = issuer ?? host[0]
    try await setup.refuseRegistered(properties, issuer: issuer)
    _ = try setup.addRealm(properties, origin: origin, issuer: issuer)
    let report = RealmReport(RealmFacts(properties: properties, origin: origin, issuer: issuer))
    try options.write(
      report,
      "Added the realm \(name). Restart the servers, and make its first account with `firebreak console account add"
        + " --realm \(name) --role administrator --name NAME --data \(options.data.printable)`.")
  }
}

/// `realm list`
struct ListRealmsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the realms with their hosts, regions and apps.")

  private struct Report: Encodable {
    let realms: [RealmReport]
  }

  @OptionGroup var options: RealmCommandOptions

  func run() throws {
    let reports = try options.setup().realmFacts().map { RealmReport($0) }
    try options.write(
      Report(realms: reports),
      reports.isEmpty
        ? "There are no realms: the folder has one authority."
        : reports.map(\.line).joined(separator: "\n"))
  }
}

/// `realm remove`
struct RemoveRealmCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Delete the secrets, databases and settings of a realm; its servers must be stopped.",
    discussion: """
      Codes, accounts and the audit log are lost: make a backup first. Keys that were uploaded are published until \
      they expire. Databases in PostgreSQL are named and not deleted.
      """)

  private struct Report: Encodable {
    let name: String
    /// The databases in PostgreSQL that are left.
    let databases: [String]
  }

  @Argument(help: "The name of the realm.")
  var name: String

  @Flag(help: "Confirm that its data is to be deleted.")
  var confirm = false

  @OptionGroup var options: RealmCommandOptions

  func validate() throws {
    guard confirm else {
      throw ValidationError(
        "The data of the realm is deleted for good: repeat the command with --confirm.")
    }
  }

  func run() throws {
    let databases = try options.setup().removeRealm(name)
    let advice =
      databases.isEmpty
      ? "" : " Drop the databases \(databases.joined(separator: ", ")) in PostgreSQL."
    try options.write(
      Report(name: name, databases: databases), "Removed the realm \(name).\(advice)")
  }
}
