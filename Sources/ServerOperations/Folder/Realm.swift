// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import ServerStorage
import Settings
import Terminal
import TextEncodings
import World

/// One of several authorities of an installation, with a verification server and a console of its own.
///
/// It has its own databases, secrets and settings in a folder below that of the installation, and shares the process,
/// the ports and the key server. The authority of the folder itself is `Realm.main`.
package struct Realm: Sendable {
  /// The name for the authority of the folder itself.
  package static let main = "main"

  package let name: String
  /// The names of the hosts of its verification server and the apps and regions of its uploads.
  package let properties: Properties
  package let folder: ServerFolder

  /// The content of `realm.json`.
  package struct Properties: Codable, Hashable, Sendable {
    /// The name of the realm, by which a backup is recognized.
    package let name: String
    /// The names of its verification server, in lower case and without ports.
    package let hosts: [String]
    /// The regions of its keys.
    package let regions: [String]
    /// The apps that may upload with its tokens.
    package let apps: [String]

    package init(name: String, hosts: [String], regions: [String], apps: [String]) {
      self.name = name
      self.hosts = hosts
      self.regions = regions
      self.apps = apps
    }
  }

  /// True if `name` can be that of a realm: 2 to 32 lower-case letters, digits and hyphens, with a letter first.
  package static func isName(_ name: String) -> Bool {
    name != main && RealmLimit.nameBytes.contains(name.utf8.count)
      && name.utf8.first.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) } == true
      && name.utf8.allSatisfy(isNameByte)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// True if `host` is the name of a host: labels of lower-case letters, digits and hyphens, with a dot between them.
  ///
  /// Addresses are those of the machine, which belong to the folder itself.
  package static func isHost(_ host: String) -> Bool {
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    let isAddress = labels.last?.utf8.first.map { $0 < UInt8(ascii: "a") } ?? true
    return RealmLimit.hostBytes.contains(host.utf8.count) && labels.count > 1 && !isAddress
      && labels.allSatisfy { label in
        !label.isEmpty && label.utf8.allSatisfy(isNameByte) && label.first != "-"
          && label.last != "-"
      }
  }
}

/// The limits of realms.
package enum RealmLimit {
  /// The realms of one folder, besides that of the folder itself.
  package static let realmsMax = 32
  /// The length of a name in bytes. The name of a database in PostgreSQL has at most 63.
  package static let nameBytes = 2...32
  /// The length of the name of a host in bytes (RFC 1035).
  package static let hostBytes = 1...253
  /// The hosts of the verification server of one realm.
  package static let hostsMax = 16
}

extension ServerFolder {
  /// The folder of the realms.
  var realmsFolder: URL { url.appendingPathComponent("realms") }

  /// The file with the properties of the realm, in its own folder.
  var realmFile: URL { url.appendingPathComponent("realm.json") }

  /// The folder of the realm `name`, which need not exist.
  package func folder(ofRealm name: String) -> ServerFolder {
    ServerFolder(at: realmsFolder.appendingPathComponent(name).path, realm: name)
  }

  /// The realms, sorted by name; empty for a folder with one authority.
  ///
  /// - Throws: `CommandFailure` if they cannot be listed, a file of one is missing or damaged, one is being restored,
  ///   or one that the settings list has no folder.
  package var realms: [Realm] {
    get throws {
      let realms = try realms(except: nil)
      if realm == nil { try RealmMark(in: self).requireAll(of: realms.map(\.name)) }
      return realms
    }
  }

  /// The realms without one that may be damaged or missing.
  func realms(except excluded: String?) throws -> [Realm] {
    // Other names are folders that an operation has left or moved away.
    try realmFolderNames.filter { Realm.isName($0) && $0 != excluded }.sorted().map { name in
      let own = folder(ofRealm: name)
      try RestorationFolder.refuseUnfinished(in: own.url)
      return try Realm(name, in: own)
    }
  }

  /// The names in the folder of the realms. A folder that cannot be read is not one without realms, whose hosts would
  /// get the servers of `main`.
  private var realmFolderNames: [String] {
    get throws {
      guard realm == nil, FileManager.default.attributes(of: realmsFolder) != nil else { return [] }
      do { return try FileManager.default.contentsOfDirectory(atPath: realmsFolder.path) } catch {
        throw CommandFailure.badInput(
          "\(realmsFolder.path.printable) cannot be read: check its owner and permissions.")
      }
    }
  }

  /// The realm `name`.
  ///
  /// - Throws: `CommandFailure` if there is none, or its file is damaged.
  package func realm(named name: String) throws -> Realm {
    let own = folder(ofRealm: name)
    guard realm == nil, Realm.isName(name), own.exists else {
      throw CommandFailure.badInput(
        "There is no realm \(name.printable) in \(url.path.printable): `firebreak realm list` lists"
          + " them.")
    }
    try RestorationFolder.refuseUnfinished(in: own.url)
    try FolderRights.refuseShared(own)
    return try Realm(name, in: own)
  }

  /// Throws if the folder is that of a realm and was not reached through the installation's.
  package func refuseRealm() throws {
    guard realm == nil, FileManager.default.fileExists(atPath: realmFile.path) else { return }
    throw CommandFailure.badInput(
      "\(url.path.printable) is the folder of a realm: name that of the installation with --data, and the realm with"
        + " --realm.")
  }
}

extension Realm {
  /// Reads the realm in `folder`.
  ///
  /// - Throws: `CommandFailure` if its file is missing or damaged.
  init(_ name: String, in folder: ServerFolder) throws {
    let file = folder.realmFile
    // Text that is not of this form has no properties.
    guard let data = FileManager.default.contents(atPath: file.path),
      let properties = try? JSONDecoder().decode(Properties.self, from: data),
      properties.name == name, properties.isValid
    else {
      try RestorationFolder.refuseInterrupted(in: folder.url)
      throw CommandFailure.badInput(
        "\(file.path.printable) is missing, or is not that of the realm \(name): restore it from a backup, or move its"
          + " folder away to start without the realm.")
    }
    self.init(name: name, properties: properties, folder: folder)
  }
}

extension Realm.Properties {
  /// True if `realm add` accepts them.
  var isValid: Bool {
    Realm.isName(name) && (1...RealmLimit.hostsMax).contains(hosts.count)
      && hosts.allSatisfy(Realm.isHost) && !regions.isEmpty
      && regions.allSatisfy(AuthorizedApp.isRegion) && !apps.isEmpty
      && apps.allSatisfy { !$0.isEmpty }
  }
}
