// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import KeyServer
import PostgreSQL
import ServerOperations
import Settings
import Terminal
import World

/// Options of `serve` and of the commands that administer the servers. They replace the values of the settings files.
struct ServerOptions: ParsableArguments {
  static let defaultFolder = "firebreak-data"

  @Option(help: "The folder with all data of the servers.")
  var data = Self.defaultFolder

  @Option(
    help: ArgumentHelp(
      "A configuration file for all servers; their settings.json replaces its values. By default that of the"
        + " variable FIREBREAK_CONFIG, and for other commands than serve the one that the servers were started with.",
      valueName: "file"))
  var config: String?

  @Option(
    help:
      "The realm, if the folder has several authorities; by default main, that of the folder itself."
  )
  var realm: String?

  @Option(help: "The region, such as PL; by default from the key server's settings.")
  var region: String?

  @Option(help: "The app that may upload, by its package name; by default from the settings.")
  var app: String?

  @Option(help: "The issuer of the verification server's tokens; by default from the settings.")
  var issuer: String?

  @Option(help: "The audience of the tokens, the key server; by default from the settings.")
  var audience: String?

  @Option(
    name: .customLong("key-id"),
    help: "The id of a first key that signs key files; by default from the settings.")
  var keyID: String?

  @Option(
    help: ArgumentHelp(
      "An object store to which the key files are copied, such as s3://bucket/prefix; by default from the settings.",
      valueName: "url"))
  var files: String?

  func validate() throws {
    let others = [config, region, app, issuer, audience, keyID]
    guard realm.map({ $0 == Realm.main }) ?? true || others.allSatisfy({ $0 == nil }) else {
      throw ValidationError(
        "A realm has its settings in its own folder: omit --config, --region, --app, --issuer, --audience and --key-id."
      )
    }
    guard region.map(AuthorizedApp.isRegion) ?? true else {
      throw ValidationError(
        "--region takes two upper-case letters, such as PL, but '\((region ?? "").printable)' was given."
      )
    }
  }

  /// The servers of the existing folder, which has data of `server`.
  ///
  /// - Parameter mayBeUnused: True if the server's own folder may be empty, before settings are written.
  func setup(of server: ServerName, mayBeUnused: Bool = false) throws -> ServerSetup {
    guard realm == nil || realm == Realm.main || server != .keys else {
      throw CommandFailure.badInput(
        "Realms share the key server of the folder, which main administers: omit --realm.")
    }
    let isOfRealm = realm != nil && realm != Realm.main
    let folder =
      isOfRealm
      ? try ofRealm(in: ServerFolder(existing: data))
      : try ServerFolder(existing: data, of: server, mayBeUnused: mayBeUnused)
    if server != .keys { noteRealms(of: folder) }
    return try setup(
      folder, of: server,
      database: DatabaseOptions.addressOfEnvironment)
  }

  /// Says that a command without `--realm` is for one of several authorities.
  func noteRealms(of folder: ServerFolder) {
    // A damaged realm is no obstacle to the administration of the folder's own authority.
    guard realm == nil, let realms = try? folder.realms, !realms.isEmpty else { return }
    let names = realms.map(\.name).joined(separator: ", ")
    note("This is \(Realm.main). Name another authority with --realm: \(names).")
  }

  /// The folder of `--realm` in `folder`.
  ///
  /// - Throws: `CommandFailure` if there is no such realm.
  func ofRealm(in folder: ServerFolder) throws -> ServerFolder {
    guard let realm, realm != Realm.main else { return folder }
    return try folder.realm(named: realm).folder
  }

  /// The folder of `--realm` in `folder`, for a command that is for all servers of one authority.
  ///
  /// - Throws: `CommandFailure` if the folder has several authorities and `--realm` names none: the others would be
  ///   missed.
  func ofOneAuthority(_ folder: ServerFolder) throws -> ServerFolder {
    guard realm == nil else { return try ofRealm(in: folder) }
    let names = try folder.realms.map(\.name)
    guard names.isEmpty else {
      throw CommandFailure.badInput(
        "\(data.printable) has several authorities: run this command for each, with --realm"
          + " \(([Realm.main] + names).joined(separator: ", --realm ")).")
    }
    return folder
  }

  /// The configuration file that the command line or the environment names.
  var configurationFile: URL? {
    Self.configurationFile(config)
  }

  /// The configuration file `path`, or that of the environment. An empty variable names none.
  static func configurationFile(_ path: String?) -> URL? {
    let variable = ProcessInfo.processInfo.environment[SharedSettings.fileVariable]
    return (path ?? variable.flatMap { $0.isEmpty ? nil : $0 }).map { URL(fileURLWithPath: $0) }
  }

  /// The settings from outside `folder`.
  ///
  /// - Parameters:
  ///   - folder: The folder of the servers.
  ///   - server: The server of the command; nil for all.
  ///   - file: The configuration file that is named; nil for the one that the servers were started with.
  ///   - isServing: True to read no other file than the one that is named.
  static func sharedSettings(
    of folder: ServerFolder, _ server: ServerName? = nil, file: URL?, isServing: Bool = false
  ) throws -> SharedSettings {
    let isRemembered = !isServing && file == nil
    let remembered = isRemembered ? try folder.rememberedConfiguration(of: server) : nil
    if let remembered {
      guard FileManager.default.fileExists(atPath: remembered.path) else {
        throw CommandFailure.badInput(
          "\(remembered.path.printable), with which the servers were started, does not exist: name another file with"
            + " --config, or start them without one.")
      }
    }
    return try SharedSettings(
      file: file ?? remembered, environment: ProcessInfo.processInfo.environment,
      servers: ServerName.allCases.map(\.rawValue))
  }

  /// The servers of `folder` with these options.
  ///
  /// - Parameters:
  ///   - folder: The folder of the servers.
  ///   - server: The server of the command; nil for all.
  ///   - database: The PostgreSQL cluster of the servers' databases; nil for the SQLite databases in the folder.
  ///   - clock: The clock of the servers.
  ///   - isServing: True to read no other configuration file than the one that is named now.
  ///   - warn: Tells the operator what needs attention.
  func setup(
    _ folder: ServerFolder, of server: ServerName? = nil, database: PostgreSQLAddress?,
    clock: any WallClock = SystemClock(), isServing: Bool = false,
    warn: @escaping @Sendable (String) -> Void = { note($0) }
  ) throws -> ServerSetup {
    // The configuration file and its variables are those of the installation's own authority.
    guard folder.realm == nil else {
      return ServerSetup(folder: folder, database: database, clock: clock, warn: warn)
    }
    var folder = folder
    folder.shared = try Self.sharedSettings(
      of: folder, server, file: configurationFile, isServing: isServing)
    return ServerSetup(
      folder: folder,
      overrides: SettingOverrides(
        region: region, app: app, issuer: issuer, audience: audience, keyID: keyID, files: files),
      database: database, clock: clock, environment: ProcessInfo.processInfo.environment, warn: warn
    )
  }
}

/// `--config` for commands without the other options of `ServerOptions`.
struct ConfigurationOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The configuration file of the servers; by default that of FIREBREAK_CONFIG, or the one that they were started"
        + " with.", valueName: "file"))
  var config: String?

  /// The file that the option or the environment names.
  var file: URL? { ServerOptions.configurationFile(config) }
}

/// The PostgreSQL cluster of the servers' databases.
struct DatabaseOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      A PostgreSQL cluster with the databases firebreak_verification, firebreak_keys and firebreak_console; \
      DATABASE_URL, too, which other users of the machine do not see.
      """, valueName: "url"))
  var database: String?

  /// Nil for the SQLite databases.
  var address: PostgreSQLAddress? {
    get throws { try Self.address(database, or: Self.variable) }
  }

  private static let variable = "DATABASE_URL"

  /// The cluster of `DATABASE_URL`, for commands that administer the servers.
  static var addressOfEnvironment: PostgreSQLAddress? {
    get throws { try address(nil, or: variable) }
  }

  /// The address in `option`, or else that in an environment variable; nil for none.
  static func address(_ option: String?, or variable: String) throws -> PostgreSQLAddress? {
    let stored = ProcessInfo.processInfo.environment[variable].flatMap { $0.isEmpty ? nil : $0 }
    return try (option ?? stored).map(parse)
  }

  private static func parse(_ text: String) throws -> PostgreSQLAddress {
    do throws(PostgreSQLAddress.Invalid) { return try PostgreSQLAddress(text) } catch {
      throw CommandFailure.badInput(error.description)
    }
  }
}
