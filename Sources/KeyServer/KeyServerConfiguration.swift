import Foundation
import KeyServerAPI
import QuietHTTP

/// How one key server is set up. Documentation/KeyServer.md 1 lists what each value is for.
public struct KeyServerConfiguration: Sendable {
  /// The address to listen on, such as `127.0.0.1`.
  public var host: String
  /// The port to listen on; 0 takes a free one.
  public var port: Int
  /// The SQLite database. Nothing else may write to it.
  public var databaseFile: URL
  /// Where the key files and `index.txt` lie, on the same machine.
  public var exportFolder: URL
  /// The regions an upload may name.
  public var regions: Set<String>
  /// The apps an upload may come from.
  public var appPackages: Set<String>
  /// What an upload may call its platform.
  public var platforms: Set<String> = ["ios", "android"]
  /// The `iss` of the tokens to take.
  public var tokenIssuer: String
  /// The `aud` of the tokens to take.
  public var tokenAudience: String
  /// The issuer's public keys in PEM, by key id.
  public var tokenPublicKeysPEM: [String: String]
  /// Gives those keys anew, where they are to be changed while the server runs; nil takes
  /// `tokenPublicKeysPEM`. Where it throws, or gives none, those that were known stay good.
  public var readTokenPublicKeysPEM: (@Sendable () throws -> [String: String])?
  /// Whether that issuer may ask for the statistics of its own uploads.
  public var tokenIssuerSeesStatistics = false
  /// Who signs key files; all that are valid then sign every file, and the newest of them the remote
  /// configuration.
  public var exportSigners: [ExportSigner]
  /// Gives the signers anew before every export, where a key is to be changed while the server runs;
  /// nil takes `exportSigners`.
  public var readExportSigners: (@Sendable () throws -> [ExportSigner])?
  /// The region whose keys the seed contract's export holds, and which its files name.
  public var region: String
  /// Exports beside the seed contract's, each under a root of its own.
  public var furtherExports: [ExportConfiguration] = []
  /// Seconds of one key file's period.
  public var exportPeriodSeconds = 14_400
  /// Keys that a file holds at least, padding included.
  public var minimumKeys = 1_000
  /// How many keys beyond the minimum may be added at random.
  public var paddingRange = 100
  /// Keys that a file holds at most; a batch of more is split.
  public var maximumKeysPerFile = 500_000
  /// The platforms whose uploads must carry a device verification payload, made for exactly these keys just
  /// now; of others it is not looked at.
  public var deviceVerificationPlatforms: Set<String> = ["ios"]
  /// Who checks the device token in that payload; nil checks none and claims no check.
  public var deviceCheck: DeviceCheckConfiguration?
  /// What phones are told.
  public var remoteConfiguration: RemoteConfiguration
  /// Apps that may upload, besides `appPackages` and those in the database.
  public var apps: [AuthorizedApp] = []
  /// Whose certificates count, besides those in the database.
  public var healthAuthorities: [HealthAuthority] = []
  /// How `/v1/publish` is set up.
  public var publish = PublishConfiguration()
  /// When `/v1/stats` shows a day.
  public var statistics = StatisticsConfiguration()
  /// Uploads that fail, from one address in `uploadWindowSeconds`, before it has to wait.
  public var uploadAttempts = 60
  /// The window of `uploadAttempts`, in seconds.
  public var uploadWindowSeconds = 600
  /// Whose browser pages may call, such as `https://app.example`; nil allows none.
  public var allowedOrigin: String?
  /// The proxies whose word on a client's address is taken; without them that of the connection counts.
  public var trustedProxies = TrustedProxies.none

  /// The values that have no default; the others may be changed afterwards.
  public init(
    host: String = "127.0.0.1", port: Int, databaseFile: URL, exportFolder: URL,
    regions: Set<String>, appPackages: Set<String>, tokenIssuer: String, tokenAudience: String,
    tokenPublicKeysPEM: [String: String], exportSigners: [ExportSigner], region: String,
    deviceCheck: DeviceCheckConfiguration?, remoteConfiguration: RemoteConfiguration
  ) {
    self.host = host
    self.port = port
    self.databaseFile = databaseFile
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
  /// Every export: the seed contract's, whose values stand in the configuration itself, and the others.
  var exports: [ExportConfiguration] {
    var seed = ExportConfiguration(filenameRoot: "", region: region)
    seed.periodSeconds = exportPeriodSeconds
    seed.minimumKeys = minimumKeys
    seed.paddingRange = paddingRange
    seed.maximumKeysPerFile = maximumKeysPerFile
    return [seed] + furtherExports
  }

  /// Who signs.
  var signers: ExportSigners {
    let configured = exportSigners
    return ExportSigners(readExportSigners ?? { configured })
  }

  /// Refuses values that no server could keep its promises with.
  package func checked() throws(KeyServerError) {
    if let fault = exports.lazy.compactMap(\.fault).first { throw .configuration(fault) }
    guard exports.count <= KeyServerLimit.exportCountMax,
      Set(exports.map(\.filenameRoot)).count == exports.count
    else {
      throw .configuration(
        "furtherExports must be fewer than \(KeyServerLimit.exportCountMax), each with a"
          + " filenameRoot of its own.")
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
        "regions must name a region, or publish.defaultRegion the one that keys of appPackages count for."
      )
    }
    guard deviceVerificationPlatforms.isSubset(of: platforms) else {
      throw .configuration("deviceVerificationPlatforms must be among platforms.")
    }
    try publish.checked()
    try statistics.checked()
    for authority in healthAuthorities { try authority.checked() }
    for app in apps { try app.checked() }
    let ofApps = apps.reduce(regions) { $0.union($1.regions) }
    let named = exports.reduce(ofApps) {
      $0.union([$1.region]).union($1.inputRegions).union($1.excludedRegions)
    }
    guard named.allSatisfy(AuthorizedApp.isRegion) else {
      throw .configuration("A region is two upper-case letters.")
    }
  }
}

extension KeyServerConfiguration {
  /// The apps and authorities that are named here. `appPackages` may upload with the tokens and with the
  /// certificates of `tokenIssuer`, whose keys are now `tokenKeys`, for all `regions`.
  func registryEntries(_ tokenKeys: [String: String]) -> RegistryEntries {
    RegistryEntries(
      apps: appPackages.sorted().map {
        AuthorizedApp(id: $0, regions: regions, authorities: [tokenIssuer])
      } + apps,
      authorities: [
        HealthAuthority(
          issuer: tokenIssuer, audience: tokenAudience, publicKeysPEM: tokenKeys,
          seesStatistics: tokenIssuerSeesStatistics)
      ] + healthAuthorities)
  }
}
