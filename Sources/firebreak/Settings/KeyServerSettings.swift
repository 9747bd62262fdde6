import Foundation
import KeyServer
import KeyServerAPI
import QuietHTTP

/// What an official sets of the key server: `keys/settings.json`. Names and defaults are those of
/// `KeyServerConfiguration`.
///
/// Documentation/Serving.md 11.
struct KeyServerSettings: Codable {
  var region = "PL"
  /// The regions an upload may name; nil for `region` alone.
  var regions: [String]?
  var appPackages = ["pl.gov.mc.protegosafe"]
  var platforms: [String]
  var tokenIssuer = ServerNames.issuer
  var tokenAudience = ServerNames.audience
  /// The id of a first key that signs key files.
  var keyID = "260"
  var exportPeriodSeconds: Int
  var minimumKeys: Int
  var paddingRange: Int
  var maximumKeysPerFile: Int
  /// Nil for one export of `region` in Google's layout.
  var furtherExports: [ExportSettings]?
  var deviceVerificationPlatforms: [String]
  var deviceCheck: DeviceCheckSettings?
  var publish = PublishSettings()
  var statistics = StatisticsSettings()
  var remoteConfiguration = RemoteConfigurationSettings()
  var uploadAttempts: Int
  var uploadWindowSeconds: Int
  var allowedOrigin: String?
  var trustedProxies: [String] = []

  /// Everything at its default.
  init() {
    let standard = Self.standard
    platforms = standard.platforms.sorted()
    exportPeriodSeconds = standard.exportPeriodSeconds
    minimumKeys = standard.minimumKeys
    paddingRange = standard.paddingRange
    maximumKeysPerFile = standard.maximumKeysPerFile
    deviceVerificationPlatforms = standard.deviceVerificationPlatforms.sorted()
    uploadAttempts = standard.uploadAttempts
    uploadWindowSeconds = standard.uploadWindowSeconds
  }

  init(from decoder: any Decoder) throws {
    self.init()
    let fields = try SettingFields<CodingKeys>(decoder)
    try fields.read(.region, intoName: &region)
    try fields.read(.regions, into: &regions)
    try fields.read(.appPackages, intoNames: &appPackages)
    try fields.read(.platforms, intoNames: &platforms)
    try fields.read(.tokenIssuer, intoName: &tokenIssuer)
    try fields.read(.tokenAudience, intoName: &tokenAudience)
    try fields.read(.keyID, intoName: &keyID)
    try fields.read(.exportPeriodSeconds, into: &exportPeriodSeconds)
    try fields.read(.minimumKeys, into: &minimumKeys)
    try fields.read(.paddingRange, into: &paddingRange)
    try fields.read(.maximumKeysPerFile, into: &maximumKeysPerFile)
    try fields.read(.furtherExports, into: &furtherExports)
    try fields.read(.deviceVerificationPlatforms, intoNames: &deviceVerificationPlatforms)
    try fields.read(.deviceCheck, into: &deviceCheck)
    try fields.read(.publish, into: &publish)
    try fields.read(.statistics, into: &statistics)
    try fields.read(.remoteConfiguration, into: &remoteConfiguration)
    try fields.read(.uploadAttempts, into: &uploadAttempts)
    try fields.read(.uploadWindowSeconds, into: &uploadWindowSeconds)
    try fields.read(.allowedOrigin, intoOrigin: &allowedOrigin)
    try fields.read(.trustedProxies, intoNetworks: &trustedProxies)
  }

  /// The settings that hold: what the command line names in place of what the file says, and what follows
  /// from other settings filled in.
  func effective(with options: ServerOptions) -> Self {
    var settings = self
    settings.region = options.region ?? region
    settings.appPackages = options.app.map { [$0] } ?? appPackages
    settings.tokenIssuer = options.issuer ?? tokenIssuer
    settings.tokenAudience = options.audience ?? tokenAudience
    settings.keyID = options.keyID ?? keyID
    settings.regions = regions ?? [settings.region]
    let google = [ExportSettings(filenameRoot: settings.region, region: settings.region)]
    settings.furtherExports = (furtherExports ?? google).map { $0.filled(from: self) }
    return settings
  }

  /// Puts them into `configuration`. `folder` is where the files lie that they name.
  func apply(to configuration: inout KeyServerConfiguration, folder: URL) throws {
    configuration.platforms = Set(platforms)
    configuration.exportPeriodSeconds = exportPeriodSeconds
    configuration.minimumKeys = minimumKeys
    configuration.paddingRange = paddingRange
    configuration.maximumKeysPerFile = maximumKeysPerFile
    configuration.furtherExports = (furtherExports ?? []).map(\.configuration)
    configuration.deviceVerificationPlatforms = Set(deviceVerificationPlatforms)
    configuration.deviceCheck = try deviceCheck?.configuration(in: folder)
    configuration.publish = publish.configuration
    configuration.statistics = statistics.configuration
    configuration.remoteConfiguration = remoteConfiguration.configuration
    configuration.uploadAttempts = uploadAttempts
    configuration.uploadWindowSeconds = uploadWindowSeconds
    configuration.allowedOrigin = allowedOrigin
    configuration.trustedProxies = TrustedProxies(trustedProxies) ?? .none
  }

  /// A server without a database and without keys, for its defaults.
  private static var standard: KeyServerConfiguration {
    let nowhere = URL(fileURLWithPath: "/dev/null")
    return KeyServerConfiguration(
      port: 0, databaseFile: nowhere, exportFolder: nowhere, regions: [], appPackages: [],
      tokenIssuer: "", tokenAudience: "", tokenPublicKeysPEM: [:], exportSigners: [], region: "",
      deviceCheck: nil, remoteConfiguration: RemoteConfiguration(version: 1))
  }
}

extension KeyServerSettings {
  /// What the start says of devices, in one line: nobody is to believe that more is checked than is.
  var deviceVerificationNote: String {
    let platforms = deviceVerificationPlatforms.sorted().joined(separator: ", ").printable
    guard !platforms.isEmpty else {
      return "Uploads need no device verification payload: deviceVerificationPlatforms is empty."
    }
    guard let deviceCheck else {
      return
        "Uploads of \(platforms) need a device verification payload; its time and transactionId are"
        + " checked, the device token is not: deviceCheck is not set."
    }
    return
      "Uploads of \(platforms) need a device verification payload, whose device token is checked at"
      + " \(deviceCheck.baseURL.printable)."
  }
}
