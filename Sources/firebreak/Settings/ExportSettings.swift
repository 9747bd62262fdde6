import KeyServer

/// One export beside the seed contract's. Names are those of `ExportConfiguration`; numbers that are left out are
/// those of the seed contract's export.
///
/// Documentation/Exports.md 1.
struct ExportSettings: Codable {
  var filenameRoot: String
  var region: String
  /// Nil for `region` alone.
  var inputRegions: [String]?
  var excludedRegions: [String] = []
  var travellers = ExportConfiguration.Travellers.likeEverybody.rawValue
  var periodSeconds: Int?
  var minimumKeys: Int?
  var paddingRange: Int?
  var maximumKeysPerFile: Int?

  init(filenameRoot: String, region: String) {
    self.filenameRoot = filenameRoot
    self.region = region
  }

  init(from decoder: any Decoder) throws {
    let fields = try SettingFields<CodingKeys>(decoder)
    filenameRoot = try fields.name(.filenameRoot)
    region = try fields.name(.region)
    try fields.read(.inputRegions, into: &inputRegions)
    try fields.read(.excludedRegions, intoNames: &excludedRegions)
    try fields.read(.travellers, into: &travellers, "needs one of \(Self.ways)") {
      ExportConfiguration.Travellers(rawValue: $0)?.rawValue
    }
    try fields.read(.periodSeconds, into: &periodSeconds)
    try fields.read(.minimumKeys, into: &minimumKeys)
    try fields.read(.paddingRange, into: &paddingRange)
    try fields.read(.maximumKeysPerFile, into: &maximumKeysPerFile)
  }

  private static var ways: String {
    ExportConfiguration.Travellers.allCases.map(\.rawValue).joined(separator: ", ")
  }

  /// With the server's own numbers where it says none.
  func filled(from server: KeyServerSettings) -> Self {
    var settings = self
    settings.inputRegions = inputRegions ?? [region]
    settings.periodSeconds = periodSeconds ?? server.exportPeriodSeconds
    settings.minimumKeys = minimumKeys ?? server.minimumKeys
    settings.paddingRange = paddingRange ?? server.paddingRange
    settings.maximumKeysPerFile = maximumKeysPerFile ?? server.maximumKeysPerFile
    return settings
  }

  /// The export as the key server takes it.
  var configuration: ExportConfiguration {
    var export = ExportConfiguration(
      filenameRoot: filenameRoot, region: region, inputRegions: inputRegions.map(Set.init))
    export.excludedRegions = Set(excludedRegions)
    export.travellers =
      ExportConfiguration.Travellers(rawValue: travellers) ?? export.travellers
    export.periodSeconds = periodSeconds ?? export.periodSeconds
    export.minimumKeys = minimumKeys ?? export.minimumKeys
    export.paddingRange = paddingRange ?? export.paddingRange
    export.maximumKeysPerFile = maximumKeysPerFile ?? export.maximumKeysPerFile
    return export
  }
}
