/// How an export looks: whose keys, how often, how many to a file.
struct ExportShape: Sendable {
  let region: String
  let period: ExportPeriod
  let minimumKeys: Int
  let paddingRange: Int
  let maximumKeysPerFile: Int

  init(_ configuration: KeyServerConfiguration) {
    region = configuration.region
    period = ExportPeriod(seconds: configuration.exportPeriodSeconds)
    minimumKeys = configuration.minimumKeys
    paddingRange = configuration.paddingRange
    maximumKeysPerFile = configuration.maximumKeysPerFile
  }
}
