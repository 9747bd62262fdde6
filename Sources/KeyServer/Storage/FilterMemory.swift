/// Asks a filter once for each kind of key: of hundreds of thousands nearly all have the same regions.
struct FilterMemory {
  private let filter: KeyFilter?
  private var latest: (regions: String, travels: Bool, isAdmitted: Bool)?

  init(_ filter: KeyFilter?) {
    self.filter = filter
  }

  /// Whether a key of these comma-separated regions goes in.
  mutating func admits(regions: String, travels: Bool) -> Bool {
    guard let filter else { return true }
    if let latest, latest.travels == travels, latest.regions == regions {
      return latest.isAdmitted
    }
    let isAdmitted = filter.admits(regions: regions.split(separator: ","), travels: travels)
    latest = (regions, travels, isAdmitted)
    return isAdmitted
  }
}
