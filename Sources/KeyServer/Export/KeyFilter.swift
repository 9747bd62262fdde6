/// Whose keys go into an export.
///
/// The regions of a key and of the filter are compared as sets, however many there are of either:
/// an export of two regions holds no third one's keys.
struct KeyFilter: Hashable, Sendable {
  let inputRegions: Set<String>
  let excludedRegions: Set<String>
  let travellers: ExportConfiguration.Travellers

  /// Whether a key of these regions goes in; `travels` where its owner agreed to other countries.
  func admits(regions: some Collection<some StringProtocol>, travels: Bool) -> Bool {
    guard !regions.contains(where: { excludedRegions.contains(String($0)) }) else { return false }
    let isOfInput = regions.contains { inputRegions.contains(String($0)) }
    return switch travellers {
    case .likeEverybody: isOfInput
    case .only: isOfInput && travels
    case .excluded: isOfInput && !travels
    case .fromAnywhere: isOfInput || travels
    }
  }

  /// Whether `key` goes in.
  func admits(_ key: PublishableKey) -> Bool { admits(regions: key.regions, travels: key.travels) }
}
