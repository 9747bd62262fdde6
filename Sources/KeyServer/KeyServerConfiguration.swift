// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import PostgreSQL
import QuietHTTP
import Secrets
import ServerStorage

/// The configuration of a key server.
public struct KeyServerConfiguration: Sendable, Redacted {
  /// The address to listen on, such as `127.0.0.1`.
  public var host: String
  /// The port to listen on; 0 takes a free one.
  public var port: Int
  /// The SQLite database. Only the server and its commands may write to it.
  public var databaseFile: URL
  /// The address of a PostgreSQL database, which several servers may share; nil for the SQLite database.
  package var databaseAddress: PostgreSQLAddress?
  /// The 32-byte secret of the keys that encrypt and hash stored data. A database belongs to one secret.
  public var databaseKey: Data
  /// The local folder of the key files and `index.txt`.
  public var exportFolder: URL
  /// The object store to which the key files are copied, and from which phones download them; nil for the folder alone.
  package var fileStore: KeyFileStore?
  /// The regions that an upload may name.
  public var regions: Set<String>
  /// The apps that may upload.
  public var appPackages: Set<String>
  /// The platforms that an upload may name.
  public var platforms: Set<String> = ["ios", "android"]
  /// The accepted `iss` of upload tokens.
  public var tokenIssuer: String
  /// The accepted `aud` of upload tokens.
  public var tokenAudience: String
  /// The issuer's public keys in PEM, by key id.
  public var tokenPublicKeysPEM: [String: String]
  /// Reloads those keys, so that they can change while the server runs; `nil` to use `tokenPublicKeysPEM`. If it
  /// throws or returns no key, the server keeps its current keys.
  public var readTokenPublicKeysPEM: (@Sendable () throws -> [String: String])?
  /// The authorities of the realms, whose tokens and certificates are for their own apps and regions.
  package var realms: [TokenAuthority] = []
  /// If true, that issuer may request the statistics of its own uploads.
  public var tokenIssuerSeesStatistics = false
  /// The keys that sign key files. All valid keys sign each file, and the newest of them signs the remote
  /// configuration.
  public var exportSigners: [ExportSigner]
  /// Reads the signers again before each export, so that keys can change while the server runs; `nil` to
  /// use `exportSigners`.
  public var readExportSigners: (@Sendable () throws -> [ExportSigner])?
  /// Reads the signed device configuration that phones download, for each request and export; `nil` for a
  /// server without one. Then a signer signs only while that document lists its key.
  public var readDeviceConfiguration: (@Sendable () throws -> Data)?
  /// Reads the hashes of files that the next device configuration withdraws, because it cannot be signed yet; `nil` for
  /// none.
  package var readPendingWithdrawals: (@Sendable () throws -> Set<KeyFileHash>)?
  /// Returns false while changes that other processes with the same database have made may be unknown: then only
  /// indexes and key files are served. `nil` without such processes.
  package var isCurrent: (@Sendable () -> Bool)?
  /// Runs before each export, when no other process exports: reads what other processes have changed. `nil` for
  /// nothing. If it throws, nothing is exported.
  package var prepareExport: (@Sendable () async throws -> Void)?
  /// The region whose keys the ProteGO Safe export contains, and which its files name.
  public var region: String
  /// Exports in addition to ProteGO Safe's, each in its own folder.
  public var furtherExports: [ExportConfiguration] = []
  /// If true, ProteGO Safe's export has roll-ups: files of 12, 24 and 48 hours, each in a folder of its own, so that a
  /// phone that was off for days downloads few files.
  public var rollUps = false
  /// The period of a key file, in seconds.
  public var exportPeriodSeconds = 14_400
  /// The least number of keys in a file, padding included.
  public var minimumKeys = 1_000
  /// The largest number of keys that padding adds beyond the minimum, at random.
  public var paddingRange = 100
  /// The largest number of keys in a file; a larger batch is split.
  public var maximumKeysPerFile = 500_000
  /// The platforms whose uploads must have a recent device verification payload for exactly these keys. On
  /// other platforms the payload is ignored.
  public var deviceVerificationPlatforms: Set<String> = ["ios"]
  /// The check of the device token in that payload; `nil` for no check.
  public var deviceCheck: DeviceCheckConfiguration?
  /// The configuration that phones download.
  public var remoteConfiguration: RemoteConfiguration
  /// Apps that may upload, in addition to `appPackages` and those in the database.
  public var apps: [AuthorizedApp] = []
  /// True if the uploads of `firebreak canary` are accepted, and published in an export of their own.
  public var acceptsCanary = false
  /// Authorities whose certificates are accepted, in addition to those in the database.
  public var healthAuthorities: [HealthAuthority] = []
  /// The configuration of `/v1/publish`.
  public var publish = PublishConfiguration()
  /// The conditions under which `/v1/stats` shows a day.
  public var statistics = StatisticsConfiguration()
  /// Failed uploads of one address in `uploadWindowSeconds`, before it has to wait.
  public var uploadAttempts = 60
  /// The window of `uploadAttempts`, in seconds.
  public var uploadWindowSeconds = 600
  /// The origin whose browser pages may call, such as `https://app.example`; `nil` for none.
  public var allowedOrigin: String?
  /// The proxies whose `X-Forwarded-For` is trusted. For other connections the peer's address counts.
  public var trustedProxies = TrustedProxies.none
  /// The timeout of a key set request, in seconds; tests on a busy machine need a longer one.
  var keyPullTimeoutSeconds = KeyServerLimit.keyPullTimeoutSeconds
  /// The timeout of a device check request, in seconds; a stand-in on a busy machine needs a longer one.
  package var deviceCheckSeconds = KeyServerLimit.deviceCheckSeconds

  /// A configuration with defaults for the properties that are not parameters.
  public init(
    host: String = "127.0.0.1", port: Int, databaseFile: URL, databaseKey: Data, exportFolder: URL,
    regions: Set<String>, appPackages: Set<String>, tokenIssuer: String, tokenAudience: String,
    tokenPublicKeysPEM: [String: String], exportSigners: [ExportSigner], region: String,
    deviceCheck: DeviceCheckConfiguration?, remoteConfiguration: RemoteConfiguration
  ) {
    self.host = host
    self.port = port
    self.databaseFile = databaseFile
    self.databaseKey = databaseKey
    self.exportFolder = exportFolder
    self.regions = regions
    self.appPackages = appPackages
    self.tokenIssuer = tokenIssuer
    self.tokenAudience = tokenAudience
    self.tokenPublicKeysPEM = tokenPublicKeysPEM
    self.exportSigners = exportSigners
    self.region = region
    self.deviceCheck = deviceCheck
    self.remoteConfiguration = remoteConfiguration
  }
}

extension KeyServerConfiguration {
  /// All exports; the first is ProteGO Safe's.
  package var exports: [ExportConfiguration] {
    var first = ExportConfiguration(filenameRoot: "", region: region)
    first.periodSeconds = exportPeriodSeconds
    first.minimumKeys = minimumKeys
    first.paddingRange = paddingRange
    first.maximumKeysPerFile = maximumKeysPerFile
    let canary = acceptsCanary ? [CanaryUploads.export(periodSeconds: exportPeriodSeconds)] : []
    return [first] + furtherExports + (rollUps ? RollUps.exports(of: first) : []) + canary
  }

  var databaseKeys: DatabaseKeys { DatabaseKeys(databaseKey) }

  /// Reads the hashes of the files that the device configuration withdraws, or the next one will.
  var withdrawnFiles: @Sendable () throws -> Set<KeyFileHash> {
    guard let readDeviceConfiguration else { return { [] } }
    let readPendingWithdrawals = readPendingWithdrawals
    return {
      let document = try UnverifiedDeviceConfiguration(decoding: readDeviceConfiguration())
        .unverified()
      return Set(document.withdrawn).union(try readPendingWithdrawals?() ?? [])
    }
  }

  var signers: ExportSigners {
    let configured = exportSigners
    let read = readExportSigners ?? { configured }
    guard let readDeviceConfiguration else { return ExportSigners(read) }
    return ExportSigners(read) {
      try UnverifiedDeviceConfiguration(decoding: try readDeviceConfiguration()).unverified()
    }
  }

  /// Validates the configuration.
  ///
  /// - Throws: `KeyServerError.configuration`, which names the field.
  package func checked() throws(KeyServerError) {
    if let fault = exports.lazy.compactMap(\.fault).first { throw .configuration(fault) }
    let roots = Set(exports.map(\.filenameRoot))
    // Roll-ups do not count: a folder with as many exports as possible starts with them, too.
    guard roots.subtracting(rollUps ? RollUps.roots : []).count <= KeyServerLimit.exportCountMax,
      roots.count == exports.count
    else {
      throw .configuration(
        "furtherExports must be fewer than \(KeyServerLimit.exportCountMax), each with a filenameRoot of its own."
          + (rollUps ? " With rollUps, those of roll-ups are taken: \(RollUps.rootList)." : ""))
    }
    let attempts = 1...KeyServerLimit.uploadAttemptsMax
    let windows = KeyServerLimit.uploadWindowSeconds
    guard attempts.contains(uploadAttempts), windows.contains(uploadWindowSeconds) else {
      throw .configuration(
        "uploadAttempts must be 1 to \(KeyServerLimit.uploadAttemptsMax),"
          + " uploadWindowSeconds \(windows.lowerBound) to \(windows.upperBound).")
    }
    guard appPackages.isEmpty || !regions.isEmpty || publish.defaultRegion != nil else {
      throw .configuration(
        "regions must name a region, or publish.defaultRegion the region of the keys of appPackages."
      )
    }
    guard deviceVerificationPlatforms.isSubset(of: platforms) else {
      throw .configuration("deviceVerificationPlatforms must be among platforms.")
    }
    guard databaseKey.count == KeyServerLimit.databaseKeyBytes else {
      throw .configuration("databaseKey must be \(KeyServerLimit.databaseKeyBytes) bytes.")
    }
    try publish.checked()
    try statistics.checked()
    try checkNames()
    try checkRealms()
    for realm in realms { try Self.authority(of: realm, keys: realm.publicKeysPEM).checked() }
    for authority in healthAuthorities { try authority.checked() }
    for app in apps { try app.checked() }
    let appRegions = apps.reduce(regions) { $0.union($1.regions) }
    let named = exports.reduce(appRegions) {
      $0.union([$1.region]).union($1.inputRegions).union($1.excludedRegions)
    }
    if let fault = AuthorizedApp.fault(inRegions: named) {
      throw .configuration("\(fault) Correct it in region, regions, the apps or the exports.")
    }
  }
}

extension KeyServerConfiguration {
  /// Each issuer may occur once: with two entries, the keys of one would replace those of the other. An entry of the
  /// token issuer may only repeat its audience and keys, to let it read statistics.
  private func checkNames() throws(KeyServerError) {
    let others = healthAuthorities.filter { authority in
      authority.issuer != tokenIssuer || authority.audience != tokenAudience
        || authority.jwksURL != nil
        || authority.publicKeysPEM.contains { tokenPublicKeysPEM[$0.key] != $0.value }
    }
    let issuers = tokenAuthorities.map(\.issuer) + others.map(\.issuer)
    for (index, issuer) in issuers.enumerated() {
      let shape = LookAlikeName(issuer)
      if let other = issuers[..<index].first(where: { LookAlikeName($0) == shape }) {
        throw .configuration(
          "The issuers \(other) and \(issuer) of tokenIssuer and healthAuthorities are the same or look"
            + " alike: name each authority once.")
      }
    }
  }

  /// The first setting whose keys no export includes, as a sentence; nil if all keys get into a file.
  package var settingWithoutExport: String? {
    let settings: [(name: String, regions: Set<String>)] = [
      ("regions", regions),
      ("publish.defaultRegion", Set([publish.defaultRegion].compactMap(\.self))),
    ]
    for (name, regions) in settings {
      if let missing = unexported(regions, mayBeNamedAlone: true) {
        return Self.fault(of: name, missing)
      }
    }
    return appWithoutExport(among: registryEntries([:]).apps)
  }

  /// The first of `apps` whose keys no export includes, as a sentence; nil if all keys get into a file.
  package func appWithoutExport(among apps: [AuthorizedApp]) -> String? {
    for app in apps {
      // Uploads with our own tokens name the regions; with certificates each key has all regions of the app.
      let missing = unexported(
        app.regions,
        mayBeNamedAlone: !app.authorities.isDisjoint(with: realmIssuers.union([tokenIssuer])))
      if let missing { return Self.fault(of: "app \(app.id)", missing) }
    }
    return nil
  }

  private static func fault(of name: String, _ missing: [String]) -> String {
    let list = missing.joined(separator: " and ")
    return "\(name): no export includes the keys of \(list), so they would be accepted and never"
      + " published: add an export of \(list) to furtherExports."
  }

  /// The regions of `regions` that a key may have and that no export includes; nil if there are none.
  private func unexported(_ regions: Set<String>, mayBeNamedAlone: Bool) -> [String]? {
    guard !regions.isEmpty else { return nil }
    let sorted = regions.sorted()
    let pairs = sorted.indices.flatMap { first in
      sorted[(first + 1)...].map { [sorted[first], $0] }
    }
    let combinations = mayBeNamedAlone ? sorted.map { [$0] } + pairs + [sorted] : [sorted]
    return combinations.first { combination in
      [true, false].contains { travels in
        !exports.contains { $0.filter.admits(regions: combination, travels: travels) }
      }
    }
  }
}

extension KeyServerConfiguration {
  /// The configured apps and authorities. The apps of an authority with tokens may upload for all its regions with its
  /// tokens and certificates.
  ///
  /// - Parameter tokenKeys: The current keys of these authorities, by issuer.
  func registryEntries(_ tokenKeys: [String: [String: String]]) -> RegistryEntries {
    RegistryEntries(
      apps: tokenAuthorities.flatMap { authority in
        authority.apps.sorted().map {
          AuthorizedApp(id: $0, regions: authority.regions, authorities: [authority.issuer])
        }
      } + apps + (acceptsCanary ? [CanaryUploads.app(of: tokenIssuer)] : []),
      authorities: tokenAuthorities.enumerated().map { index, authority in
        var entry = Self.authority(of: authority, keys: tokenKeys[authority.issuer] ?? [:])
        if index == 0 { entry.seesStatistics = tokenIssuerSeesStatistics }
        return entry
      } + healthAuthorities)
  }

  /// The entry of an authority with tokens.
  private static func authority(
    of authority: TokenAuthority, keys: [String: String]
  ) -> HealthAuthority {
    HealthAuthority(
      issuer: authority.issuer, audience: authority.audience, publicKeysPEM: keys,
      seesStatistics: true)
  }
}

/// The keys that are derived from the secret of the database, one for each purpose.
///
/// A copy of the database alone decrypts nothing, and cannot be searched for a known token or upload.
struct DatabaseKeys: Redacted, Sendable {
  /// Encrypts the keys of revision tokens.
  let wrapping: SymmetricKey
  /// Hashes the names of used tokens.
  let tokens: SymmetricKey
  /// Hashes uploads, to recognize a repeated one.
  let uploads: SymmetricKey
  /// Chooses how counts in statistics are rounded.
  let rounding: SymmetricKey
  /// Derives the keys of budgets that all processes share.
  let budgets: BudgetKeys
  /// A value stored in the database that shows if it belongs to the secret.
  let check: Data

  init(_ secret: Data) {
    let secret = SymmetricKey(data: secret)
    func derived(_ purpose: String) -> Data {
      Data(HMAC<SHA256>.authenticationCode(for: Data(purpose.utf8), using: secret))
    }
    wrapping = SymmetricKey(data: derived("wrapping"))
    tokens = SymmetricKey(data: derived("tokens"))
    uploads = SymmetricKey(data: derived("uploads"))
    rounding = SymmetricKey(data: derived("rounding"))
    budgets = BudgetKeys(secret: SymmetricKey(data: derived("budgets")))
    check = derived("check")
  }

  var description: String { "DatabaseKeys" }
}
