/// Asks a filter once for each kind of key: of hundreds of thousands nearly all have the same regions.
struct FilterMemory {
  private let filter: KeyFilter?
  private var latest: (regions: [UInt8], travels: Bool, isAdmitted: Bool)?

  init(_ filter: KeyFilter?) {
    self.filter = filter
  }

  /// Whether the key of `row` goes in.
  mutating func admits(_ row: WindowRow) -> Bool {
    guard let filter else { return true }
    let (regions, travels) = (row.regions, row.travels)
    if let latest, latest.travels == travels, latest.regions.elementsEqual(regions) {
      return latest.isAdmitted
    }
    let text = String(decoding: regions, as: UTF8.self)
    let isAdmitted = filter.admits(regions: text.split(separator: ","), travels: travels)
    latest = (Array(regions), travels, isAdmitted)
    return isAdmitted
  }
}
