// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import ServerStorage
import Settings
import Terminal
import TextEncodings
import VerificationServer

/// The realms of the folder.
extension ServerSetup {
  /// The servers of `realm`. Options, environment variables and the configuration file are for the installation's own.
  package func setup(of realm: Realm) -> ServerSetup {
    ServerSetup(folder: realm.folder, database: database, clock: clock, warn: warn)
  }

  /// The issuer in whose name a console reads the statistics of uploads.
  var statisticsIssuer: String {
    get throws {
      guard folder.realm == nil else { return try verificationSettings().issuer }
      return try keySettings().configuration.tokenIssuer
    }
  }

  /// The settings in force of `servers` of each realm, by its name; nil without realms.
  package func realmSettingsInForce(of servers: [ServerName]) throws -> JSONValue? {
    let realms = try folder.realms
    guard !realms.isEmpty else { return nil }
    var settings: [String: JSONValue] = [:]
    for realm in realms {
      let own = setup(of: realm)
      let fields = try servers.filter { $0 != .keys }.map {
        ($0.rawValue, try own.settingsInForce(of: $0))
      }
      settings[realm.name] = .object(Dictionary(uniqueKeysWithValues: fields))
    }
    return .object(settings)
  }

  /// Adds the realms of the folder to the configuration of its key server.
  func addRealms(to configuration: inout KeyServerConfiguration) throws {
    configuration.realms = try folder.realms.map(tokenAuthority)
  }

  private func tokenAuthority(of realm: Realm) throws -> TokenAuthority {
    let (settings, file) = (
      try setup(of: realm).verificationSettings(), realm.folder.tokenPublicKeys
    )
    return TokenAuthority(
      issuer: settings.issuer, audience: settings.audience,
      // Without keys the uploads of the realm alone are refused, and they are read again within a minute.
      publicKeysPEM: (try? file.read()) ?? [:], readPublicKeysPEM: { try file.read() },
      apps: Set(realm.properties.apps), regions: Set(realm.properties.regions))
  }

  /// Throws if the settings of a realm are not valid, or two authorities share a host, an issuer, an app or a region.
  ///
  /// - Parameter withKeys: True if the key server is that of this folder, whose settings name its apps and regions.
  package func checkRealms(withKeys: Bool) throws {
    try check(try folder.realms, withKeys: withKeys)
  }

  /// Checks `realms` as those of the folder, whose databases may be elsewhere without `withDatabases`.
  func check(_ realms: [Realm], withKeys: Bool, withDatabases: Bool = true) throws {
    guard !realms.isEmpty else { return }
    guard realms.count <= RealmLimit.realmsMax else {
      throw CommandFailure.badInput(
        "\(folder.url.path.printable) would have more than \(RealmLimit.realmsMax) realms: remove"
          + " one.")
    }
    try refuseLookAlikes(realms.map(\.name))
    try checkHosts(of: realms)
    for realm in realms {
      let own = setup(of: realm)
      try own.check(.verification)
      guard withDatabases else { continue }
      try own.databaseAddress(of: .verification)
      try own.databaseAddress(of: .console)
    }
    guard withKeys else { return }
    var configuration = try keySettings().configuration
    configuration.realms = try realms.map(tokenAuthority)
    try reportingErrors {
      try configuration.checked()
      if let fault = configuration.settingWithoutExport {
        throw KeyServerError.configuration(fault)
      }
    }
  }

  private func refuseLookAlikes(_ names: [String]) throws {
    var shapes: [LookAlikeName: String] = [LookAlikeName(Realm.main): Realm.main]
    for name in names {
      guard let other = shapes.updateValue(name, forKey: LookAlikeName(name)) else { continue }
      throw CommandFailure.badInput(
        "The realms \(other) and \(name) look alike: give one of them another name.")
    }
  }

  /// Throws if a host is that of two authorities, or a console of a realm could not be reached by its own.
  private func checkHosts(of realms: [Realm]) throws {
    var owners: [String: String] = [:]
    if let host = try consoleSettings().originHost { owners[host] = Realm.main }
    for realm in realms {
      let settings = try setup(of: realm).consoleSettings()
      guard let origin = settings.origin, origin.hasPrefix("https:"),
        let host = settings.originHost, Realm.isHost(host)
      else {
        throw CommandFailure.badInput(
          "\(realm.folder.consoleSettings.url.path.printable): origin must be the https address of the console of the"
            + " realm, with the name of a host, such as https://console.example.")
      }
      guard settings.verificationURL == nil else {
        throw CommandFailure.badInput(
          "\(realm.folder.consoleSettings.url.path.printable): verificationURL cannot be set in a realm, whose"
            + " verification server runs in the same process: remove it.")
      }
      guard try settings.allowsPlainHTTP == isConsoleProxied else {
        throw CommandFailure.badInput(
          "\(realm.folder.consoleSettings.url.path.printable): allowsPlainHTTP differs from that of"
            + " \(folder.consoleSettings.url.path.printable), which is in force for all consoles: set both to one"
            + " value.")
      }
      try checkLinks(of: realm)
      for host in Set(realm.properties.hosts + [host]).sorted() {
        guard let other = owners.updateValue(realm.name, forKey: host) else { continue }
        throw CommandFailure.badInput(
          "The host \(host) is one of the realms \(other) and \(realm.name): a host belongs to one authority."
        )
      }
    }
  }
}

extension ServerSetup {
  /// Throws if the links in texts of the realm would lead to another authority, with the code in them.
  private func checkLinks(of realm: Realm) throws {
    guard let host = try setup(of: realm).verificationSettings().smsLinkHost,
      !realm.properties.hosts.contains(host)
    else { return }
    throw CommandFailure.badInput(
      "\(realm.folder.verificationSettings.url.path.printable): sms.links needs the host \(host): add it to hosts in"
        + " \(realm.folder.realmFile.path.printable).")
  }
}

extension ConsoleSettings {
  /// The name of the host of `origin`; nil without one.
  var originHost: String? { origin.flatMap { URL(string: $0)?.host()?.lowercased() } }
}
